//! Islands become actors: one actor per island, under `/system`.
//!
//! An island's actor gets its island with its first message, then turns with events. It is never restarted: if its code
//! panics, it stops, and the stream fails with [`StreamError::Panic`]. It ends when its island has ended, after what is queued then.
//!
//! I1 turns of one island never overlap in virtual time, whoever wakes it: an actor has its next turn when its work is over.
//! I2 timers and requests die with the actor.
//! I3 a stream whose system stops ends with an error at once ([`StreamError::Abrupt`]).

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::task::{Wake, Waker};
use std::time::Duration;

use super::blueprint::Built;
use super::done::Done;
use super::dsl::{Closed, Plan, SinkPlan};
use super::graph::{Graph, GraphBuilder, GraphError};
use super::handle::StreamHandle;
use super::host::{Effort, Event, Host, Request, RequestKey, TimerKey};
use super::interpreter::{Chain, DrawError, Drawing, Results};
use super::island::{Island, IslandState};
use super::local::TURN_BUDGET;
use super::shared::{Control, Shared};
use super::signal::StreamError;
use super::value::Value;
use crate::actor::cell::{Cell, Item};
use crate::actor::failure::catch;
use crate::actor::{Actor, ActorRef, Context, Failure, Key, Props, SpawnError};
use crate::id::StreamId;
use crate::pattern::TaskContext;
use crate::supervise::RestartType;
use crate::system::ActorSystem;
use crate::time::Instant;

/// How a stream is run.
///
/// # Examples
/// ```
/// use footlights::stream::RunOptions;
/// let options = RunOptions::default().name("numbers").batch(1);
/// assert_eq!(options.batch, 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// The islands' names are this, `-` and a number; empty for generated names.
    pub name: String,
    /// Seeds the stream's random choices, together with the system's seed.
    pub seed: u64,
    /// Elements per turn of an island; 1 shows each step.
    pub batch: usize,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions { name: String::new(), seed: 0, batch: TURN_BUDGET }
    }
}

impl RunOptions {
    /// Names the islands' actors.
    pub fn name(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// Seeds the stream's random choices.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the elements per turn; 0 counts as 1.
    pub fn batch(mut self, batch: usize) -> Self {
        self.batch = batch.max(1);
        self
    }
}

/// A stream was not started; nothing of it is running.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The drawing is wrong: all errors.
    Drawing(Vec<DrawError>),
    /// The graph is wrong: all errors.
    Graph(Vec<GraphError>),
    /// The system refused an actor.
    Spawn(SpawnError),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<E: fmt::Display>(errors: &[E], f: &mut fmt::Formatter<'_>) -> fmt::Result {
            for (i, e) in errors.iter().enumerate() {
                write!(f, "{}{e}", if i == 0 { "" } else { "; " })?;
            }
            Ok(())
        }
        match self {
            RunError::Drawing(errors) => list(errors, f),
            RunError::Graph(errors) => list(errors, f),
            RunError::Spawn(e) => write!(f, "{e}"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<SpawnError> for RunError {
    fn from(e: SpawnError) -> Self {
        RunError::Spawn(e)
    }
}

impl<P: Plan, S: SinkPlan<In = P::Out>> Closed<P, S> {
    /// Runs the stream on a system.
    ///
    /// # Errors
    /// If the system is stopping.
    ///
    /// # Examples
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// use footlights::system::ActorSystem;
    /// let system = ActorSystem::builder("demo").stepper().build()?;
    /// let stream = Source::range(0..1000).async_boundary().to(Sink::fold(0, |sum, n| sum + n));
    /// let (done, _handle) = stream.run(&system)?;
    /// assert_eq!(system.block_on(done), Ok(499_500));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(&self, system: &ActorSystem) -> Result<(S::Mat, StreamHandle), RunError> {
        self.run_with(system, &RunOptions::default())
    }

    /// Runs the stream on a system, with options.
    ///
    /// # Errors
    /// If a name is taken, or the system is stopping.
    pub fn run_with(
        &self,
        system: &ActorSystem,
        options: &RunOptions,
    ) -> Result<(S::Mat, StreamHandle), RunError> {
        let (built, mat) = self.build(system.seed() ^ options.seed);
        Ok((mat, start(built, system, options)?))
    }
}

impl Chain {
    /// Runs the stream on a system.
    ///
    /// # Errors
    /// If the chain is wrong, a name is taken, or the system is stopping.
    pub fn run_with(
        &self,
        system: &ActorSystem,
        options: &RunOptions,
    ) -> Result<(Done<Value>, StreamHandle), RunError> {
        let (built, done) = self.build(system.seed() ^ options.seed).map_err(RunError::Drawing)?;
        Ok((done, start(built, system, options)?))
    }
}

impl<M, F: Fn(&mut GraphBuilder) -> M> Graph<F> {
    /// Runs the stream on a system.
    ///
    /// # Errors
    /// If the graph is wrong, or the system is stopping.
    pub fn run(&self, system: &ActorSystem) -> Result<(M, StreamHandle), RunError> {
        self.run_with(system, &RunOptions::default())
    }

    /// Runs the stream on a system, with options.
    ///
    /// # Errors
    /// If the graph is wrong, a name is taken, or the system is stopping.
    pub fn run_with(
        &self,
        system: &ActorSystem,
        options: &RunOptions,
    ) -> Result<(M, StreamHandle), RunError> {
        let (built, mat) = self.build(system.seed() ^ options.seed).map_err(RunError::Graph)?;
        Ok((mat, start(built, system, options)?))
    }
}

impl Drawing {
    /// Runs the stream on a system.
    ///
    /// # Errors
    /// If the drawing is wrong, a name is taken, or the system is stopping.
    pub fn run_with(
        &self,
        system: &ActorSystem,
        options: &RunOptions,
    ) -> Result<(Results, StreamHandle), RunError> {
        let (built, results) = self.build(system.seed() ^ options.seed).map_err(RunError::Drawing)?;
        Ok((results, start(built, system, options)?))
    }
}

/// The actors of one stream's islands.
#[derive(Default)]
struct Links(OnceLock<Vec<ActorRef<Turn>>>);

impl Links {
    fn get(&self, island: usize) -> Option<&ActorRef<Turn>> {
        self.0.get().and_then(|islands| islands.get(island))
    }
}

fn start(built: Built, system: &ActorSystem, options: &RunOptions) -> Result<StreamHandle, RunError> {
    let mut actors = Vec::new();
    for i in 0..built.islands.len() {
        let name = if options.name.is_empty() { String::new() } else { format!("{}-{i}", options.name) };
        let props = Props::new(IslandActor::default).restart_type(RestartType::Temporary);
        match system.spawn_system(&name, props) {
            Ok(actor) => actors.push(actor),
            Err(e) => {
                actors.iter().for_each(ActorRef::stop);
                return Err(e.into());
            }
        }
    }
    let id = StreamId(actors.first().map_or(0, |actor| actor.id().0));
    let handle = StreamHandle::new(id, &built);
    let links = Arc::new(Links::default());
    let _ = links.0.set(actors.clone());
    let bell = links.clone();
    built.shared.set_bell(Arc::new(move |island| {
        if let Some(actor) = bell.get(island) {
            actor.tell(Turn::Run);
        }
    }));
    for (index, (actor, island)) in actors.iter().zip(built.islands).enumerate() {
        let (links, shared) = (links.clone(), built.shared.clone());
        let batch = options.batch.max(1);
        actor.tell(Turn::Begin(Box::new(Begin { index, island, links, shared, batch })));
    }
    Ok(handle)
}

/// What an island's actor is told.
enum Turn {
    Begin(Box<Begin>),
    Run,
    /// As `Run`, from itself.
    Again,
    Event(Event),
}

struct Begin {
    index: usize,
    island: Box<dyn Island>,
    links: Arc<Links>,
    shared: Arc<Shared>,
    batch: usize,
}

#[derive(Default)]
struct IslandActor {
    begun: Option<Begin>,
    events: VecDeque<Event>,
    /// `Again` is under way.
    again: bool,
    ended: bool,
}

impl Actor for IslandActor {
    type Msg = Turn;

    fn receive(&mut self, cx: &mut Context<'_, Self>, turn: Turn) -> Result<(), Failure> {
        match turn {
            Turn::Begin(begin) => self.begun = Some(*begin),
            Turn::Run => {}
            Turn::Again => self.again = false,
            Turn::Event(event) => self.events.push_back(event),
        }
        if self.ended { Ok(()) } else { self.turn(cx) }
    }

    fn stopped(&mut self, _cx: &mut Context<'_, Self>) {
        if let (Some(begun), false) = (&self.begun, self.ended) {
            let why = StreamError::Killed("an island ended before its stream".into());
            begun.shared.leave(begun.index, Control::Abort(why));
        }
    }
}

impl IslandActor {
    fn turn(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let Some(begun) = &mut self.begun else { return Ok(()) };
        let event = self.events.pop_front();
        let mut host = ActorHost { cx, links: &begun.links };
        let state = match catch(|| Ok(begun.island.run(event, &mut host, begun.batch))) {
            Ok(state) => state,
            Err(panic) => {
                self.ended = true;
                // A stage that panics once more on its way out has told its error already.
                let _ = catch(|| {
                    begun.island.fail(panic.text(), &mut host);
                    Ok(())
                });
                return Err(panic);
            }
        };
        match state {
            IslandState::Ended => {
                self.ended = true;
                cx.myself().drain();
            }
            IslandState::Ready => self.run_again(cx),
            _ if !self.events.is_empty() => self.run_again(cx),
            _ => {}
        }
        Ok(())
    }

    fn run_again(&mut self, cx: &mut Context<'_, Self>) {
        if !std::mem::replace(&mut self.again, true) {
            let me = cx.myself();
            cx.tell(&me, Turn::Again);
        }
    }
}

/// An island's view of its actor's context.
struct ActorHost<'a, 'b> {
    cx: &'a mut Context<'b, IslandActor>,
    links: &'a Links,
}

impl Effort for ActorHost<'_, '_> {
    fn now(&self) -> Instant {
        self.cx.now()
    }
    fn work(&mut self, d: Duration) {
        self.cx.work(d);
    }
    fn block(&mut self, d: Duration) {
        self.cx.block(d);
    }
}

impl Effort for TaskContext {
    fn now(&self) -> Instant {
        TaskContext::now(self)
    }
    fn work(&mut self, d: Duration) {
        TaskContext::work(self, d);
    }
    fn block(&mut self, d: Duration) {
        TaskContext::block(self, d);
    }
}

/// Requests that are under way have numbers that differ in these bits.
const NUMBER_BITS: u32 = 40;

fn timer_key(key: TimerKey) -> Key {
    Key::Number((u64::from(key.stage.0) << 32) | u64::from(key.key))
}

fn request_key(key: RequestKey) -> Key {
    let number = key.number & ((1 << NUMBER_BITS) - 1);
    Key::Number((1 << 63) | (u64::from(key.stage.0) << NUMBER_BITS) | number)
}

/// Wakes an island that polls a future; one that has ended is told nothing.
struct Woken {
    cell: Arc<Cell<Turn>>,
    incarnation: u32,
    key: RequestKey,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        let event = Turn::Event(Event::Done(self.key));
        let _ = self.cell.send_own(Item::Answer(self.incarnation, event), None);
    }
}

impl Host for ActorHost<'_, '_> {
    fn set_timer(&mut self, key: TimerKey, after: Duration) {
        self.cx.timers().once(timer_key(key), after, Turn::Event(Event::Timer(key)));
    }

    fn cancel_timer(&mut self, key: TimerKey) {
        self.cx.timers().cancel(timer_key(key));
    }

    fn request(&mut self, key: RequestKey, request: Request) {
        let done = Turn::Event(Event::Done(key));
        match request {
            Request::After(d) => self.cx.timers().once(request_key(key), d, done),
            Request::Task(task) => {
                self.cx.spawn_task(move |cx| task(cx), move |_| done);
            }
        }
    }

    fn waker(&mut self, key: RequestKey) -> Waker {
        Arc::new(Woken { cell: self.cx.cell.clone(), incarnation: self.cx.incarnation(), key }).into()
    }

    fn wake(&mut self, island: usize) {
        if let Some(actor) = self.links.get(island) {
            self.cx.tell(actor, Turn::Run);
        }
    }
}
