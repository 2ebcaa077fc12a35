//! The actors of a random program: whatever one actor can do to others, it does at random.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use footlights::actor::{Actor, ActorRef, Context, Failure, Props, Shutdown};
use footlights::mailbox::{Keep, Mailbox, OverflowStrategy};
use footlights::pattern::{CircuitBreaker, Reply, TaskError};
use footlights::rng::Rng;
use footlights::routing::{Refill, Router, RouterRef};
use footlights::supervise::{Backoff, Directive, FailureKind, Limit, RestartType, Strategy};
use footlights::system::ActorSystem;

pub(crate) const US: Duration = Duration::from_micros(1);
/// Things that all actors of one program do together, at most.
const DEEDS: u64 = 400;
const ACTORS: usize = 24;

/// What all actors of one program know.
pub(crate) struct World {
    deeds: AtomicU64,
    refs: Mutex<Vec<ActorRef<Msg>>>,
    routers: Mutex<Vec<RouterRef<Msg>>>,
    pub(crate) breaker: OnceLock<CircuitBreaker>,
    violations: Mutex<Vec<String>>,
}

impl World {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(World {
            deeds: AtomicU64::new(DEEDS),
            refs: Mutex::default(),
            routers: Mutex::default(),
            breaker: OnceLock::new(),
            violations: Mutex::default(),
        })
    }

    pub(crate) fn pick(&self, rng: &mut Rng) -> Option<ActorRef<Msg>> {
        let refs = self.refs.lock().unwrap();
        (!refs.is_empty()).then(|| refs[rng.below(refs.len() as u64) as usize].clone())
    }

    pub(crate) fn pick_router(&self, rng: &mut Rng) -> Option<RouterRef<Msg>> {
        let routers = self.routers.lock().unwrap();
        (!routers.is_empty()).then(|| routers[rng.below(routers.len() as u64) as usize].clone())
    }

    pub(crate) fn all(&self) -> Vec<ActorRef<Msg>> {
        self.refs.lock().unwrap().clone()
    }

    pub(crate) fn has_room(&self) -> bool {
        self.refs.lock().unwrap().len() < ACTORS
    }

    pub(crate) fn add(&self, actor: ActorRef<Msg>) {
        self.refs.lock().unwrap().push(actor);
    }

    /// Takes one deed from the stock; false if there is none left.
    fn may_act(&self) -> bool {
        self.deeds.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// Gives the first violation, with the last events.
    pub(crate) fn violation(&self, system: &ActorSystem) -> Result<(), String> {
        let violations = self.violations.lock().unwrap();
        let Some(violation) = violations.first() else { return Ok(()) };
        let (events, _) = system.rare_events(0);
        let last = events[events.len().saturating_sub(30)..].iter().map(|event| format!("\n  {event:?}"));
        Err(format!("{violation}{}", last.collect::<String>()))
    }

    fn violated(&self, what: String) {
        self.violations.lock().unwrap().push(what);
    }
}

/// What they understand.
#[derive(Clone)]
pub(crate) enum Msg {
    Act,
    Question(Question),
    Tick,
    /// Panics when it is dropped.
    Bomb(Bomb),
}

/// The right to one answer, whoever of those that have a copy gives it.
#[derive(Clone)]
pub(crate) struct Question(Arc<Mutex<Option<Reply<u64>>>>);

impl Question {
    fn answer(&self, answer: u64) {
        let reply = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        if let Some(reply) = reply {
            reply.send(answer);
        }
    }
}

/// Makes a message of a question.
pub(crate) fn question(reply: Reply<u64>) -> Msg {
    Msg::Question(Question(Arc::new(Mutex::new(Some(reply)))))
}

/// Goes off when it is dropped.
#[derive(Clone)]
pub(crate) struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("planned: a bomb was dropped");
        }
    }
}

/// Sees to it that there is one instance of an actor at a time, and one run.
#[derive(Default)]
struct Watchdog {
    /// True for the routees of a pool, which are many behind one of these.
    shared: bool,
    alive: AtomicU32,
    busy_until: AtomicU64,
}

/// One of them.
pub(crate) struct Node {
    pub(crate) world: Arc<World>,
    dog: Arc<Watchdog>,
    /// Ending hooks called on this instance.
    farewells: u32,
    /// It may be forced to stop, without a hook.
    forcible: bool,
    held: Vec<Question>,
    touchy: u64,
    #[expect(dead_code, reason = "it is there for its drop")]
    bomb: Option<Bomb>,
}

impl Drop for Node {
    fn drop(&mut self) {
        if self.farewells != 1 && !(self.forcible && self.farewells == 0) {
            self.world.violated(format!("{} ending hooks were called on an instance", self.farewells));
        }
        self.dog.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Actor for Node {
    type Msg = Msg;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        self.enter(cx);
        let result = match cx.rng().below(self.touchy) {
            0 => Err(Failure::new("start", "planned")),
            1 => panic!("planned: in started"),
            2 => {
                cx.stop();
                self.deed(cx)
            }
            _ => self.deed(cx),
        };
        self.leave(cx);
        result
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        self.enter(cx);
        let result = self.handle(cx, msg);
        self.leave(cx);
        result
    }

    fn pre_restart(&mut self, cx: &mut Context<'_, Self>, _why: &Failure, msg: Option<Msg>) {
        self.farewells += 1;
        if let (Some(msg), Some(target)) = (msg, self.world.pick(cx.rng())) {
            cx.tell(&target, msg);
        }
        self.last_deed(cx);
    }

    fn stopped(&mut self, cx: &mut Context<'_, Self>) {
        self.farewells += 1;
        self.last_deed(cx);
    }
}

impl Node {
    pub(crate) fn props(world: &Arc<World>, rng: &mut Rng, shared: bool) -> Props<Node> {
        let dog = Arc::new(Watchdog { shared, ..Watchdog::default() });
        let world = world.clone();
        let touchy = 3 + rng.below(60);
        let (bad_factory, bombs) = (rng.below(12) == 0, rng.below(10) == 0);
        let kind = rng.below(6);
        // Who may be forced to stop has no last word.
        let budget = [Shutdown::Now, Shutdown::After(US * 30)][rng.below(2) as usize];
        let forcible = kind >= 4;
        let made = AtomicU64::new(0);
        let factory = move || {
            let n = made.fetch_add(1, Ordering::Relaxed);
            if bad_factory && n.is_multiple_of(2) {
                return Err(Failure::new("factory", "planned"));
            }
            if dog.alive.fetch_add(1, Ordering::SeqCst) != 0 && !shared {
                world.violated("two instances of one actor".to_owned());
            }
            Ok(Node {
                world: world.clone(),
                dog: dog.clone(),
                farewells: 0,
                forcible,
                held: Vec::new(),
                touchy,
                bomb: bombs.then(|| Bomb),
            })
        };
        let mut props = Props::try_new(factory).mailbox(mailbox(rng)).supervise(strategy(rng));
        props = match kind {
            0 => props.restart_type(RestartType::Permanent),
            1 => props.restart_type(RestartType::Temporary),
            2 => props.backoff(backoff(rng)),
            3 => props.hold(rng.below(4) as u32),
            4 | 5 => props.shutdown(budget),
            _ => props,
        };
        if rng.below(8) == 0 {
            props = props.keep_failing_message();
        }
        if rng.below(3) == 0 {
            props = props.stash(rng.below(3) as u32);
        }
        if rng.below(6) == 0 {
            props = props.stop_parallel();
        }
        props = order(props, rng);
        match rng.below(8) {
            0 => props.dispatcher("side"),
            1 => props.dispatcher("pinned"),
            _ => props,
        }
    }

    fn enter(&mut self, cx: &mut Context<'_, Self>) {
        let (now, until) = (cx.now().as_nanos(), self.dog.busy_until.load(Ordering::Relaxed));
        if now < until && !self.dog.shared {
            self.world.violated(format!("{} ran at {now} and was busy until {until}", cx.path()));
        }
    }

    fn leave(&mut self, cx: &mut Context<'_, Self>) {
        self.dog.busy_until.store(cx.now().as_nanos(), Ordering::Relaxed);
    }

    fn handle(&mut self, cx: &mut Context<'_, Self>, msg: Msg) -> Result<(), Failure> {
        if cx.rng().below(12) == 0 && self.world.may_act() {
            cx.stash(msg)?;
            return if cx.rng().below(4) == 0 { self.deed(cx) } else { Ok(()) };
        }
        match msg {
            Msg::Act => {
                for _ in 0..=cx.rng().below(3) {
                    self.deed(cx)?;
                }
                Ok(())
            }
            Msg::Question(reply) => match cx.rng().below(6) {
                0 | 1 => {
                    reply.answer(7);
                    Ok(())
                }
                2 => {
                    self.held.push(reply);
                    self.deed(cx)
                }
                3 => {
                    if let Some(other) = self.world.pick(cx.rng()) {
                        cx.forward(&other, Msg::Question(reply));
                    }
                    Ok(())
                }
                4 => Err(Failure::new("asked", "planned").returning(Msg::Question(reply))),
                _ => self.deed(cx),
            },
            Msg::Tick => self.deed(cx),
            Msg::Bomb(Bomb) => self.deed(cx),
        }
    }

    fn last_deed(&mut self, cx: &mut Context<'_, Self>) {
        match cx.rng().below(8) {
            0 => panic!("planned: in an ending hook"),
            1 => cx.work(US * 50),
            2 => self.held.clear(),
            _ => {
                // What it does is its own affair; it cannot fail any more.
                let _ = self.deed(cx);
            }
        }
    }

    /// Does something, if the program's stock of deeds allows.
    fn deed(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        if !self.world.may_act() {
            return Ok(());
        }
        let world = self.world.clone();
        let Some(target) = world.pick(cx.rng()) else { return Ok(()) };
        match cx.rng().below(44) {
            0..=3 => cx.tell(&target, Msg::Act),
            4 => target.tell(Msg::Act),
            5 => return Err(Failure::new("deed", "planned")),
            6 => return Err(Failure::new("special", "planned").returning(Msg::Act)),
            7 => panic!("planned: in a deed"),
            8 | 9 => {
                let name = ["", "a", "b", "c"][cx.rng().below(4) as usize];
                if world.has_room() {
                    let props = Node::props(&world, cx.rng(), false);
                    if let Ok(child) = cx.spawn(name, props) {
                        world.add(child);
                    }
                }
            }
            10 => cx.stop(),
            11 | 12 => {
                // Watching oneself is refused; that is fine here.
                let _ = cx.watch(&target.any(), |_| Msg::Tick);
            }
            13 => {
                cx.unwatch(&target.any());
            }
            14..=17 => self.timers(cx),
            18 | 19 => {
                let timeouts = [Duration::ZERO, US * 100, US * 5_000, Duration::MAX];
                let timeout = timeouts[cx.rng().below(4) as usize];
                cx.ask(&target, question, timeout, |_| Msg::Tick);
            }
            20 | 21 => (0..=cx.rng().below(3)).for_each(|_| cx.send(&target, Msg::Act)),
            22 => {
                let d = time(cx.rng(), 200);
                cx.work(d);
            }
            23 => {
                let d = time(cx.rng(), 200);
                cx.block(d);
            }
            24 => match cx.rng().below(3) {
                0 => target.kill(),
                1 => target.stop(),
                _ => target.drain(),
            },
            25 => cx.tell_or(&target, Msg::Act, |_| Msg::Tick),
            26 => {
                let delay = time(cx.rng(), 500);
                let delayed = cx.tell_after(delay, &target, Msg::Act);
                if cx.rng().below(3) == 0 {
                    delayed.cancel();
                }
            }
            27 => self.tasks(cx),
            28 => self.routers(cx),
            29 => {
                if let Some(reply) = self.held.pop() {
                    reply.answer(8);
                }
            }
            30 => cx.tell(&target, Msg::Bomb(Bomb)),
            31 | 32 => {
                cx.unstash_all();
            }
            33 => {
                cx.unstash(1);
            }
            // A second message in one run, or one in a hook: sent to oneself, so to say.
            34 => cx.stash(Msg::Act)?,
            35..=42 => self.pattern(cx, &target)?,
            _ => {
                let _ = target.try_tell(Msg::Act);
            }
        }
        Ok(())
    }

    fn timers(&mut self, cx: &mut Context<'_, Self>) {
        let key = cx.rng().below(3);
        let d = time(cx.rng(), 300);
        match cx.rng().below(6) {
            0 | 1 => cx.timers().once(key, d, Msg::Tick),
            2 => drop(cx.timers().fixed_delay(key, d, || Msg::Tick).expect("above zero")),
            3 => drop(cx.timers().fixed_rate(key, d, || Msg::Tick).expect("above zero")),
            4 => cx.timers().once(key, Duration::MAX, Msg::Bomb(Bomb)),
            _ => {
                cx.timers().cancel(key);
            }
        }
    }

    fn tasks(&mut self, cx: &mut Context<'_, Self>) {
        let done = |_: Result<u64, TaskError>| Msg::Tick;
        let d = time(cx.rng(), 300);
        let handle = match cx.rng().below(6) {
            5 => cx.spawn_blocking(
                move |task| {
                    task.block(d);
                    3
                },
                done,
            ),
            0 => cx.pipe_to_self(async { 1 }, done),
            1 => cx.pipe_to_self(std::future::pending(), done),
            2 => cx.pipe_to_self(async { panic!("planned: in a future") }, done),
            3 => cx.spawn_task(|_| panic!("planned: in a job"), done),
            _ => cx.spawn_task(
                move |task| {
                    task.work(d);
                    2
                },
                done,
            ),
        };
        if cx.rng().below(3) == 0 {
            handle.cancel();
        }
    }

    fn routers(&mut self, cx: &mut Context<'_, Self>) {
        let world = self.world.clone();
        if let Some(router) = world.pick_router(cx.rng())
            && cx.rng().below(4) > 0
        {
            return self.use_router(cx, &router);
        }
        if world.routers.lock().unwrap().len() >= 4 || !world.has_room() {
            return;
        }
        let router = match cx.rng().below(8) {
            0 => Router::round_robin(),
            1 => Router::random(),
            2 => Router::smallest_mailbox(),
            3 => Router::broadcast(),
            4 => Router::scatter_gather_first().within(US * 200),
            5 => Router::tail_chopping().within(US * 300).every(US * 20),
            6 => Router::consistent_hash(|msg| matches!(msg, Msg::Act).then_some(7)),
            _ => Router::balancing(),
        };
        let made = if cx.rng().below(2) == 0 {
            let props = Node::props(&world, cx.rng(), true);
            let refill = refill(cx.rng());
            let strategy = strategy(cx.rng());
            cx.spawn_router("", router.pool(3, props).supervise(strategy).refill(refill))
        } else {
            let members: Vec<_> = (0..3).filter_map(|_| world.pick(cx.rng())).collect();
            cx.spawn_router("", router.group(members))
        };
        if let Ok(made) = made {
            made.routees().into_iter().for_each(|routee| world.add(routee));
            world.routers.lock().unwrap().push(made);
        }
    }

    fn use_router(&mut self, cx: &mut Context<'_, Self>, router: &RouterRef<Msg>) {
        let Some(target) = self.world.pick(cx.rng()) else { return };
        match cx.rng().below(16) {
            0 => router.stop(),
            1 => router.drain(),
            2 => router.kill(),
            3 => cx.broadcast(router, Msg::Act),
            4 => router.add_routee(&target).forget(),
            5 => router.remove_routee(&target.any()).forget(),
            6 => router.set_size(cx.rng().below(5) as usize).forget(),
            7 => router.adjust_size(cx.rng().below(5) as isize - 2).forget(),
            8 => router.broadcast_drain(),
            9 => cx.tell(router, Msg::Tick),
            10 | 11 => cx.ask_router(router, question, US * 250, |_| Msg::Tick),
            _ => cx.tell(router, Msg::Act),
        }
    }
}

fn refill(rng: &mut Rng) -> Refill {
    match rng.below(3) {
        0 => Refill::Replace { limit: Limit::DEFAULT, backoff: backoff(rng) },
        1 => Refill::Shrink,
        _ => Refill::StopWithFirst,
    }
}

fn mailbox(rng: &mut Rng) -> Mailbox {
    let capacity = 1 + rng.below(4) as usize;
    let overflow = match rng.below(10) {
        0 => OverflowStrategy::Backpressure,
        1 => OverflowStrategy::DropNew,
        2 => OverflowStrategy::DropOldest,
        3 => OverflowStrategy::RejectToSender,
        4 => OverflowStrategy::Timeout(time(rng, 300)),
        5 => OverflowStrategy::FailReceiver,
        6 | 7 => return Mailbox::budgeted(),
        _ => return Mailbox::unbounded(),
    };
    Mailbox::bounded(capacity, overflow)
}

/// Gives the mailbox of some an order of its own.
fn order(mut props: Props<Node>, rng: &mut Rng) -> Props<Node> {
    if rng.below(5) == 0 {
        props = props.priority(|msg| match msg {
            Msg::Question(_) => 0,
            Msg::Act => 1,
            Msg::Tick => 2,
            Msg::Bomb(_) => panic!("planned: a bomb has no rank"),
        });
    }
    if rng.below(5) == 0 {
        props = props.control(|msg| match msg {
            Msg::Tick => true,
            Msg::Bomb(_) => panic!("planned: is a bomb urgent?"),
            _ => false,
        });
    }
    if rng.below(8) == 0 {
        let keep = [Keep::First, Keep::Last][rng.below(2) as usize];
        props = props.dedup(keep, |msg| match msg {
            Msg::Act => Some(1),
            Msg::Bomb(_) => panic!("planned: a bomb has no key"),
            _ => None,
        });
    }
    props
}

fn strategy(rng: &mut Rng) -> Strategy {
    let mut strategy = match rng.below(3) {
        0 => Strategy::one_for_one(),
        1 => Strategy::all_for_one(),
        _ => Strategy::rest_for_one(),
    };
    strategy = match rng.below(4) {
        0 => strategy.max_restarts(rng.below(4) as u32, Duration::from_millis(1)),
        1 => strategy.lifetime(rng.below(4) as u32),
        _ => strategy,
    };
    let directives = [Directive::Resume, Directive::Restart, Directive::Stop, Directive::Escalate];
    let any = |rng: &mut Rng| directives[rng.below(4) as usize];
    if rng.below(2) == 0 {
        strategy = strategy.on("special", any(rng)).on(FailureKind::Panic, any(rng));
    }
    if rng.below(4) == 0 {
        strategy = strategy.on(FailureKind::Start, any(rng)).on(FailureKind::Killed, any(rng));
    }
    match rng.below(3) {
        0 => strategy.backoff(backoff(rng)),
        _ => strategy,
    }
}

pub(crate) fn time(rng: &mut Rng, micros: u64) -> Duration {
    Duration::from_micros(1 + rng.below(micros))
}

pub(crate) fn backoff(rng: &mut Rng) -> Backoff {
    Backoff { min: time(rng, 300), ..Backoff::default() }
}
