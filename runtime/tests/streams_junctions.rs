//! The junctions that sort, number, weigh, combine or replace their inputs, against list models: in one island and in many, in
//! orders drawn by chance, drawn, typed, and on actors.

use std::ops::Range;
use std::time::Duration;

use footlights::stream::junctions::{
    MergeLatest, MergePrioritized, MergeSequence, MergeSorted, OrElse, Partition, WithLatest, ZipLatest,
};
use footlights::stream::{Drawing, Flow, Graph, Operators, Params, Sink, Source, StreamError, Value};
use footlights::testkit::on_each_dispatcher;

mod common;

use common::graphs::{Cut, FUZZ, MS, all, every_way, run, sink, sorted, source, sources};

/// Draws ranges that are joined by a junction, and gives what it emits.
fn drawn(
    kind: &str,
    set: &[(&str, Value)],
    ranges: &[Range<i64>],
    seed: u64,
) -> Result<Vec<Value>, StreamError> {
    let params = |pairs: &[(&str, Value)]| -> Params {
        pairs.iter().map(|(key, value)| ((*key).to_string(), value.clone())).collect()
    };
    let mut drawing = Drawing::new()
        .op("join", kind, params(set))
        .op("list", "grouped", params(&[("n", Value::from(10_000))]))
        .op("sink", "fold", params(&[("op", "last".into())]));
    for (i, range) in ranges.iter().enumerate() {
        let (name, count) = (format!("source{i}"), Value::from(range.end - range.start));
        let numbers = params(&[("start", Value::from(range.start)), ("count", count)]);
        drawing = drawing.op(&name, "range", numbers).wire(&name, "join");
    }
    let (built, results) = drawing.wire("join", "list").wire("list", "sink").build(seed).unwrap();
    run(built.fuzzed(seed), 2);
    let last = results[0].1.take().expect("it has ended")?;
    Ok(match last {
        Value::List(list) => list.to_vec(),
        _ => Vec::new(),
    })
}

fn numbers(values: Vec<Value>) -> Vec<i64> {
    values.iter().filter_map(Value::as_int).collect()
}

#[test]
fn merge_sorted_of_sorted_inputs_is_sorted() {
    for ranges in [vec![0..20, 5..12, 7..7, 0..40], vec![0..0, 3..9], vec![0..0, 0..0], vec![4..9, 9..9]] {
        let mut want: Vec<i64> = ranges.iter().flat_map(Clone::clone).collect();
        want.sort_unstable();
        every_way(
            |g, cut| {
                let (ins, out) = g.fan_in("merge", ranges.len(), MergeSorted::new());
                sources(g, cut, &ranges, ins);
                sink(g, cut, "all", out)
            },
            |done, way| assert_eq!(all(&done), want, "{way}"),
        );
        for seed in 0..FUZZ {
            assert_eq!(drawn("merge_sorted", &[], &ranges, seed).map(numbers), Ok(want.clone()));
        }
    }
    every_way(
        |g, cut| {
            let (ins, out) = g.fan_in("merge", 2, MergeSorted::by(|a: &i64, b| b.cmp(a)));
            let down = |from: i64| Source::range(0..10).map(move |n| from - n * 2);
            let both = [g.source("even", down(20)), g.source("odd", down(21))];
            both.into_iter().zip(ins).for_each(|(source, port)| cut.wire(g, source, port));
            sink(g, cut, "all", out)
        },
        |done, way| assert_eq!(all(&done), (2..22).rev().collect::<Vec<_>>(), "{way}"),
    );
    on_each_dispatcher(|system| {
        let both = Source::range(0..300).async_boundary().merge_sorted(Source::range(100..400));
        let (done, _) = both.async_boundary().to(Sink::to_vec(1_000)).run(system).unwrap();
        let want = sorted((0..300).chain(100..400).collect());
        assert_eq!(system.block_on(done), Ok(want));
    });
}

#[test]
fn merge_sequence_restores_what_a_partition_has_parted() {
    every_way(
        |g, cut| {
            let (port, outs) = g.fan_out("part", 3, Partition::new(|n: &i64| (*n % 7 % 3) as usize));
            source(g, cut, 0..60, port);
            let (ins, out) = g.fan_in("merge", 3, MergeSequence::new(|n: &i64| *n as u64));
            for ((i, from), into) in outs.into_iter().enumerate().zip(ins) {
                let (a, b) = g.flow(&format!("lane{i}"), Flow::of::<i64>().map(|n| n));
                cut.wire(g, from, a);
                cut.wire(g, b, into);
            }
            sink(g, cut, "all", out)
        },
        |done, way| assert_eq!(all(&done), (0..60).collect::<Vec<_>>(), "{way}"),
    );
    let gap = |expected| Err(StreamError::SequenceGap { node: "join".into(), expected });
    for seed in 0..FUZZ {
        let restored = |ranges: &[Range<i64>]| drawn("merge_sequence", &[], ranges, seed).map(numbers);
        assert_eq!(restored(&[0..5, 5..9, 9..9]), Ok((0..9).collect()));
        assert_eq!(restored(&[5..9, 0..5]), Ok((0..9).collect()));
        assert_eq!(restored(&[0..0, 0..0]), Ok(vec![]));
        assert_eq!(restored(&[0..5, 6..9]), gap(5), "a gap");
        assert_eq!(restored(&[1..3, 3..3]), gap(0), "a gap at the start");
        // How far it came by then is a matter of order.
        let twice = restored(&[0..5, 3..9]);
        assert!((4..=9).any(|due| twice == gap(due)), "a number twice: {twice:?}");
    }
}

#[test]
fn merge_prioritized_keeps_each_input_in_order_and_prefers_by_weight() {
    let ranges = [0..40, 100..103, 200..200, 300..320];
    every_way(
        |g, cut| {
            let (ins, out) = g.fan_in("merge", 4, MergePrioritized::new(&[5, 0, 1]));
            sources(g, cut, &ranges, ins);
            sink(g, cut, "all", out)
        },
        |done, way| {
            let got = all(&done);
            assert_eq!(
                sorted(got.clone()),
                ranges.iter().flat_map(Clone::clone).collect::<Vec<_>>(),
                "{way}"
            );
            for range in &ranges {
                let own: Vec<i64> = got.iter().copied().filter(|n| range.contains(n)).collect();
                assert_eq!(own, range.clone().collect::<Vec<_>>(), "{way}");
            }
        },
    );
    let stream = Source::range(0..1000).merge_prioritized(Source::range(1000..2000), [9, 1]);
    let stream = stream.to(Sink::to_vec(10_000));
    for seed in 0..20 {
        let outcome = || {
            let (built, done) = stream.build(seed);
            run(built, 1);
            all(&done)
        };
        let got = outcome();
        assert_eq!(got, outcome(), "the same seed");
        let preferred = got.iter().take(1000).filter(|n| **n < 1000).count();
        assert!((850..950).contains(&preferred), "{preferred} of 1000 with weight 9 to 1");
    }
    for seed in 0..FUZZ {
        let got = drawn("merge_prioritized", &[("weight", Value::from(3))], &[0..9, 9..20], seed);
        assert_eq!(got.map(numbers).map(sorted), Ok((0..20).collect()));
    }
    every_way(
        |g, cut| {
            let (ins, out) = g.fan_in("merge", 2, MergePrioritized::new(&[1, 1]).eager());
            let endless = g.source("ticks", Source::tick(MS, MS, 7i64));
            let short = g.source("short", Source::range(0..3));
            [endless, short].into_iter().zip(ins).for_each(|(source, port)| cut.wire(g, source, port));
            sink(g, cut, "all", out)
        },
        |done, way| assert!(all(&done).len() >= 3, "{way}"),
    );
}

#[test]
fn or_else_takes_the_second_only_if_the_first_is_empty() {
    let table = [(0..5, 10..15, 0..5), (0..0, 10..15, 10..15), (0..5, 9..9, 0..5), (0..0, 9..9, 9..9)];
    for (first, second, want) in table {
        every_way(
            |g, cut| {
                let (ins, out) = g.fan_in("or", 2, OrElse::new());
                sources(g, cut, &[first.clone(), second.clone()], ins);
                sink(g, cut, "all", out)
            },
            |done, way| assert_eq!(all(&done), want.clone().collect::<Vec<_>>(), "{way}"),
        );
        for seed in 0..FUZZ {
            let got = drawn("or_else", &[], &[first.clone(), second.clone()], seed);
            assert_eq!(got.map(numbers), Ok(want.clone().collect()));
        }
    }
    // The second is cancelled, though it would never end.
    let stream = Source::range(0..3).or_else(Source::tick(Duration::ZERO, MS, 7i64)).to(Sink::to_vec(9));
    let (built, done) = stream.build(1);
    run(built, 1);
    assert_eq!(all(&done), [0, 1, 2]);
}

/// Each row differs from the one before in one place, by one.
fn is_walk(rows: &[Vec<i64>]) -> bool {
    rows.windows(2).all(|pair| {
        let steps: Vec<i64> = pair[0].iter().zip(&pair[1]).map(|(a, b)| b - a).collect();
        steps.iter().all(|step| [0, 1].contains(step)) && steps.iter().sum::<i64>() == 1
    })
}

#[test]
fn merge_latest_walks_from_row_to_row_to_the_last_of_each() {
    let ranges = [0..9, 100..104, 200..201];
    let judge = |rows: Vec<Vec<i64>>, way: &str| {
        assert!(is_walk(&rows), "{way}: {rows:?}");
        assert_eq!(rows.last(), Some(&vec![8, 103, 200]), "{way}");
        let first = &rows[0];
        let before = (first[0] + first[1] - 100 + first[2] - 200) as usize;
        assert_eq!(rows.len(), 9 + 4 + 1 - 2 - before, "{way}: each later element makes a row");
    };
    every_way(
        |g, cut| {
            let (ins, out) = g.fan_in("merge", 3, MergeLatest::new(|row: Vec<i64>| row));
            sources(g, cut, &ranges, ins);
            let (rows, done) = g.sink("all", Sink::to_vec(1_000));
            cut.wire(g, out, rows);
            done
        },
        |done, way| judge(done.take().expect("it has ended").expect("it has not failed"), way),
    );
    for seed in 0..FUZZ {
        let rows = drawn("merge_latest", &[], &ranges, seed).unwrap();
        let row = |row: &Value| match row {
            Value::List(list) => numbers(list.to_vec()),
            other => panic!("{other} is no row"),
        };
        judge(rows.iter().map(row).collect(), "drawn");
        assert_eq!(drawn("merge_latest", &[], &[0..9, 5..5], seed), Ok(vec![]), "no row without all");
        let eager = drawn("merge_latest", &[("eager", true.into())], &[0..9, 100..101], seed).unwrap();
        assert!(eager.len() <= 9);
    }
    on_each_dispatcher(|system| {
        let both = Source::range(0..50).async_boundary().merge_latest(Source::range(0..50).async_boundary());
        let (done, _) = both.to(Sink::to_vec(1_000)).run(system).unwrap();
        let rows = system.block_on(done).unwrap();
        assert!(is_walk(&rows));
        assert_eq!(rows.last(), Some(&vec![49, 49]));
    });
}

#[test]
fn with_latest_from_gives_each_element_once_with_one_that_had_come() {
    every_way(
        |g, cut| {
            let join = WithLatest::new(|a: i64, b: &i64| a * 1000 + b);
            let (first, second, out) = g.two_in("with", join);
            sources(g, cut, &[0..20, 100..110], vec![first, second]);
            sink(g, cut, "all", out)
        },
        |done, way| {
            let got = all(&done);
            assert_eq!(
                got.iter().map(|n| n / 1000).collect::<Vec<_>>(),
                (0..20).collect::<Vec<_>>(),
                "{way}"
            );
            let others: Vec<i64> = got.iter().map(|n| n % 1000).collect();
            assert!(others.is_sorted() && others.iter().all(|n| (100..110).contains(n)), "{way}: {others:?}");
        },
    );
    let none = Source::range(0..20).with_latest_from(Source::range(0..0), |a, b| a + b);
    for seed in 0..FUZZ {
        let (built, done) = none.clone().to(Sink::to_vec(100)).build(seed);
        run(built.fuzzed(seed), 1);
        assert_eq!(all(&done), [0; 0]);
    }
}

#[test]
fn zip_latest_walks_until_the_first_end() {
    every_way(
        |g, cut| {
            let (first, second, out) = g.two_in("zip", ZipLatest::new(|a: &i64, b: &i64| a * 1000 + b));
            sources(g, cut, &[0..20, 100..110], vec![first, second]);
            sink(g, cut, "all", out)
        },
        |done, way| {
            let rows: Vec<Vec<i64>> = all(&done).iter().map(|n| vec![n / 1000, n % 1000]).collect();
            assert!(is_walk(&rows), "{way}: {rows:?}");
            let last = rows.last().expect("a row");
            assert!(last[0] == 19 || last[1] == 109, "{way}: {last:?}");
        },
    );
    let typed = Source::range(0..1).zip_latest_with(Source::tick(MS, MS, 1i64), |a, b| a + b);
    let (built, done) = typed.to(Sink::to_vec(100)).build(1);
    run(built, 1);
    assert!(all(&done).len() <= 1, "it ends with the first");
}

#[test]
fn a_failed_input_fails_each_of_them_with_its_error() {
    let error = Some(Err(StreamError::Stage { node: "bad.try_map".into(), text: "three".into() }));
    macro_rules! fails {
        ($($junction:expr),+) => {$(
            let graph = Graph::new(|g| {
                let (ins, out) = g.fan_in("join", 2, $junction);
                let bad = g.source("bad", Source::range(0..9).try_map(|n| if n == 3 { Err("three") } else { Ok(n) }));
                let endless = g.source("endless", Source::tick(Duration::ZERO, MS, 100i64));
                [bad, endless].into_iter().zip(ins).for_each(|(source, port)| Cut(Some(1)).wire(g, source, port));
                let (port, done) = g.sink("count", Sink::ignore());
                g.wire(out, port);
                done
            });
            for seed in 0..FUZZ {
                let (built, done) = graph.build(seed).unwrap();
                run(built.fuzzed(seed), 2);
                assert_eq!(done.take(), error.clone().map(|e: Result<(), _>| e.map(|()| 0)));
            }
        )+};
    }
    fails!(
        MergeSorted::new(),
        MergePrioritized::new(&[1]),
        MergeLatest::new(|row: Vec<i64>| row),
        OrElse::new()
    );
}

#[test]
fn they_mean_the_same_on_every_dispatcher() {
    let numbers = |range: Range<i64>| Source::range(range).async_boundary_of(4);
    on_each_dispatcher(|system| {
        let weighed = numbers(0..100).merge_prioritized(numbers(100..200), [3, 1]).to(Sink::to_vec(1_000));
        let second = numbers(0..0).or_else(numbers(5..50)).to(Sink::to_vec(1_000));
        let with = numbers(0..100).with_latest_from(numbers(0..9), |a, _| a).to(Sink::to_vec(1_000));
        let zipped =
            numbers(0..50).zip_latest_with(numbers(0..50), |a, b| vec![*a, *b]).to(Sink::to_vec(1_000));
        assert_eq!(system.block_on(weighed.run(system).unwrap().0).map(sorted), Ok((0..200).collect()));
        assert_eq!(system.block_on(second.run(system).unwrap().0), Ok((5..50).collect()));
        assert_eq!(system.block_on(with.run(system).unwrap().0), Ok((0..100).collect()));
        assert!(is_walk(&system.block_on(zipped.run(system).unwrap().0).unwrap()));
        let restored = Graph::new(|g| {
            let (port, outs) = g.fan_out("part", 3, Partition::new(|n: &i64| (*n % 7 % 3) as usize));
            source(g, Cut(Some(2)), 0..200, port);
            let (ins, out) = g.fan_in("merge", 3, MergeSequence::new(|n: &i64| *n as u64));
            outs.into_iter().zip(ins).for_each(|(from, into)| g.wire_async(from, into, 2));
            sink(g, Cut(Some(2)), "all", out)
        });
        assert_eq!(system.block_on(restored.run(system).unwrap().0), Ok((0..200).collect()));
    });
}
