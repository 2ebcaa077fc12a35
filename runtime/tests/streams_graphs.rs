//! What graphs promise, on the engine alone: every junction against its list model, ends, ledgers and bounds, in one
//! island, in one island per stage, and in 200 orders drawn by chance. The same on actors is in `streams_on_actors.rs`.

use footlights::stream::junctions::{
    Balance, Broadcast, Concat, Interleave, Merge, Partition, Unzip, ZipWith,
};
use footlights::stream::{
    Done, Flow, Graph, GraphBuilder, GraphError, InPort, LocalRun, Operators, OutPort, OverflowStrategy,
    Sink, Source, StreamError, Time,
};
use std::time::Duration;

mod common;

use common::graphs::{Cut, FUZZ, MS, all, every_way, run, sink, sorted, source, sources};

#[test]
fn merge_hands_on_every_element_and_keeps_the_order_of_each_input() {
    let ranges = [0..40, 100..103, 200..200, 300..320];
    every_way(
        |g, cut| {
            let (ins, out) = g.fan_in("merge", 4, Merge::new());
            sources(g, cut, &ranges, ins);
            sink(g, cut, "all", out)
        },
        |done, way| {
            let got = all(&done);
            let want: Vec<i64> = ranges.iter().flat_map(Clone::clone).collect();
            assert_eq!(sorted(got.clone()), want, "{way}");
            for range in &ranges {
                let own: Vec<i64> = got.iter().copied().filter(|n| range.contains(n)).collect();
                assert_eq!(own, range.clone().collect::<Vec<_>>(), "{way}");
            }
        },
    );
}

#[test]
fn a_busy_input_of_a_merge_starves_no_other() {
    let graph = Graph::new(|g| {
        let (ins, out) = g.fan_in("merge", 2, Merge::new());
        sources(g, Cut(None), &[0..1000, 1000..1010], ins);
        sink(g, Cut(None), "all", out)
    });
    let got = all(&graph.run_local().expect("a whole graph"));
    let last = got.iter().rposition(|n| *n >= 1000).expect("it is there");
    assert!(last < 40, "the last of ten came as number {last}");
}

#[test]
fn a_preferring_merge_takes_the_first_input_first_and_an_eager_one_ends_with_the_first_end() {
    let preferring = Graph::new(|g| {
        let (ins, out) = g.fan_in("merge", 2, Merge::new().preferring());
        sources(g, Cut(None), &[0..50, 100..150], ins);
        sink(g, Cut(None), "all", out)
    });
    let got = all(&preferring.run_local().expect("a whole graph"));
    let first = got.iter().position(|n| *n == 149).expect("it is there");
    assert!(got.iter().position(|n| *n == 49).expect("it is there") < first);
    every_way(
        |g, cut| {
            let (ins, out) = g.fan_in("merge", 2, Merge::new().eager());
            let ticks = Source::tick(MS, MS, 1i64);
            let endless = g.source("ticks", ticks);
            let short = g.source("short", Source::range(0..3));
            for (source, port) in [endless, short].into_iter().zip(ins) {
                cut.wire(g, source, port);
            }
            sink(g, cut, "all", out)
        },
        |done, way| assert!(all(&done).len() >= 3, "{way}"),
    );
}

#[test]
fn concat_is_one_list_after_the_other_lazy_or_not() {
    for lazy in [false, true] {
        every_way(
            |g, cut| {
                let concat = if lazy { Concat::new().lazy() } else { Concat::new() };
                let (ins, out) = g.fan_in("concat", 3, concat);
                sources(g, cut, &[0..5, 5..5, 5..20], ins);
                sink(g, cut, "all", out)
            },
            |done, way| assert_eq!(all(&done), (0..20).collect::<Vec<_>>(), "{way}"),
        );
    }
}

#[test]
fn interleave_takes_segments_in_turn_and_passes_over_what_has_ended() {
    every_way(
        |g, cut| {
            let (ins, out) = g.fan_in("interleave", 3, Interleave::new(2));
            sources(g, cut, &[0..5, 10..13, 20..24], ins);
            sink(g, cut, "all", out)
        },
        |done, way| assert_eq!(all(&done), [0, 1, 10, 11, 20, 21, 2, 3, 12, 22, 23, 4], "{way}"),
    );
}

#[test]
fn zip_pairs_and_ends_with_the_shorter_side() {
    for (left, right) in [(0..5, 0..100), (0..100, 0..5), (0..0, 0..5), (0..5, 0..5)] {
        let want: Vec<i64> = left.clone().zip(right.clone()).map(|(a, b): (i64, i64)| a * 1000 + b).collect();
        every_way(
            |g, cut| {
                let zip = ZipWith::new(|a: i64, b: i64| a * 1000 + b);
                let (first, second, out) = g.two_in("zip", zip);
                sources(g, cut, &[left.clone(), right.clone()], vec![first, second]);
                sink(g, cut, "all", out)
            },
            |done, way| assert_eq!(all(&done), want, "{way}"),
        );
    }
}

#[test]
fn broadcast_gives_all_to_each_and_goes_on_without_who_left() {
    every_way(
        |g, cut| {
            let (port, outs) = g.fan_out("split", 3, Broadcast::new());
            source(g, cut, 0..100, port);
            let mut outs = outs.into_iter();
            let mut dones = Vec::new();
            for (i, n) in [1000u64, 5, 50].into_iter().enumerate() {
                let (taken, rest) = g.flow(&format!("take{i}"), Flow::of::<i64>().take(n));
                cut.wire(g, outs.next().expect("an output"), taken);
                dones.push(sink(g, cut, &format!("sink{i}"), rest));
            }
            dones
        },
        |dones, way| {
            for (done, n) in dones.iter().zip([100, 5, 50]) {
                assert_eq!(all(done), (0..n).collect::<Vec<_>>(), "{way}");
            }
        },
    );
}

#[test]
fn balance_gives_each_element_to_one_output_and_partition_to_the_chosen_one() {
    every_way(
        |g, cut| {
            let (port, outs) = g.fan_out("balance", 3, Balance::new());
            source(g, cut, 0..90, port);
            let outs = outs.into_iter().enumerate();
            outs.map(|(i, out)| sink(g, cut, &format!("sink{i}"), out)).collect::<Vec<_>>()
        },
        |dones, way| {
            let parts: Vec<Vec<i64>> = dones.iter().map(all).collect();
            assert!(parts.iter().all(|part| part.is_sorted()), "{way}: {parts:?}");
            assert_eq!(sorted(parts.concat()), (0..90).collect::<Vec<_>>(), "{way}");
        },
    );
    every_way(
        |g, cut| {
            let (port, outs) = g.fan_out("partition", 3, Partition::new(|n: &i64| (*n % 3) as usize));
            source(g, cut, 0..90, port);
            let outs = outs.into_iter().enumerate();
            outs.map(|(i, out)| sink(g, cut, &format!("sink{i}"), out)).collect::<Vec<_>>()
        },
        |dones, way| {
            for (i, done) in dones.iter().enumerate() {
                assert_eq!(all(done), (0..90).filter(|n| n % 3 == i as i64).collect::<Vec<_>>(), "{way}");
            }
        },
    );
}

#[test]
fn unzip_splits_and_a_diamond_joins_again() {
    every_way(
        |g, cut| {
            let (port, left, right) = g.two_out("unzip", Unzip::new(|n: i64| (n, n * 10)));
            source(g, cut, 0..50, port);
            let (first, second, out) = g.two_in("zip", ZipWith::new(|a: i64, b: i64| a + b));
            cut.wire(g, left, first);
            cut.wire(g, right, second);
            sink(g, cut, "all", out)
        },
        |done, way| assert_eq!(all(&done), (0..50).map(|n| n * 11).collect::<Vec<_>>(), "{way}"),
    );
}

#[test]
fn a_failure_reaches_every_sink_and_every_source() {
    every_way(
        |g, cut| {
            let (ins, out) = g.fan_in("merge", 2, Merge::new());
            let bad = Source::range(0..10).try_map(|n| if n == 3 { Err("three") } else { Ok(n) });
            let bad = g.source("bad", bad);
            let endless = g.source("endless", Source::tick(Duration::ZERO, MS, 7i64));
            for (source, port) in [bad, endless].into_iter().zip(ins) {
                cut.wire(g, source, port);
            }
            let (port, outs) = g.fan_out("split", 2, Broadcast::new());
            cut.wire(g, out, port);
            let outs = outs.into_iter().enumerate();
            outs.map(|(i, out)| sink(g, cut, &format!("sink{i}"), out)).collect::<Vec<_>>()
        },
        |dones, way| {
            for done in &dones {
                let outcome = done.take();
                let Some(Err(StreamError::Stage { text, .. })) = outcome else {
                    panic!("{way}: {outcome:?}")
                };
                assert_eq!(&*text, "three");
            }
        },
    );
}

#[test]
fn an_element_for_no_output_fails_the_partition() {
    let graph = Graph::new(|g| {
        let (port, outs) = g.fan_out("partition", 2, Partition::new(|n: &i64| *n as usize));
        source(g, Cut(None), 0..5, port);
        let outs = outs.into_iter().enumerate();
        outs.map(|(i, out)| sink(g, Cut(None), &format!("sink{i}"), out)).collect::<Vec<_>>()
    });
    for done in graph.run_local().expect("a whole graph") {
        assert_eq!(done.take(), Some(Err(StreamError::OutOfRange { node: "partition".into(), port: 2 })));
    }
}

#[test]
fn when_the_last_output_leaves_the_sources_are_cancelled() {
    every_way(
        |g, cut| {
            let (port, outs) = g.fan_out("split", 2, Broadcast::new());
            let endless = g.source("endless", Source::tick(Duration::ZERO, MS, 7i64));
            cut.wire(g, endless, port);
            let mut dones = Vec::new();
            for (i, out) in outs.into_iter().enumerate() {
                let (taken, rest) = g.flow(&format!("take{i}"), Flow::of::<i64>().take(3 + i as u64));
                cut.wire(g, out, taken);
                dones.push(sink(g, cut, &format!("sink{i}"), rest));
            }
            dones
        },
        |dones, way| {
            for (i, done) in dones.iter().enumerate() {
                assert_eq!(all(done).len(), 3 + i, "{way}");
            }
        },
    );
}

#[test]
fn everything_that_is_wrong_with_a_graph_is_said_at_once() {
    let graph = Graph::new(|g| {
        let lost = g.source("numbers", Source::range(0..5));
        let (port, outs) = g.fan_out("split", 2, Broadcast::<i64>::new());
        let (a, b) = g.flow("split", Flow::of::<i64>().map(|n| n));
        drop((lost, port, outs, a, b));
    });
    let errors = graph.build(0).map(|_| ()).expect_err("nothing is wired");
    let unconnected = |port: &str| GraphError::Unconnected { port: port.into() };
    assert_eq!(
        errors,
        [
            GraphError::DuplicateName { node: "split".into() },
            unconnected("numbers.out"),
            unconnected("split.out0"),
            unconnected("split.out1"),
            unconnected("split.out"),
            unconnected("split.in"),
            unconnected("split.in"),
        ]
    );
    assert_eq!(errors[1].to_string(), "numbers.out: nothing is wired to it");
}

fn spin(g: &mut GraphBuilder, name: &str, ms: u32) -> (InPort<i64>, OutPort<i64>) {
    g.flow(name, Flow::of::<i64>().worked(Time::Constant(MS * ms)))
}

/// Four ways of the same work between a fan-out and a merge, with a boundary on each or none.
fn lanes(g: &mut GraphBuilder, outs: Vec<OutPort<i64>>, asynchronous: bool) -> Done<u64> {
    let (ins, out) = g.fan_in("merge", outs.len(), Merge::new());
    for ((i, from), into) in outs.into_iter().enumerate().zip(ins) {
        let (a, b) = spin(g, &format!("lane{i}"), 10);
        if asynchronous {
            g.wire_async(from, a, 16);
            g.wire_async(b, into, 16);
        } else {
            g.wire(from, a);
            g.wire(b, into);
        }
    }
    let (port, done) = g.sink("count", Sink::ignore());
    g.wire(out, port);
    done
}

fn takes<M>(graph: &Graph<impl Fn(&mut GraphBuilder) -> M>, workers: usize) -> (Duration, M) {
    let (built, mat) = graph.build(1).expect("a whole graph");
    let mut run = LocalRun::new(built, workers);
    run.run();
    (Duration::from_nanos(run.now().as_nanos()), mat)
}

#[test]
fn e15_e16_e17_lanes_that_are_fused_add_up_and_lanes_behind_boundaries_run_beside_each_other() {
    let broadcast = |asynchronous| {
        Graph::new(move |g: &mut GraphBuilder| {
            let (port, outs) = g.fan_out("split", 4, Broadcast::new());
            source(g, Cut(None), 0..1000, port);
            lanes(g, outs, asynchronous)
        })
    };
    let (fused, done) = takes(&broadcast(false), 4);
    assert_eq!((fused, done.take()), (MS * 40_000, Some(Ok(4000))));
    let (cut, done) = takes(&broadcast(true), 4);
    assert_eq!((cut, done.take()), (MS * 10_000, Some(Ok(4000))));
    let partition = Graph::new(|g: &mut GraphBuilder| {
        let (port, outs) = g.fan_out("split", 4, Partition::new(|n: &i64| (*n % 4) as usize));
        source(g, Cut(None), 0..1000, port);
        lanes(g, outs, true)
    });
    let (quarter, done) = takes(&partition, 4);
    assert_eq!((quarter, done.take()), (MS * 2_500, Some(Ok(1000))));
}

#[test]
fn a_cycle_with_a_way_out_runs_and_ends() {
    // 1 goes round, is doubled each time, and leaves when it is large: that ends the circle.
    every_way(
        |g, cut| {
            let (ins, out) = g.fan_in("enter", 2, Merge::new());
            let mut ins = ins.into_iter();
            sources(g, cut, std::slice::from_ref(&(1..2)), ins.by_ref().take(1).collect());
            let (double_in, double_out) = g.flow("double", Flow::of::<i64>().map(|n| n * 2));
            let leave = Partition::new(|n: &i64| usize::from(*n >= 100)).eager_cancel();
            let (port, outs) = g.fan_out("leave", 2, leave);
            let mut outs = outs.into_iter();
            let buffer = Flow::of::<i64>().buffer(4, OverflowStrategy::Backpressure);
            let (buffer_in, buffer_out) = g.flow("buffer", buffer);
            cut.wire(g, out, double_in);
            cut.wire(g, double_out, port);
            cut.wire(g, outs.next().expect("an output"), buffer_in);
            cut.wire(g, buffer_out, ins.next().expect("an input"));
            let (taken, rest) = g.flow("first", Flow::of::<i64>().take(1));
            cut.wire(g, outs.next().expect("an output"), taken);
            sink(g, cut, "result", rest)
        },
        |done, way| assert_eq!(all(&done), [128], "{way}"),
    );
}

#[test]
fn the_short_words_for_small_graphs_are_their_list_models() {
    let numbers = || Source::range(0..20);
    let joined = numbers()
        .zip_with(numbers().async_boundary(), |a, b| a + b)
        .concat(numbers().filter(|n| n % 2 == 1))
        .prepend(Source::from_iter([7i64, 8]).concat_lazy(Source::from_iter([9i64])))
        .interleave(Source::range(100..104).async_boundary_of(1), 3)
        .also_to(Sink::for_each(|_cx, n: i64| assert!(n >= 0)))
        .divert_to(Sink::ignore(), |n| n % 10 == 0)
        .to(Sink::to_vec(1_000));
    let first: Vec<i64> =
        [7, 8, 9].into_iter().chain((0..20).map(|n| n * 2)).chain((1..20).step_by(2)).collect();
    let mut want = Vec::new();
    let mut others = (100..104).collect::<Vec<i64>>().into_iter();
    for part in first.chunks(3) {
        want.extend_from_slice(part);
        want.extend(others.by_ref().take(3));
    }
    want.retain(|n| n % 10 != 0);
    for fuzz in 0..FUZZ {
        let (built, done) = joined.build(1);
        run(if fuzz == 0 { built } else { built.fuzzed(fuzz) }, 1 + fuzz as usize % 4);
        assert_eq!(all(&done), want, "fuzzed by {fuzz}");
    }
    let merged = numbers().merge(numbers().async_boundary()).merge(numbers()).to(Sink::to_vec(1_000));
    for fuzz in 0..FUZZ {
        let (built, done) = merged.build(1);
        run(built.fuzzed(fuzz), 1 + fuzz as usize % 4);
        assert_eq!(sorted(all(&done)), (0..60).map(|n| n / 3).collect::<Vec<_>>(), "fuzzed by {fuzz}");
    }
}

#[test]
fn a_main_way_that_has_enough_ends_the_side_sink() {
    let stream = Source::tick(Duration::ZERO, MS, 1i64).also_to(Sink::ignore()).take(5).to(Sink::to_vec(100));
    let (built, done) = stream.build(1);
    run(built, 1);
    assert_eq!(all(&done), [1; 5]);
}
