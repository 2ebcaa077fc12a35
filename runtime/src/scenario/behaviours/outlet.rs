//! The sending end of an edge: finds the receiver, counts the message, and sends it as the receiver's mailbox asks.
//!
//! I1 every message that leaves by an outlet is counted once on each edge that it takes, router included.
//! I2 an outlet looks again when a node got another actor; between such moments it keeps what it found.
//! I3 through a router the choice is the router's; only the sending is done here.

use std::sync::Arc;

use super::super::plan::Params;
use super::{Board, Msg, Task};
use crate::actor::{Actor, ActorRef, Context};
use crate::id::ActorId;
use crate::mailbox::OverflowStrategy;
use crate::routing::{Logic, RouterRef};

/// How a message is put into a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Never waits; the mailbox decides.
    Tell,
    /// Waits in the sender's outbox for room.
    Send,
    /// Comes back if there is no room.
    TellOr,
}

impl Policy {
    fn of(params: &Params) -> Self {
        let overflow = OverflowStrategy::from_name(params.text("overflow"));
        match overflow.filter(|_| params.count("mailbox") > 0) {
            Some(OverflowStrategy::Backpressure) => Policy::Send,
            Some(OverflowStrategy::RejectToSender) => Policy::TellOr,
            _ => Policy::Tell,
        }
    }
}

/// A receiver and the edge to it.
#[derive(Clone)]
struct Hop {
    edge: usize,
    actor: ActorRef<Msg>,
    policy: Policy,
}

enum Way {
    /// Not looked up, or not wired.
    Nowhere,
    Direct(Hop),
    Routed {
        /// The edge to the router; none from its own door.
        edge: Option<usize>,
        router: RouterRef<Msg>,
        logic: Logic,
        hops: Vec<(ActorId, Hop)>,
    },
}

/// Where an outlet begins.
#[derive(Clone, Copy)]
enum From {
    /// At the first edge of a port.
    Port(&'static str),
    /// At this edge.
    Edge(usize),
    /// At the door of a router, which leads into it.
    Door,
}

/// Sends the messages of one output port.
pub(crate) struct Outlet {
    board: Arc<Board>,
    node: usize,
    from: From,
    epoch: u64,
    way: Way,
}

impl Outlet {
    pub(crate) fn new(board: &Arc<Board>, node: usize, port: &'static str) -> Self {
        Outlet { board: board.clone(), node, from: From::Port(port), epoch: 0, way: Way::Nowhere }
    }

    /// Makes an outlet for one of several edges of a port.
    pub(crate) fn of_edge(board: &Arc<Board>, node: usize, edge: usize) -> Self {
        Outlet { board: board.clone(), node, from: From::Edge(edge), epoch: 0, way: Way::Nowhere }
    }

    /// Makes the outlet of a router's door, which leads into the router.
    pub(crate) fn into_router(board: &Arc<Board>, router: usize) -> Self {
        Outlet { board: board.clone(), node: router, from: From::Door, epoch: 0, way: Way::Nowhere }
    }

    /// Sends a message; where nothing is wired it is forgotten.
    pub(crate) fn send<A: Actor<Msg = Msg>>(&mut self, cx: &mut Context<'_, A>, task: Task) {
        self.look();
        let edges = &self.board.edges;
        match &self.way {
            Way::Nowhere => {}
            Way::Direct(hop) => hop.send(cx, &self.board, task),
            Way::Routed { edge, router, logic: Logic::Broadcast, hops } => {
                edge.iter().for_each(|&edge| edges[edge].add(1));
                for (_, hop) in hops.iter().filter(|(_, hop)| !hop.actor.is_closed()) {
                    hop.send(cx, &self.board, task.clone());
                }
                if hops.iter().all(|(_, hop)| hop.actor.is_closed()) {
                    cx.tell(router, Msg::Task(task));
                }
            }
            Way::Routed { edge, router, hops, .. } => {
                edge.iter().for_each(|&edge| edges[edge].add(1));
                let chosen = router.choose().and_then(|routee| find(hops, routee.id()));
                match chosen {
                    Some(hop) => hop.send(cx, &self.board, task),
                    // No routee is left: the router makes a dead letter of it.
                    None => cx.tell(router, Msg::Task(task)),
                }
            }
        }
    }

    /// Sends a message from outside of any actor, as a sink of a stream does: never waits, a full mailbox decides.
    pub(crate) fn tell(&mut self, task: Task) {
        self.look();
        let edges = &self.board.edges;
        match &self.way {
            Way::Nowhere => {}
            Way::Direct(hop) => hop.tell(&self.board, task),
            Way::Routed { edge, router, logic: Logic::Broadcast, hops } => {
                edge.iter().for_each(|&edge| edges[edge].add(1));
                hops.iter().for_each(|(_, hop)| hop.tell(&self.board, task.clone()));
                if hops.is_empty() {
                    router.tell(Msg::Task(task));
                }
            }
            Way::Routed { edge, router, hops, .. } => {
                edge.iter().for_each(|&edge| edges[edge].add(1));
                match router.choose().and_then(|routee| find(hops, routee.id())) {
                    Some(hop) => hop.tell(&self.board, task),
                    None => router.tell(Msg::Task(task)),
                }
            }
        }
    }

    /// Lists the actors that messages of this port can reach, directly or through routers that are asked for them.
    pub(crate) fn targets(&mut self) -> Vec<ActorRef<Msg>> {
        self.look();
        match &self.way {
            Way::Nowhere => Vec::new(),
            Way::Direct(hop) => vec![hop.actor.clone()],
            Way::Routed { router, .. } => self.board.behind(router),
        }
    }

    fn look(&mut self) {
        let epoch = self.board.epoch();
        if epoch != self.epoch {
            self.epoch = epoch;
            self.way = self.find_way().unwrap_or(Way::Nowhere);
        }
    }

    fn find_way(&self) -> Option<Way> {
        let edge = match self.from {
            From::Port(port) => Some(self.board.outgoing(self.node, port).next()?),
            From::Edge(edge) => Some(edge),
            From::Door => None,
        };
        let to = edge.map_or(self.node, |edge| self.board.plan.edges[edge].to.0);
        match self.board.router(to) {
            Some(router) => {
                let hops = self.board.outgoing(to, "out").filter_map(|e| self.hop(e));
                let mut hops: Vec<_> = hops.map(|hop| (hop.actor.id(), hop)).collect();
                hops.sort_by_key(|(id, _)| *id);
                Some(Way::Routed { edge, router: router.clone(), logic: router.logic(), hops })
            }
            None => self.hop(edge?).map(Way::Direct),
        }
    }

    fn hop(&self, edge: usize) -> Option<Hop> {
        let node = self.board.plan.edges[edge].to.0;
        let policy = Policy::of(&self.board.plan.nodes[node].params);
        self.board.actor(node).map(|actor| Hop { edge, actor, policy })
    }
}

fn find(hops: &[(ActorId, Hop)], id: ActorId) -> Option<&Hop> {
    hops.binary_search_by_key(&id, |(actor, _)| *actor).ok().map(|at| &hops[at].1)
}

impl Hop {
    fn tell(&self, board: &Board, task: Task) {
        board.edges[self.edge].add(1);
        self.actor.tell(Msg::Task(task));
    }

    fn send<A: Actor<Msg = Msg>>(&self, cx: &mut Context<'_, A>, board: &Board, task: Task) {
        board.edges[self.edge].add(1);
        match self.policy {
            Policy::Tell => cx.tell(&self.actor, Msg::Task(task)),
            Policy::Send => cx.send(&self.actor, Msg::Task(task)),
            Policy::TellOr => cx.tell_or(&self.actor, Msg::Task(task), |_| Msg::Rejected),
        }
    }
}
