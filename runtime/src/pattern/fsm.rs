//! A state machine as an actor: what is done with a message is said per state.
//!
//! [`Fsm`] is the plan, written once; [`Fsm::props`] makes actors of it, [`Machine`], each with data of its own. A rule gets
//! the data, the message and a [`Step`], and says whether the machine stays or goes:
//!
//! ```text
//!   goto(s), also to the present state:   on_exit(from) ▸ on_transition(from, to) ▸ on_enter(to) ▸ timeout of the state armed
//!   a change of state besides:            what was postponed is read before the mailbox
//! ```
//! I1 a state timeout ends with the state, an event timeout with any message, a named timer with neither.
//! I2 at most one rule runs at a time, and a transition is done after its rule: no rule sees a half-done one.
//! I3 a restart makes new data and begins in the first state.
//! Postponing is stashing: machines have one stash for both, and its bound. The two timeouts are timers of the actor, whose
//! names begin with `fsm: `; a named timer of the same name would take their place.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use crate::actor::{Actor, Context, Failure, Key, Props};

const STATE_TIMEOUT: Key = Key::Name("fsm: state timeout");
const EVENT_TIMEOUT: Key = Key::Name("fsm: event timeout");

/// What can name the states of a machine: any small value that can be compared and printed.
pub trait FsmState: Copy + PartialEq + fmt::Debug + Send + Sync + 'static {}

impl<S: Copy + PartialEq + fmt::Debug + Send + Sync + 'static> FsmState for S {}

/// What a rule says: where the machine is to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Next<S> {
    /// Nowhere: no hook runs, all timeouts go on.
    Stay,
    /// Into this state, even if it is the present one.
    Goto(S),
}

type Rule<S, D, M> =
    Box<dyn Fn(&mut D, M, &mut Step<'_, '_, S, D, M>) -> Result<Next<S>, Failure> + Send + Sync>;
type Hook<S, D, M> = Box<dyn Fn(&mut D, &mut Step<'_, '_, S, D, M>) -> Result<(), Failure> + Send + Sync>;
type Between<S, D, M> =
    Box<dyn Fn(S, S, &mut D, &mut Step<'_, '_, S, D, M>) -> Result<(), Failure> + Send + Sync>;

/// What is said of one state.
struct State<S: FsmState, D: Send + 'static, M: Send + 'static> {
    state: S,
    name: Arc<str>,
    rule: Option<Rule<S, D, M>>,
    on_enter: Option<Hook<S, D, M>>,
    on_exit: Option<Hook<S, D, M>>,
    timeout: Option<(Duration, Box<dyn Fn() -> M + Send + Sync>)>,
}

/// The plan of a state machine with states `S`, data `D` and messages `M`.
///
/// # Examples
/// A door that opens to a code, and shuts again after 5 s.
/// ```
/// use footlights::pattern::Fsm;
/// use footlights::system::ActorSystem;
/// use footlights::time::Instant;
/// use std::time::Duration;
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Door { Locked, Open }
/// enum Msg { Digit(u8), Enter(&'static str), TooSlow, Shut }
///
/// let seconds = Duration::from_secs;
/// let door = Fsm::new(Door::Locked, Vec::new)
///     .when(Door::Locked, move |typed: &mut Vec<u8>, msg, step| match msg {
///         Msg::Digit(digit) => {
///             typed.push(digit);
///             if typed.ends_with(&[4, 2]) {
///                 return step.goto(Door::Open);
///             }
///             step.event_timeout(seconds(3), Msg::TooSlow); // no longer counts once another message comes
///             step.stay()
///         }
///         Msg::TooSlow => { typed.clear(); step.stay() }
///         msg @ Msg::Enter(_) => step.postpone(msg), // waits outside
///         Msg::Shut => step.stay(),
///     })
///     .on_exit(Door::Locked, |typed, _| { typed.clear(); Ok(()) })
///     .state_timeout(Door::Open, seconds(5), || Msg::Shut)
///     .when(Door::Open, |_, msg, step| match msg {
///         Msg::Shut => step.goto(Door::Locked),
///         _ => step.stay(),
///     });
///
/// let system = ActorSystem::builder("house").stepper().build()?;
/// let door = system.spawn("door", door.props())?;
/// let shown = || system.snapshot().actors.into_iter().find_map(|actor| actor.doing);
/// [Msg::Enter("Ada"), Msg::Digit(4), Msg::Digit(2)].into_iter().for_each(|msg| door.tell(msg));
/// system.run_until(Instant::ZERO + seconds(1));
/// assert_eq!((shown().as_deref(), system.ledger().stashed), (Some("Open"), 0));
/// system.run_until(Instant::ZERO + seconds(6));
/// assert_eq!(shown().as_deref(), Some("Locked"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Fsm<S: FsmState, D: Send + 'static, M: Send + 'static> {
    first: S,
    data: Box<dyn Fn() -> D + Send + Sync>,
    states: Vec<State<S, D, M>>,
    on_transition: Option<Between<S, D, M>>,
    otherwise: Option<Rule<S, D, M>>,
}

impl<S: FsmState, D: Send + 'static, M: Send + 'static> Fsm<S, D, M> {
    /// Makes the plan of a machine that begins in `first` with what `data` makes.
    pub fn new(first: S, data: impl Fn() -> D + Send + Sync + 'static) -> Self {
        Fsm { first, data: Box::new(data), states: Vec::new(), on_transition: None, otherwise: None }
    }

    /// Handles messages by `rule` while the machine is in `state`.
    pub fn when(
        mut self,
        state: S,
        rule: impl Fn(&mut D, M, &mut Step<'_, '_, S, D, M>) -> Result<Next<S>, Failure> + Send + Sync + 'static,
    ) -> Self {
        self.state(state).rule = Some(Box::new(rule));
        self
    }

    /// Handles messages by `rule` in all states for which [`Fsm::when`] says nothing. Without it a message there is a
    /// failure with the code `no_rule`.
    pub fn otherwise(
        mut self,
        rule: impl Fn(&mut D, M, &mut Step<'_, '_, S, D, M>) -> Result<Next<S>, Failure> + Send + Sync + 'static,
    ) -> Self {
        self.otherwise = Some(Box::new(rule));
        self
    }

    /// Calls `hook` whenever the machine has come into `state`, at its start too.
    pub fn on_enter(
        mut self,
        state: S,
        hook: impl Fn(&mut D, &mut Step<'_, '_, S, D, M>) -> Result<(), Failure> + Send + Sync + 'static,
    ) -> Self {
        self.state(state).on_enter = Some(Box::new(hook));
        self
    }

    /// Calls `hook` whenever the machine is about to leave `state`.
    pub fn on_exit(
        mut self,
        state: S,
        hook: impl Fn(&mut D, &mut Step<'_, '_, S, D, M>) -> Result<(), Failure> + Send + Sync + 'static,
    ) -> Self {
        self.state(state).on_exit = Some(Box::new(hook));
        self
    }

    /// Calls `hook` with the old and the new state between the exit from one and the entry into the other.
    pub fn on_transition(
        mut self,
        hook: impl Fn(S, S, &mut D, &mut Step<'_, '_, S, D, M>) -> Result<(), Failure> + Send + Sync + 'static,
    ) -> Self {
        self.on_transition = Some(Box::new(hook));
        self
    }

    /// Sends the machine a message when it has been in `state` for `after`; each entry begins anew.
    pub fn state_timeout(
        mut self,
        state: S,
        after: Duration,
        make: impl Fn() -> M + Send + Sync + 'static,
    ) -> Self {
        self.state(state).timeout = Some((after, Box::new(make)));
        self
    }

    /// Shows `state` under this name, in place of its `Debug` text.
    pub fn named(mut self, state: S, name: &str) -> Self {
        self.state(state).name = name.into();
        self
    }

    /// Makes actors by this plan.
    pub fn props(self) -> Props<Machine<S, D, M>> {
        let plan = Arc::new(self);
        Props::new(move || Machine { state: plan.first, data: (plan.data)(), plan: plan.clone() })
    }

    fn state(&mut self, state: S) -> &mut State<S, D, M> {
        let at = self.states.iter().position(|known| known.state == state).unwrap_or_else(|| {
            let name = name_of(state);
            let (rule, on_enter, on_exit, timeout) = (None, None, None, None);
            self.states.push(State { state, name, rule, on_enter, on_exit, timeout });
            self.states.len() - 1
        });
        &mut self.states[at]
    }

    fn find(&self, state: S) -> Option<&State<S, D, M>> {
        self.states.iter().find(|known| known.state == state)
    }

    fn name(&self, state: S) -> Arc<str> {
        self.find(state).map_or_else(|| name_of(state), |known| known.name.clone())
    }
}

fn name_of(state: impl fmt::Debug) -> Arc<str> {
    format!("{state:?}").into()
}

impl<S: FsmState, D: Send + 'static, M: Send + 'static> fmt::Debug for Fsm<S, D, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let states: Vec<&S> = self.states.iter().map(|state| &state.state).collect();
        f.debug_struct("Fsm").field("first", &self.first).field("states", &states).finish_non_exhaustive()
    }
}

/// An actor that runs by a plan; made by [`Fsm::props`].
pub struct Machine<S: FsmState, D: Send + 'static, M: Send + 'static> {
    plan: Arc<Fsm<S, D, M>>,
    state: S,
    data: D,
}

impl<S: FsmState, D: Send + 'static, M: Send + 'static> fmt::Debug for Machine<S, D, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Machine({:?})", self.state)
    }
}

/// What a rule or hook of a machine may do: all that a [`Context`] can, and what only a machine can.
pub struct Step<'a, 'c, S: FsmState, D: Send + 'static, M: Send + 'static> {
    cx: &'a mut Context<'c, Machine<S, D, M>>,
    state: S,
}

impl<S: FsmState, D: Send + 'static, M: Send + 'static> Step<'_, '_, S, D, M> {
    /// Gives the present state; in a hook, the one that the hook is about.
    pub fn state(&self) -> S {
        self.state
    }

    /// Says that the machine goes into `state`, also if it is in that state now.
    ///
    /// # Errors
    /// Never; it is what a rule returns.
    pub fn goto(&self, state: S) -> Result<Next<S>, Failure> {
        Ok(Next::Goto(state))
    }

    /// Says that the machine stays where it is.
    ///
    /// # Errors
    /// Never; it is what a rule returns.
    pub fn stay(&self) -> Result<Next<S>, Failure> {
        Ok(Next::Stay)
    }

    /// Puts the message aside until the state changes, and stays.
    ///
    /// # Errors
    /// If the stash is full: a failure of kind StashFull.
    pub fn postpone(&mut self, message: M) -> Result<Next<S>, Failure> {
        self.cx.stash(message)?;
        self.stay()
    }

    /// Sends the machine `message` after `after`, unless the state ends before; replaces the state's own timeout. To be
    /// called from a rule or `on_enter`.
    pub fn state_timeout(&mut self, after: Duration, message: M) {
        self.cx.timers().once(STATE_TIMEOUT, after, message);
    }

    /// Sends the machine `message` after `after`, unless any other message comes before.
    pub fn event_timeout(&mut self, after: Duration, message: M) {
        self.cx.timers().once(EVENT_TIMEOUT, after, message);
    }
}

impl<S: FsmState, D: Send + 'static, M: Send + 'static> fmt::Debug for Step<'_, '_, S, D, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Step({:?}, {:?})", self.state, self.cx)
    }
}

impl<'c, S: FsmState, D: Send + 'static, M: Send + 'static> Deref for Step<'_, 'c, S, D, M> {
    type Target = Context<'c, Machine<S, D, M>>;

    fn deref(&self) -> &Self::Target {
        self.cx
    }
}

impl<S: FsmState, D: Send + 'static, M: Send + 'static> DerefMut for Step<'_, '_, S, D, M> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.cx
    }
}

impl<S: FsmState, D: Send + 'static, M: Send + 'static> Actor for Machine<S, D, M> {
    type Msg = M;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.show_state(self.plan.name(self.state));
        self.enter(cx)
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: M) -> Result<(), Failure> {
        cx.timers().cancel(EVENT_TIMEOUT);
        let plan = self.plan.clone();
        let rule = plan.find(self.state).and_then(|known| known.rule.as_ref()).or(plan.otherwise.as_ref());
        let Some(rule) = rule else {
            let text = format!("no rule for a message in the state {}", plan.name(self.state));
            return Err(Failure::new("no_rule", text).returning(message));
        };
        match rule(&mut self.data, message, &mut Step { cx, state: self.state })? {
            Next::Stay => Ok(()),
            Next::Goto(to) => self.go(cx, to),
        }
    }
}

impl<S: FsmState, D: Send + 'static, M: Send + 'static> Machine<S, D, M> {
    fn go(&mut self, cx: &mut Context<'_, Self>, to: S) -> Result<(), Failure> {
        let (plan, from) = (self.plan.clone(), self.state);
        if let Some(hook) = plan.find(from).and_then(|known| known.on_exit.as_ref()) {
            hook(&mut self.data, &mut Step { cx: &mut *cx, state: from })?;
        }
        cx.timers().cancel(STATE_TIMEOUT);
        self.state = to;
        cx.show_transition(plan.name(from), plan.name(to));
        if let Some(hook) = &plan.on_transition {
            hook(from, to, &mut self.data, &mut Step { cx: &mut *cx, state: to })?;
        }
        self.enter(cx)?;
        if from != to {
            cx.unstash_all();
        }
        Ok(())
    }

    fn enter(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let plan = self.plan.clone();
        let Some(known) = plan.find(self.state) else { return Ok(()) };
        if let Some((after, make)) = &known.timeout {
            cx.timers().once(STATE_TIMEOUT, *after, make());
        }
        match &known.on_enter {
            Some(hook) => hook(&mut self.data, &mut Step { cx, state: self.state }),
            None => Ok(()),
        }
    }
}
