//! W1 pingpong-pairs: many pairs play at once, each with K balls in the air.
//!
//! A ball is one message, there and back is two. Every ball carries its serial number; the other side returns it plus one,
//! and the sums of all numbers are checked.

use std::sync::mpsc::{Sender, channel};

use footlights::actor::{Actor, ActorRef, Context, Failure, Props};
use footlights::system::ActorSystem;

use super::actors::{check, outcome, system, timed};
use super::{Outcome, Param, Setup, Workload, Wrong};

pub(super) const WORKLOAD: Workload = Workload {
    id: "W1",
    name: "pingpong-pairs",
    about: "pairs of actors play ping-pong, each with K balls in the air",
    unit: "messages",
    n: 10_000_000,
    params: &[
        Param { name: "K", default: 100, range: 1..=1_000_000, about: "balls in the air in each pair" },
        Param { name: "pairs", default: 48, range: 1..=1_000_000, about: "pairs of actors" },
    ],
    run,
};

/// What the player that serves understands.
pub(super) enum ToServer {
    /// Begin.
    Serve,
    /// A ball comes back.
    Ball(u64),
}

/// The player that serves, counts and ends the game.
struct Server {
    partner: Option<ActorRef<u64>>,
    in_flight: u64,
    left_to_serve: u64,
    left_to_return: u64,
    sum: u64,
    result: Sender<[u64; 1]>,
}

impl Server {
    fn serve(&mut self, cx: &mut Context<'_, Self>) {
        if let Some(partner) = &self.partner
            && self.left_to_serve > 0
        {
            self.left_to_serve -= 1;
            cx.tell(partner, self.left_to_serve);
        }
    }
}

impl Actor for Server {
    type Msg = ToServer;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let me = cx.myself();
        self.partner = Some(cx.spawn("partner", Props::new(move || Partner { server: me.clone() }))?);
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: ToServer) -> Result<(), Failure> {
        match message {
            ToServer::Serve => (0..self.in_flight.min(self.left_to_serve)).for_each(|_| self.serve(cx)),
            ToServer::Ball(number) => {
                self.sum = self.sum.wrapping_add(number);
                self.left_to_return -= 1;
                self.serve(cx);
                if self.left_to_return == 0 {
                    self.result.send([self.sum])?;
                }
            }
        }
        Ok(())
    }
}

/// The player that returns every ball.
struct Partner {
    server: ActorRef<ToServer>,
}

impl Actor for Partner {
    type Msg = u64;

    fn receive(&mut self, cx: &mut Context<'_, Self>, number: u64) -> Result<(), Failure> {
        cx.tell(&self.server, ToServer::Ball(number.wrapping_add(1)));
        Ok(())
    }
}

fn run(setup: &Setup) -> Result<Outcome, Wrong> {
    let (in_flight, pairs) = (setup.params[0], setup.params[1]);
    // An even number of messages in each pair, and at least one round trip.
    let trips = setup.n.div_ceil(2).div_ceil(pairs);
    let played = play(setup, pairs, trips, in_flight)?;
    Ok(Outcome { n: played.n * 2, ..played })
}

/// Plays `trips` round trips in each of `pairs` pairs; counts round trips.
pub(super) fn play(setup: &Setup, pairs: u64, trips: u64, in_flight: u64) -> Result<Outcome, Wrong> {
    let system = system(setup)?;
    let (result, results) = channel();
    let servers = (0..pairs).map(|index| {
        let result = result.clone();
        spawn(&system, index, trips, in_flight, result)
    });
    let servers: Vec<_> = servers.collect::<Result<_, _>>()?;
    drop(result);
    let serve = || servers.iter().for_each(|server| server.tell(ToServer::Serve));
    let (sums, took) = timed(&system, serve, &results, pairs)?;
    check(&system, pairs * (2 * trips + 1))?;
    // 1 + 2 + … + trips in each pair
    let expected = u128::from(pairs) * u128::from(trips) * (u128::from(trips) + 1) / 2;
    outcome("the sum of all balls", expected as u64, sums[0], pairs * trips, took)
}

fn spawn(
    system: &ActorSystem,
    index: u64,
    trips: u64,
    in_flight: u64,
    result: Sender<[u64; 1]>,
) -> Result<ActorRef<ToServer>, Wrong> {
    let props = Props::new(move || Server {
        partner: None,
        in_flight,
        left_to_serve: trips,
        left_to_return: trips,
        sum: 0,
        result: result.clone(),
    });
    system.spawn(&format!("pair-{index}"), props).map_err(Wrong::of)
}
