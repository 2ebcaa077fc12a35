//! Every way to fail has a test that provokes it: here are those that belong to no topic of their own. `tidy.rs` sees to it
//! that no variant of an error is left out.

use std::time::Duration;

use footlights::actor::{Actor, Context, Failure, Props, SpawnError};
use footlights::pattern::{AskError, Reply, TaskError};
use footlights::stream::{
    Chain, DrawError, FeedError, Graph, GraphError, OverflowStrategy, Params, RunError, RunOptions, Sink,
    Source, Value,
};
use footlights::system::{ActorSystem, BuildError, DispatcherSettings};
use footlights::testkit::Probe;

const SECOND: Duration = Duration::from_secs(1);

fn stepper() -> ActorSystem {
    ActorSystem::builder("test").stepper().build().expect("good settings")
}

#[test]
fn a_system_with_settings_out_of_range_is_not_built() {
    let builder = || ActorSystem::builder("test").stepper();
    let error = |builder: footlights::system::Builder| builder.build().expect_err("refused");
    for workers in [0, 65] {
        assert!(matches!(error(builder().workers(workers)), BuildError::Workers(n) if n == workers));
    }
    assert!(matches!(error(builder().throughput(0)), BuildError::Throughput));
    let pool = || DispatcherSettings::pool(1);
    let twice = builder().dispatcher("a", pool()).dispatcher("a", pool());
    for builder in [builder().dispatcher("", pool()), builder().dispatcher("default", pool()), twice] {
        assert!(matches!(error(builder), BuildError::DispatcherName(_)));
    }
    assert!(matches!(error(builder().dispatcher("pinned", pool())), BuildError::DispatcherKind(_)));
    assert_eq!(BuildError::Workers(65).to_string(), "65 workers: choose 1 to 64");
}

/// Sends two jobs where only one may wait, and tells what becomes of them.
struct Asker {
    to: footlights::actor::Recipient<Result<u32, TaskError>>,
}

impl Actor for Asker {
    type Msg = Result<u32, TaskError>;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.spawn_blocking(|_| 1, |outcome| outcome);
        cx.spawn_blocking(|_| 2, |outcome| outcome);
        Ok(())
    }

    fn receive(&mut self, _: &mut Context<'_, Self>, outcome: Self::Msg) -> Result<(), Failure> {
        self.to.tell(outcome);
        Ok(())
    }
}

#[test]
fn a_blocking_job_too_many_is_refused_as_a_message() {
    let system = ActorSystem::builder("test").stepper().blocking_queue(1).build().expect("good settings");
    let probe = Probe::new(&system, "probe");
    let to = probe.recipient();
    system.spawn("asker", Props::new(move || Asker { to: to.clone() })).expect("a free name");
    let mut outcomes = [probe.expect(&system), probe.expect(&system)];
    outcomes.sort_by_key(Result::is_err);
    assert_eq!(outcomes, [Ok(1), Err(TaskError::PoolFull)]);
}

#[test]
fn an_actor_for_a_dispatcher_that_is_not_there_is_not_made() {
    let system = stepper();
    let to = Probe::new(&system, "probe").recipient();
    let props = Props::new(move || Asker { to: to.clone() }).dispatcher("nowhere");
    assert_eq!(
        system.spawn("a", props).expect_err("refused"),
        SpawnError::NoDispatcher("nowhere".to_owned())
    );
}

#[test]
fn an_ask_whose_reply_is_outside_ends_with_the_system() {
    let system = stepper();
    let probe: Probe<Reply<u32>> = Probe::new(&system, "probe");
    let ask = probe.actor().ask(|reply| reply, SECOND * 100);
    let reply = probe.expect(&system);
    system.shutdown(SECOND * 10).expect("nothing is in the way");
    assert_eq!(system.block_on(ask), Err(AskError::Shutdown));
    assert!(reply.is_abandoned());
}

#[test]
fn a_feed_without_room_or_with_a_policy_that_waits_is_refused() {
    let refused = |capacity, strategy| Source::feed::<u32>(capacity, strategy).err();
    assert_eq!(refused(1, OverflowStrategy::Backpressure), Some(FeedError::BackpressureRefused));
    assert_eq!(refused(0, OverflowStrategy::DropNew), Some(FeedError::ZeroCapacity));
    assert!(refused(1, OverflowStrategy::DropNew).is_none());
}

#[test]
fn a_chain_that_cannot_run_says_all_that_is_wrong() {
    let none = Params::new;
    let named = |text: &str| std::sync::Arc::from(text);
    let check = |chain: Chain| chain.check();
    let whole = |chain: Chain| chain.op("to", "fold", none());
    assert!(check(whole(Chain::new().op("r", "range", none()))).is_empty());
    assert_eq!(check(whole(Chain::new().op("x", "filter", none()))), [DrawError::NoSource]);
    assert_eq!(check(Chain::new().op("r", "range", none())), [DrawError::NoSink]);
    let unknown = whole(Chain::new().op("r", "range", none()).op("u", "nothing", none()));
    let kind = "nothing".to_owned();
    assert!(check(unknown).contains(&DrawError::UnknownKind { node: named("u"), kind }));
    let twice = whole(Chain::new().op("r", "range", none()).op("r", "filter", none()));
    assert!(check(twice).contains(&DrawError::DuplicateName { node: named("r") }));
    let middle = whole(Chain::new().op("r", "range", none()).op("m", "fold", none()));
    assert!(check(middle).contains(&DrawError::Misplaced { node: named("m") }));
    let bad = Params::from([("count".to_owned(), Value::from("many"))]);
    let found = check(whole(Chain::new().op("r", "range", bad)));
    assert!(matches!(&found[..], [DrawError::BadParam { field, .. }] if field == "count"), "{found:?}");
    let large = (0..10_001).fold(Chain::new(), |chain, n| chain.op(&n.to_string(), "filter", none()));
    assert_eq!(check(large), [DrawError::TooLarge]);
}

#[test]
fn a_stream_that_cannot_start_says_why() {
    let system = stepper();
    let wrong = Chain::new().run_with(&system, &RunOptions::default());
    assert!(matches!(wrong, Err(RunError::Drawing(errors)) if errors.contains(&DrawError::NoSource)));
    let loose = Graph::new(|g| drop(g.source("numbers", Source::range(0..3)))).run(&system);
    let unconnected = GraphError::Unconnected { port: "numbers.out".into() };
    assert!(matches!(loose, Err(RunError::Graph(errors)) if errors == [unconnected]));
    system.shutdown(SECOND).expect("nothing is in the way");
    let late = Source::range(0..3).to(Sink::fold(0, |sum, n| sum + n)).run(&system);
    assert!(matches!(late, Err(RunError::Spawn(SpawnError::ParentStopping))));
}

#[test]
fn a_scenario_whose_system_cannot_be_built_does_not_run() {
    use footlights::scenario::document::Scenario;
    use footlights::scenario::{On, Run, RunError, validate};
    let document =
        Scenario::parse(include_str!("../../web/scenarios/boundary-and-buffer.json")).expect("a shipped one");
    let plan = validate(&document).expect("a shipped one");
    let refused = Run::start_with(plan, On::Stepper, |builder| builder.throughput(0)).err();
    assert!(matches!(refused, Some(RunError::System(BuildError::Throughput))), "{refused:?}");
}

#[test]
fn a_failure_keeps_a_bounded_chain_of_sources() {
    #[derive(Debug)]
    struct Deep(usize, &'static str, Option<Box<Deep>>);
    impl std::fmt::Display for Deep {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(&self.1.repeat(self.0))
        }
    }
    impl std::error::Error for Deep {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            self.2.as_deref().map(|deep| deep as _)
        }
    }
    let kept = |links: usize, bytes: usize| {
        let chain = (0..links).fold(None, |inner, _| Some(Box::new(Deep(bytes, "x", inner))));
        let failure = footlights::actor::Failure::from(*chain.expect("a chain"));
        let mut lengths = vec![failure.text().len()];
        let mut next = failure.source();
        while let Some(source) = next {
            lengths.push(source.to_string().len());
            next = source.source();
        }
        lengths
    };
    assert_eq!(kept(3, 5), [5, 5, 5]);
    assert_eq!(kept(40, 1).len(), 17, "itself and 16 sources");
    assert_eq!(kept(4, 400), [400, 400, 224], "1 KiB in all");
    assert_eq!(kept(2, 2_000), [1_024]);
}
