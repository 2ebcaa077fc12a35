//! The sending end of an edge: finds the receiver, counts the message, and sends it as the receiver's mailbox asks.
//!
//! I1 every message that leaves by an outlet is counted once on each edge that it takes, router included.
//! I2 an outlet looks again when a node got another actor; between such moments it keeps what it found.
//! I3 through a router the choice is the router's; only the sending is done here.

use std::sync::Arc;

use super::super::plan::Params;
use super::spec::overflow;
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
        if params.count("mailbox") == 0 {
            return Policy::Tell;
        }
        match overflow(params) {
            OverflowStrategy::Backpressure | OverflowStrategy::Timeout(_) => Policy::Send,
            OverflowStrategy::RejectToSender => Policy::TellOr,
            _ => Policy::Tell,
        }
    }
}

impl Policy {
    fn put<A: Actor<Msg = Msg>>(self, cx: &mut Context<'_, A>, to: &ActorRef<Msg>, task: Task) {
        match self {
            Policy::Tell => cx.tell(to, Msg::Task(task)),
            Policy::Send => cx.send(to, Msg::Task(task)),
            Policy::TellOr => cx.tell_or(to, Msg::Task(task), |_| Msg::Rejected),
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
    Routed(Routed),
}

/// A router, and how its routees are sent to.
struct Routed {
    /// The edge to the router; none from its own door.
    edge: Option<usize>,
    /// Its node.
    node: usize,
    router: RouterRef<Msg>,
    logic: Logic,
    /// The routees that are nodes, by their ids.
    hops: Vec<(ActorId, Hop)>,
    /// How those are sent to that the router has made itself.
    own: Policy,
}

impl Routed {
    fn send<A: Actor<Msg = Msg>>(&self, cx: &mut Context<'_, A>, board: &Board, task: Task) {
        self.count(board);
        let message = Msg::Task(task);
        match self.logic {
            Logic::Broadcast if self.waits() => self.copies(message).for_each(|(hop, task)| {
                hop.send(cx, board, task);
            }),
            Logic::Broadcast => {
                self.count_copies(board);
                cx.tell(&self.router, message);
            }
            Logic::Balancing => cx.tell(&self.router, self.stamped(message)),
            _ => match (self.router.choose_for(&message), message) {
                (Some(routee), Msg::Task(task)) => match find(&self.hops, routee.id()) {
                    Some(hop) => hop.send(cx, board, task),
                    None => self.own.put(cx, &routee, task),
                },
                // No routee is left: the router makes a dead letter of it.
                (_, message) => cx.tell(&self.router, message),
            },
        }
    }

    fn tell(&self, board: &Board, task: Task) {
        self.count(board);
        let message = Msg::Task(task);
        match self.logic {
            Logic::Broadcast => {
                self.count_copies(board);
                self.router.tell(message);
            }
            Logic::Balancing => self.router.tell(self.stamped(message)),
            _ => match (self.router.choose_for(&message), message) {
                (Some(routee), message) => {
                    find(&self.hops, routee.id()).into_iter().for_each(|hop| board.edges[hop.edge].add(1));
                    routee.tell(message);
                }
                (None, message) => self.router.tell(message),
            },
        }
    }

    fn count(&self, board: &Board) {
        self.edge.iter().for_each(|&edge| board.edges[edge].add(1));
    }

    /// Is true if a full mailbox of one of the routees has something to say to the sender.
    fn waits(&self) -> bool {
        self.living().any(|hop| hop.policy != Policy::Tell)
    }

    fn living(&self) -> impl Iterator<Item = &Hop> {
        self.hops.iter().map(|(_, hop)| hop).filter(|hop| !hop.actor.is_closed())
    }

    fn copies(&self, message: Msg) -> impl Iterator<Item = (&Hop, Task)> {
        let task = if let Msg::Task(task) = message { Some(task) } else { None };
        self.living().filter_map(move |hop| task.clone().map(|task| (hop, task)))
    }

    fn count_copies(&self, board: &Board) {
        self.living().for_each(|hop| board.edges[hop.edge].add(1));
    }

    /// Marks a message that whoever takes it shall count.
    fn stamped(&self, message: Msg) -> Msg {
        match message {
            Msg::Task(task) => Msg::Task(Task { via: Some(self.node), ..task }),
            other => other,
        }
    }
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
        match &self.way {
            Way::Nowhere => {}
            Way::Direct(hop) => hop.send(cx, &self.board, task),
            Way::Routed(routed) => routed.send(cx, &self.board, task),
        }
    }

    /// Sends a message from outside of any actor, as a sink of a stream does: never waits, a full mailbox decides.
    pub(crate) fn tell(&mut self, task: Task) {
        self.look();
        match &self.way {
            Way::Nowhere => {}
            Way::Direct(hop) => hop.tell(&self.board, task),
            Way::Routed(routed) => routed.tell(&self.board, task),
        }
    }

    /// Lists the actors that messages of this port can reach, directly or through routers that are asked for them.
    pub(crate) fn targets(&mut self) -> Vec<ActorRef<Msg>> {
        self.look();
        match &self.way {
            Way::Nowhere => Vec::new(),
            Way::Direct(hop) => {
                let door_of = self.board.owner(hop.actor.id()).and_then(|node| self.board.router(node));
                door_of.map_or_else(|| vec![hop.actor.clone()], |router| self.board.behind(&router))
            }
            Way::Routed(routed) => self.board.behind(&routed.router),
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
        if edge.is_some() && self.board.plan.asks(to) {
            return self.hop(edge?).map(Way::Direct);
        }
        match self.board.router(to) {
            Some(router) => {
                let hops = self.board.edges_to_routees(to).filter_map(|e| self.hop(e));
                let mut hops: Vec<_> = hops.map(|hop| (hop.actor.id(), hop)).collect();
                hops.sort_by_key(|(id, _)| *id);
                let (logic, own) = (router.logic(), Policy::of(&self.board.plan.nodes[to].params));
                Some(Way::Routed(Routed { edge, node: to, router, logic, hops, own }))
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
        self.policy.put(cx, &self.actor, task);
    }
}
