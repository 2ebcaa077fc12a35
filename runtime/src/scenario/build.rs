//! From a plan to a running system.
//!
//! Building has two steps: all actors are made, supervisors making their own children; then, when every node has its actor,
//! routers get their routees, streams start, and sources are told to begin. On a Stepper the first step takes turns of its
//! own, at time zero; [`Run::turn`] counts from after them.
//!
//! I1 a run starts whole or not at all.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::behaviours::{Board, Msg, Spawn, has_actor, spawn_node, spawn_router};
use super::meta::{EdgeMeta, NodeMeta};
use super::plan::Plan;
use super::streams::Stream;
use crate::actor::{Actor, ActorRef, Props, SpawnError};
use crate::id::ActorId;
use crate::system::{ActorSystem, BuildError, Builder, CostModel, DispatcherSettings};

/// Turns in which a Stepper must have made all actors.
const SETUP_TURNS_MAX: u64 = 1_000_000;

/// What drives a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// Virtual workers in virtual time, driven by the caller.
    Stepper,
    /// A thread per worker.
    Pool,
}

/// Says why a plan could not be started.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The system could not be built.
    System(BuildError),
    /// An actor could not be made.
    Spawn(SpawnError),
    /// A stream could not be built.
    Stream(crate::stream::RunError),
    /// The actors were not complete in time.
    Incomplete,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::System(error) => error.fmt(f),
            RunError::Spawn(error) => error.fmt(f),
            RunError::Stream(error) => error.fmt(f),
            RunError::Incomplete => f.write_str("not every node got its actor"),
        }
    }
}

impl std::error::Error for RunError {}

/// A scenario that runs.
///
/// # Examples
/// ```
/// use footlights::scenario::{On, Run, document::Scenario, validate};
/// let text = r#"{"version":1,"seed":7,"workers":2,"edges":[{"id":"e","from":"s.out","to":"c.in"}],
///     "nodes":[{"id":"s","kind":"source","params":{"count":5}},{"id":"c","kind":"collector"}]}"#;
/// let plan = validate(&Scenario::parse(text).unwrap()).unwrap();
/// let run = Run::start(plan, On::Stepper).unwrap();
/// assert!(run.system().run_until_quiet(1_000));
/// assert_eq!(run.passed(0), 5);
/// assert!(run.system().ledger().balanced());
/// ```
pub struct Run {
    pub(super) system: ActorSystem,
    pub(super) board: Arc<Board>,
    nodes: Vec<NodeMeta>,
    edges: Vec<EdgeMeta>,
    pub(super) streams: Vec<Stream>,
    /// Per node, its stream and its place there.
    pub(super) places: Vec<Option<(usize, usize)>>,
    first_turn: u64,
}

impl Spawn for &ActorSystem {
    fn spawn<A: Actor<Msg = Msg>>(
        &mut self,
        name: &str,
        props: Props<A>,
    ) -> Result<ActorRef<Msg>, SpawnError> {
        ActorSystem::spawn(self, name, props)
    }
}

impl Run {
    /// Builds the system of a plan and lets it begin; on a Stepper nothing has happened yet when this returns.
    ///
    /// # Errors
    /// If the machine refuses a thread, or an actor cannot be made.
    pub fn start(plan: Plan, on: On) -> Result<Run, RunError> {
        Run::start_with(plan, on, |builder| builder)
    }

    /// As [`Run::start`], with the last word on the system's settings.
    ///
    /// # Errors
    /// As [`Run::start`].
    pub fn start_with(
        plan: Plan,
        on: On,
        settings: impl FnOnce(Builder) -> Builder,
    ) -> Result<Run, RunError> {
        let builder =
            ActorSystem::builder("scenario").workers(plan.workers.into()).throughput(plan.throughput);
        let builder = match on {
            On::Stepper => builder.stepper(),
            On::Pool => builder.pool(),
        };
        let builder = with_settings(builder, &plan);
        let system = settings(builder.seed(plan.seed)).build().map_err(RunError::System)?;
        let actors = (0..plan.nodes.len()).filter(|&i| has_actor(&plan, i)).count();
        let (nodes, edges) = super::meta::of(&plan);
        let board = Board::new(plan, actors);
        let places = places(&board.plan);
        let mut run = Run { system, board, nodes, edges, streams: Vec::new(), places, first_turn: 0 };
        run.spawn().map_err(RunError::Spawn)?;
        run.wait_complete()?;
        run.spawn_routers().map_err(RunError::Spawn)?;
        run.first_turn = run.system.turns();
        run.start_streams()?;
        run.board.open();
        Ok(run)
    }

    fn spawn(&self) -> Result<(), SpawnError> {
        let roots = (0..self.board.plan.nodes.len()).filter(|&i| self.board.plan.nodes[i].parent.is_none());
        roots.into_iter().try_for_each(|i| spawn_node(&self.board, i, &mut &self.system))
    }

    fn wait_complete(&self) -> Result<(), RunError> {
        let is_complete = || {
            let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
            self.board.poll_complete(&mut cx).is_ready()
        };
        if !self.system.is_stepper() {
            self.system.block_on(std::future::poll_fn(|cx| self.board.poll_complete(cx)));
        }
        let mut turns = 0;
        while !is_complete() && turns < SETUP_TURNS_MAX && self.system.step().is_some() {
            turns += 1;
        }
        if is_complete() { Ok(()) } else { Err(RunError::Incomplete) }
    }

    fn spawn_routers(&self) -> Result<(), SpawnError> {
        for node in (0..self.board.plan.nodes.len()).filter(|&i| self.board.plan.is_router(i)) {
            spawn_router(&self.board, node, &self.system)?;
        }
        Ok(())
    }

    fn start_streams(&mut self) -> Result<(), RunError> {
        for index in 0..self.board.plan.streams.len() {
            let stream = Stream::start(&self.board, index, &self.system).map_err(RunError::Stream)?;
            for (island, actor) in stream.islands.iter().enumerate() {
                if let (Some(actor), Some(node)) = (actor, stream.head_of(island)) {
                    self.board.own(actor.id(), node);
                }
            }
            self.streams.push(stream);
        }
        Ok(())
    }

    /// Gives the system, to drive and to look at.
    pub fn system(&self) -> &ActorSystem {
        &self.system
    }

    /// Gives the plan as it was at the start.
    pub fn plan(&self) -> &Plan {
        &self.board.plan
    }

    /// Lists the nodes, in the order of the document.
    pub fn nodes(&self) -> &[NodeMeta] {
        &self.nodes
    }

    /// Lists the edges: those of the document, in its order, then those of replies.
    pub fn edges(&self) -> &[EdgeMeta] {
        &self.edges
    }

    /// Counts the turns since the run was built; 0 on a Pool.
    pub fn turn(&self) -> u64 {
        self.system.turns().saturating_sub(self.first_turn)
    }

    /// Gives the run's number of a turn that an event carries.
    pub fn turn_of_event(&self, turn: u64) -> u64 {
        turn.saturating_sub(self.first_turn)
    }

    /// Finds the node that an actor is, or was.
    pub fn node_of(&self, actor: ActorId) -> Option<usize> {
        self.board.owner(actor)
    }

    /// Gives the last part of the path of an actor that a pool has made and that still lives.
    pub fn name_of(&self, actor: ActorId) -> Option<String> {
        let node = self.board.owner(actor)?;
        let (_, actors) = self.board.all_actors(node);
        let found = actors.iter().find(|a| a.id() == actor)?;
        found.path().rsplit('/').next().map(str::to_owned)
    }

    /// Counts what has passed an edge.
    pub fn passed(&self, edge: usize) -> u64 {
        self.board.edges.get(edge).map_or(0, |e| e.passed())
    }
}

/// Sets up the system as the document says.
fn with_settings(builder: Builder, plan: &Plan) -> Builder {
    let settings = &plan.settings;
    let price = |key| Duration::from_nanos(settings.count(key));
    let costs = CostModel::free().activation(price("activation_ns")).message(price("message_ns"));
    let builder = builder.costs(costs.task(price("task_ns")));
    let builder = builder.throughput_deadline(settings.millis("deadline_ms"));
    let builder = if settings.flag("seeded_order") { builder.seeded_order() } else { builder };
    plan.dispatchers.iter().fold(builder, |builder, row| {
        let workers = usize::try_from(row.count("workers")).unwrap_or(1);
        let settings = match row.text("kind") {
            "pinned" => DispatcherSettings::pinned(),
            "blocking" => DispatcherSettings::blocking(workers),
            _ => DispatcherSettings::pool(workers),
        };
        let throughput = u32::try_from(row.count("throughput")).unwrap_or(u32::MAX);
        let settings = settings.throughput(throughput).throughput_deadline(row.millis("deadline_ms"));
        builder.dispatcher(row.text("name"), settings)
    })
}

fn places(plan: &Plan) -> Vec<Option<(usize, usize)>> {
    let mut places = vec![None; plan.nodes.len()];
    for (stream, part) in plan.streams.iter().enumerate() {
        part.nodes.iter().enumerate().for_each(|(at, &node)| places[node] = Some((stream, at)));
    }
    places
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Run({:?}, {} nodes, {:?})", self.board.plan.name, self.nodes.len(), self.system)
    }
}
