//! The experiments and their limits. A limit in virtual time is the arithmetic of the experiment; natively it is the claim
//! less what a machine may take away.

use super::arms::*;
use super::{Arm, Claim, Experiment, Start};

const MORE: f64 = f64::INFINITY;

const fn arm(name: &'static str, start: Start) -> Arm {
    Arm { name, workers: None, start, copies: 1 }
}

impl Arm {
    const fn copies(self, copies: u64) -> Arm {
        Arm { copies, ..self }
    }

    const fn workers(self, workers: usize) -> Arm {
        Arm { workers: Some(workers), ..self }
    }
}

const fn claim(text: &'static str, measure: fn(&[f64]) -> f64, exact: (f64, f64)) -> Claim {
    Claim { text, measure, exact, native: None }
}

impl Claim {
    const fn native(self, least: f64, most: f64) -> Claim {
        Claim { native: Some((least, most)), ..self }
    }
}

fn first_to_second(secs: &[f64]) -> f64 {
    secs[0] / secs[1]
}

fn first_to_third(secs: &[f64]) -> f64 {
    secs[0] / secs[2]
}

fn second_to_first(secs: &[f64]) -> f64 {
    secs[1] / secs[0]
}

fn third_to_second(secs: &[f64]) -> f64 {
    secs[2] / secs[1]
}

fn second(secs: &[f64]) -> f64 {
    secs[1]
}

/// All experiments that there are so far.
pub const ALL: &[Experiment] = &[
    Experiment {
        id: "E1",
        about: "an async boundary between two stages of 10 ms, against one fused island",
        workers: 2,
        n: 1_000,
        n_native: 100,
        arms: &[arm("fused", fused), arm("boundary", cut), arm("boundary, 1 worker", cut).workers(1)],
        claims: &[
            claim("fused to boundary", first_to_second, (1.995, 2.0)).native(1.8, 2.2),
            claim("seconds with the boundary", second, (10.01, 10.01)),
            claim("fused to boundary on one worker: no gain", first_to_third, (1.0, 1.0)).native(0.9, 1.1),
        ],
    },
    Experiment {
        id: "E2",
        about: "map_async(1) twice is as good as a boundary",
        workers: 2,
        n: 1_000,
        n_native: 100,
        arms: &[arm("boundary", cut), arm("map_async(1) twice", tasks_of_1_twice)],
        claims: &[claim("tasks to boundary", second_to_first, (1.0, 1.0)).native(0.95, 1.05)],
    },
    Experiment {
        id: "E3",
        about: "a boundary between two map_async(1) gains nothing",
        workers: 2,
        n: 1_000,
        n_native: 100,
        arms: &[arm("without", tasks_of_1_twice), arm("with a boundary", tasks_of_1_twice_cut)],
        claims: &[claim("with to without", second_to_first, (1.0, 1.0)).native(0.97, 1.03)],
    },
    Experiment {
        id: "E4",
        about: "map_async(2) twice: four times as fast as fused, where there are four workers",
        workers: 4,
        n: 1_000,
        n_native: 100,
        arms: &[arm("fused", fused), arm("map_async(2) twice", tasks_of_2_twice)],
        claims: &[claim("fused to tasks", first_to_second, (3.99, 4.0))],
    },
    Experiment {
        id: "E5",
        about: "work on a core, p at a time: linear up to the workers, then flat",
        workers: 4,
        n: 1_000,
        n_native: 100,
        arms: &[
            arm("p = 1", tasks_of::<1>),
            arm("p = 2", tasks_of::<2>),
            arm("p = 4", tasks_of::<4>),
            arm("p = 8", tasks_of::<8>),
            arm("p = 8, 8 workers", tasks_of::<8>).workers(8),
        ],
        claims: &[
            claim("p = 1 to p = 2", first_to_second, (2.0, 2.0)).native(1.8, 2.2),
            claim("p = 1 to p = 4", first_to_third, (4.0, 4.0)),
            claim("p = 4 to p = 8: flat", |secs| secs[2] / secs[3], (1.0, 1.0)).native(0.95, 1.05),
            claim("p = 1 to p = 8 on 8 workers", |secs| secs[0] / secs[4], (8.0, 8.0)),
        ],
    },
    Experiment {
        id: "E6",
        about: "calls of 0 to 100 ms that take no worker: one at a time against a thousand",
        workers: 1,
        n: 1_000,
        n_native: 1_000,
        arms: &[arm("p = 1", calls_of::<1>), arm("p = 1000", calls_of::<1000>)],
        claims: &[claim("p = 1 to p = 1000", first_to_second, (450.0, MORE)).native(400.0, MORE)],
    },
    Experiment {
        id: "E9",
        about: "work of 0 to 100 ms: results as they come against results in order",
        workers: 16,
        n: 1_000,
        n_native: 100,
        arms: &[
            arm("p = 4, in order", uneven_in_order::<4>),
            arm("p = 4, as they come", uneven_as_they_come::<4>),
            arm("p = 8, in order", uneven_in_order::<8>),
            arm("p = 8, as they come", uneven_as_they_come::<8>),
            arm("p = 16, in order", uneven_in_order::<16>),
            arm("p = 16, as they come", uneven_as_they_come::<16>),
        ],
        claims: &[
            claim("p = 4, in order to as they come", first_to_second, (1.28, 1.40)),
            claim("p = 8, in order to as they come", |secs| secs[2] / secs[3], (1.41, 1.57)),
            claim("p = 16, in order to as they come", |secs| secs[4] / secs[5], (1.52, 1.69)),
        ],
    },
    Experiment {
        id: "E10",
        about: "four stages of calls of 0 to 100 ms: boundaries of 16 smooth the waits",
        workers: 16,
        n: 1_000,
        n_native: 100,
        arms: &[
            arm("p = 1", four_calls::<1>),
            arm("p = 1, boundaries", four_calls_cut::<1>),
            arm("p = 4", four_calls::<4>),
            arm("p = 4, boundaries", four_calls_cut::<4>),
        ],
        claims: &[
            claim("p = 1, without to with", first_to_second, (1.42, 1.49)).native(1.2, MORE),
            claim("p = 4, without to with", |secs| secs[2] / secs[3], (1.16, 1.22)),
        ],
    },
    Experiment {
        id: "E11",
        about: "it is the buffer that helps: buffer(16) without boundaries is as good",
        workers: 16,
        n: 1_000,
        n_native: 100,
        arms: &[
            arm("p = 1", four_calls::<1>),
            arm("boundaries", four_calls_cut::<1>),
            arm("buffers", four_calls_buffered::<1>),
        ],
        claims: &[claim("buffers to boundaries", third_to_second, (0.98, 1.02)).native(0.9, 1.1)],
    },
    Experiment {
        id: "E12",
        about: "between stages that always take as long, buffers gain nothing",
        workers: 4,
        n: 1_000,
        n_native: 100,
        arms: &[arm("without", four_even_calls), arm("with buffers", four_even_calls_buffered)],
        claims: &[
            claim("with to without", second_to_first, (1.0, 1.0)).native(0.98, 1.02),
            claim("seconds with buffers", second, (10.03, 10.03)),
        ],
    },
    Experiment {
        id: "E13",
        about: "pages of 100 after a fetch of 1 s, a consumer of 10 ms: a buffer as large as a page hides the fetches",
        workers: 2,
        n: 1_000,
        n_native: 1_000,
        arms: &[arm("ring of 16", pages_behind_a_ring), arm("and buffer(128)", pages_behind_a_buffer)],
        claims: &[
            claim("seconds with the ring alone", |secs| secs[0], (18.3, 18.7)),
            claim("seconds with the buffer", second, (11.0, 11.0)),
            claim("ring to buffer", first_to_second, (1.6, 1.75)).native(1.5, MORE),
        ],
    },
    Experiment {
        id: "E15",
        about: "a fused broadcast to four lanes does four times the work, one after the other",
        workers: 4,
        n: 1_000,
        n_native: 50,
        arms: &[arm("one map", one_spin), arm("four lanes, fused", broadcast_fused).copies(4)],
        claims: &[claim("four lanes to one map", second_to_first, (4.0, 4.0)).native(3.8, 4.2)],
    },
    Experiment {
        id: "E16",
        about: "with a boundary on each lane the four lanes run beside each other",
        workers: 4,
        n: 1_000,
        n_native: 50,
        arms: &[arm("one map", one_spin), arm("four lanes, boundaries", broadcast_cut).copies(4)],
        claims: &[claim("four lanes to one map", second_to_first, (1.0, 1.01))],
    },
    Experiment {
        id: "E17",
        about: "a partition shares the work among the lanes instead of copying it",
        workers: 4,
        n: 1_000,
        n_native: 100,
        arms: &[arm("broadcast", broadcast_cut).copies(4), arm("partition", partition_even)],
        claims: &[claim("broadcast to partition", first_to_second, (3.96, 4.04))],
    },
    Experiment {
        id: "E18",
        about: "every fourth element takes ten times as long: a balance gives it to whoever is free",
        workers: 4,
        n: 1_000,
        n_native: 100,
        arms: &[arm("partition", partition_uneven), arm("balance", balance_uneven)],
        claims: &[
            claim("partition to balance", first_to_second, (3.0, 3.1)),
            claim("seconds with the balance", second, (8.12, 8.3)),
        ],
    },
    Experiment {
        id: "E24",
        about: "two parallel steps and a join, twice: 10 and 30 ms, then 20 and 5 ms",
        workers: 4,
        n: 100,
        n_native: 100,
        arms: &[arm("fused", steps_fused), arm("boundaries", steps_cut)],
        claims: &[
            claim("fused to boundaries", first_to_second, (2.1, 2.2)),
            claim("seconds with boundaries", second, (3.02, 3.02)),
        ],
    },
];

/// Finds an experiment by its number, such as `E1` or `e1`.
pub fn find(id: &str) -> Option<&'static Experiment> {
    ALL.iter().find(|e| e.id.eq_ignore_ascii_case(id))
}

#[cfg(test)]
mod tests {
    use super::super::Ask;
    use super::*;

    #[test]
    fn every_experiment_comes_out_in_virtual_time() {
        let ask = Ask { is_virtual: true, workers: None, n: None, json: true };
        for experiment in ALL {
            let mut results = Vec::new();
            let outcome = experiment.run(&ask, &mut results, &mut Vec::new());
            let text = String::from_utf8(results).expect("it is text");
            assert!(outcome.is_ok(), "{outcome:?}\n{text}");
            assert_eq!(text.lines().count(), experiment.arms.len() + experiment.claims.len(), "{text}");
        }
    }

    #[test]
    fn a_claim_that_does_not_hold_is_a_failure() {
        const WRONG: Experiment = Experiment {
            id: "E0",
            about: "nothing",
            workers: 1,
            n: 3,
            n_native: 3,
            arms: &[arm("one", one_spin), arm("two", fused)],
            claims: &[claim("two to one", second_to_first, (1.0, 1.5))],
        };
        let ask = Ask { is_virtual: true, workers: None, n: None, json: true };
        let refuted = WRONG.run(&ask, &mut Vec::new(), &mut Vec::new()).expect_err("it is twice as long");
        assert!(refuted.to_string().contains("measured 2.000, expected 1 to 1.5"), "{refuted}");
    }
}
