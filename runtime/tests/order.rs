//! The promise of order: what one actor sends to another is handled in that order, by whatever doors, and before the news
//! of its end; answers come in order with the replier's other messages. Checked on random programs.

#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports, reason = "some tests are native only"))]

mod common;

use std::time::Duration;

use common::wait_until;
use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Recipient, Terminated};
use footlights::mailbox::{Mailbox, OverflowStrategy};
use footlights::pattern::Reply;
use footlights::supervise::{Dialect, RestartType, SignalOrder};
use footlights::system::{ActorSystem, Builder};
use footlights::testkit::{Probe, on_each_dispatcher};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const LONG: Duration = Duration::from_secs(30);
/// What a listener says when it hears of the talker's end.
const GONE: u64 = u64::MAX;

struct Number(u64);

enum Heard {
    Number(u64),
    Question(u64, Reply<u64>),
    Gone(Terminated),
}

impl From<Number> for Heard {
    fn from(number: Number) -> Self {
        Heard::Number(number.0)
    }
}

/// Says what it hears; answers a question n with 2n, and tells 2n + 1 right after.
struct Listener {
    out: Recipient<u64>,
    talker: ActorRef<Talk>,
}

impl Actor for Listener {
    type Msg = Heard;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.watch(&self.talker.any(), Heard::Gone)?;
        self.talker.tell(Talk::Watched(cx.myself()));
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, heard: Heard) -> Result<(), Failure> {
        match heard {
            Heard::Number(n) => cx.tell(&self.out, n),
            Heard::Gone(news) if news.target == self.talker.any() => cx.tell(&self.out, GONE),
            Heard::Gone(news) => return Err(Failure::new("stranger", news.target.path())),
            Heard::Question(n, reply) => {
                cx.tell(&self.out, n);
                reply.send(2 * n);
                cx.tell(&self.talker, Talk::Told(2 * n + 1));
            }
        }
        if cx.rng().below(4) == 0 {
            cx.work(Duration::from_micros(7));
        }
        Ok(())
    }
}

enum Talk {
    Watched(ActorRef<Heard>),
    Go,
    Answered(u64),
    Told(u64),
    Refused,
}

/// Talks to all listeners by doors that chance chooses, then stops.
struct Talker {
    out: Recipient<u64>,
    listeners: Vec<ActorRef<Heard>>,
    awaited: usize,
    rounds: u32,
    next: u64,
}

impl Actor for Talker {
    type Msg = Talk;

    fn receive(&mut self, cx: &mut Context<'_, Self>, talk: Talk) -> Result<(), Failure> {
        match talk {
            Talk::Watched(listener) => {
                self.listeners.push(listener);
                if self.listeners.len() == self.awaited {
                    let me = cx.myself();
                    cx.tell(&me, Talk::Go);
                }
            }
            Talk::Go if self.rounds == 0 => cx.stop(),
            Talk::Go => {
                self.rounds -= 1;
                for _ in 0..=cx.rng().below(9) {
                    self.talk(cx);
                }
                let me = cx.myself();
                cx.tell(&me, Talk::Go);
            }
            Talk::Answered(n) | Talk::Told(n) => cx.tell(&self.out, n),
            Talk::Refused => {}
        }
        Ok(())
    }
}

impl Talker {
    fn talk(&mut self, cx: &mut Context<'_, Self>) {
        let to = self.listeners[cx.rng().below(self.listeners.len() as u64) as usize].clone();
        self.next += 1;
        let n = self.next;
        match cx.rng().below(8) {
            0 => cx.tell(&to, Heard::Number(n)),
            1 | 2 => cx.send(&to, Heard::Number(n)),
            3 => cx.tell(&to.adapt(Heard::Number), n),
            4 => cx.tell(&to.narrow::<Number>(), Number(n)),
            5 => cx.tell_or(&to, Heard::Number(n), |_| Talk::Refused),
            6 => {
                let make = move |reply| Heard::Question(n, reply);
                cx.ask(&to, make, LONG, |answer| answer.map_or(Talk::Refused, Talk::Answered));
            }
            _ => cx.work(Duration::from_micros(5)),
        }
    }
}

fn spawn_talk(system: &ActorSystem, mailbox: Mailbox, ears: &[Probe<u64>], answers: &Probe<u64>) {
    let (out, awaited) = (answers.recipient(), ears.len());
    let make = move || Talker { out: out.clone(), listeners: Vec::new(), awaited, rounds: 20, next: 0 };
    let talker = system.spawn("talker", Props::new(make)).expect("a free name");
    for (n, ear) in ears.iter().enumerate() {
        let (out, talker) = (ear.recipient(), talker.clone());
        let listener = Props::new(move || Listener { out: out.clone(), talker: talker.clone() });
        system.spawn(&format!("listener{n}"), listener.mailbox(mailbox)).expect("a free name");
    }
}

#[test]
fn m3_each_pair_keeps_its_order_by_every_door_and_to_the_end() {
    let small = |capacity, overflow| Mailbox::bounded(capacity, overflow);
    for mailbox in [
        Mailbox::budgeted(),
        Mailbox::unbounded(),
        small(1, OverflowStrategy::Backpressure),
        small(3, OverflowStrategy::Backpressure),
        small(2, OverflowStrategy::Timeout(Duration::from_micros(20))),
        small(2, OverflowStrategy::DropNew),
        small(2, OverflowStrategy::DropOldest),
    ] {
        on_each_dispatcher(|system| {
            let ears = [Probe::new(system, "one"), Probe::new(system, "two")];
            let answers = Probe::new(system, "answers");
            spawn_talk(system, mailbox, &ears, &answers);
            let mut heard = 0;
            for ear in &ears {
                let mut last = 0;
                loop {
                    let n = ear.expect(system);
                    assert!(n > last, "{n} after {last}, {mailbox:?}");
                    last = n;
                    if n == GONE {
                        break;
                    }
                    heard += 1;
                }
            }
            wait_until(system, "rest", || system.is_quiet());
            assert!(ears.iter().all(|ear| ear.take().is_empty()), "nothing comes after the end");
            assert!(heard >= 5, "{heard} numbers were heard");
            // Per listener the answers rise; here both are mixed, so each pair of 2n and 2n + 1 is looked at.
            let answers = answers.take();
            for (at, n) in answers.iter().enumerate().filter(|(_, n)| *n % 2 == 1) {
                let answer = answers.iter().position(|m| m + 1 == *n);
                assert!(answer.is_none_or(|answer| answer < at), "{n} came before the answer: {answers:?}");
            }
        });
    }
}

/// Interleavings that the order of notices is tried on, of each kind.
const INTERLEAVINGS: u64 = 200;

enum Bidding {
    Watch(ActorRef<Listening>),
    Speak,
}

/// How a speaker ends its speech.
#[derive(Clone, Copy, PartialEq)]
enum Farewell {
    Stop,
    /// Its supervisor stops it.
    Fail,
    Panic,
}

/// Tells each listener the numbers 1 to n, in pieces, and ends with the last one.
struct Speaker {
    listeners: Vec<ActorRef<Listening>>,
    said: u64,
    farewell: Farewell,
}

const NUMBERS: u64 = 12;

impl Actor for Speaker {
    type Msg = Bidding;

    fn receive(&mut self, cx: &mut Context<'_, Self>, bidding: Bidding) -> Result<(), Failure> {
        match bidding {
            Bidding::Watch(listener) => self.listeners.push(listener),
            Bidding::Speak => {
                for _ in 0..=cx.rng().below(3) {
                    self.said += 1;
                    for listener in &self.listeners {
                        cx.tell(listener, Listening::Number(self.said));
                    }
                }
                if self.said >= NUMBERS {
                    match self.farewell {
                        Farewell::Stop => cx.stop(),
                        Farewell::Fail => return Err(Failure::new("planned", "the end of a speech")),
                        Farewell::Panic => panic!("planned: the end of a speech"),
                    }
                    return Ok(());
                }
                let pause = Duration::from_micros(cx.rng().below(4));
                cx.work(pause);
                let me = cx.myself();
                cx.tell(&me, Bidding::Speak);
            }
        }
        Ok(())
    }
}

enum Listening {
    Number(u64),
    Gone,
}

/// Says what it hears, at its own pace.
struct Audience {
    pause_us_max: u64,
    out: Recipient<u64>,
    speaker: ActorRef<Bidding>,
}

impl Actor for Audience {
    type Msg = Listening;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.watch(&self.speaker.any(), |_| Listening::Gone)?;
        self.speaker.tell(Bidding::Watch(cx.myself()));
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, heard: Listening) -> Result<(), Failure> {
        let n = match heard {
            Listening::Number(n) => n,
            Listening::Gone => GONE,
        };
        cx.tell(&self.out, n);
        let pause = Duration::from_micros(cx.rng().below(self.pause_us_max + 1));
        cx.work(pause);
        Ok(())
    }
}

/// Lets two listeners hear a speech to its end; gives what each has heard.
fn hear(builder: Builder, seed: u64) -> [Vec<u64>; 2] {
    let system = builder.seed(seed).build().expect("good settings");
    let ears = [Probe::new(&system, "one"), Probe::new(&system, "two")];
    // Where a panic is the end of the process there are only two ways to go.
    let ways = if cfg!(panic = "unwind") { 3 } else { 2 };
    let farewell = [Farewell::Stop, Farewell::Fail, Farewell::Panic][seed as usize % ways];
    let make = move || Speaker { listeners: Vec::new(), said: 0, farewell };
    let props = Props::new(make).restart_type(RestartType::Temporary);
    let speaker = system.spawn("speaker", props).expect("a free name");
    for ear in &ears {
        let (out, speaker) = (ear.recipient(), speaker.clone());
        let pause_us_max = seed % 6;
        let make = move || Audience { pause_us_max, out: out.clone(), speaker: speaker.clone() };
        system.block_on(system.spawn_ready("", Props::new(make))).expect("it starts");
    }
    speaker.tell(Bidding::Speak);
    let heard = ears.map(|ear| {
        let mut heard = Vec::new();
        while !heard.contains(&GONE) || !is_whole(&heard) {
            heard.push(ear.expect(&system));
        }
        heard
    });
    system.shutdown(LONG).expect("it ends");
    assert!(system.snapshot().ledger.balanced());
    heard
}

/// Says whether all numbers of a speech are there, the last one being told by whoever heard most.
fn is_whole(heard: &[u64]) -> bool {
    let last = heard.iter().filter(|n| **n != GONE).max().copied().unwrap_or(0);
    last >= NUMBERS && heard.len() as u64 == last + 1
}

/// Counts the notices that came before something that the dead had told earlier; numbers are always in order.
fn overtakings(heard: &[Vec<u64>; 2]) -> usize {
    for numbers in heard {
        let numbers: Vec<_> = numbers.iter().filter(|n| **n != GONE).collect();
        assert!(numbers.is_sorted(), "{heard:?}");
    }
    heard.iter().filter(|heard| heard.last() != Some(&GONE)).count()
}

fn stepper() -> Builder {
    ActorSystem::builder("order").stepper().seeded_order()
}

#[test]
fn notices_keep_the_order_under_all_interleavings() {
    common::hush_planned_panics();
    for seed in 0..INTERLEAVINGS {
        for dialect in [Dialect::Footlights, Dialect::Otp] {
            let heard = hear(stepper().workers(1 + seed as usize % 4).dialect(dialect), seed);
            assert_eq!(overtakings(&heard), 0, "seed {seed}, {dialect}: {heard:?}");
        }
        #[cfg(not(target_family = "wasm"))]
        {
            let heard = hear(ActorSystem::builder("order").pool().workers(1 + seed as usize % 4), seed);
            assert_eq!(overtakings(&heard), 0, "pool, seed {seed}: {heard:?}");
        }
    }
}

#[test]
fn notices_overtake_messages_where_the_race_is_to_be_seen() {
    common::hush_planned_panics();
    let akka = |seed| overtakings(&hear(stepper().dialect(Dialect::Akka), seed));
    let switched = |seed| overtakings(&hear(stepper().signal_order(SignalOrder::Overtaking), seed));
    let in_order =
        |seed| overtakings(&hear(stepper().dialect(Dialect::Akka).signal_order(SignalOrder::InOrder), seed));
    let count = |overtakings: &dyn Fn(u64) -> usize| (0..INTERLEAVINGS).map(overtakings).sum::<usize>();
    let (akka, switched, in_order) = (count(&akka), count(&switched), count(&in_order));
    assert!(akka > 0 && switched > 0, "{akka} and {switched} notices have overtaken a message");
    assert!(akka < 2 * INTERLEAVINGS as usize, "it is a race: not all of them do");
    assert_eq!(in_order, 0, "what is named goes before the dialect");
}
