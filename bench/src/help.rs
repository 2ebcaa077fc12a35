//! The texts of `--help`.

/// How to use the binary.
pub(crate) const ALL: &str = "\
Measures Footlights on this machine.

Usage:
  footlights-bench list                      the workloads, their sizes and parameters
  footlights-bench run WORKLOAD [options]    runs one workload
  footlights-bench scenario FILE [options]   runs a scenario file
  footlights-bench experiment E1 [options]   runs stream experiments: claims about ratios of times
  footlights-bench SUBCOMMAND --help         what a subcommand takes

Build it in release: cargo run --release -p footlights-bench -- list
";

/// How to use `run`.
pub(crate) const RUN: &str = "\
Runs one workload: a warm-up at a tenth of the size, then the rounds.
Each round is one JSON line on standard output; the rest goes to standard error.

Usage: footlights-bench run WORKLOAD [options]

  WORKLOAD          an id or a name of `footlights-bench list`, such as W1 or pingpong-pairs
  --n N             how much to count (10_000_000 and 10,000,000 are fine)
  --param K         the workload's first parameter, or name=value[,name=value]
  --workers W       threads, 1 to 64 (default: the machine's cores)
  --throughput T    messages that an actor handles in a row (default 64)
  --rounds R        rounds (default 1)
  --json            no header, no progress, no summary
";

/// How to use `experiment`.
pub(crate) const EXPERIMENT: &str = "\
Runs stream experiments: the same work wired in several ways (arms), and claims about the ratios of their times.
A line of JSON for each arm, then one for each claim; the exit code is 1 if a claim is outside of its limits.

Usage: footlights-bench experiment NAME... [options]

  NAME              an experiment of `footlights-bench list`, such as E1; or all
  --virtual         in virtual time: exact, and the same on every machine
  --workers K       in place of the experiment's workers, 1 to 64
  --n N             elements in place of the experiment's; in virtual time the limits hold for its own number only
  --json            no words
";

/// How to use `list`.
pub(crate) const LIST: &str = "\
Lists the workloads, their sizes and parameters.

Usage: footlights-bench list
";

/// How to use `scenario`.
pub(crate) const SCENARIO: &str = "\
Runs a scenario file until nothing is left to do, and prints its ledger.

Usage: footlights-bench scenario FILE [options]

  FILE              a scenario in JSON, as the playground exports it
  --dispatcher D    pool: threads and real time (default); stepper: virtual time, with a log hash
  --seed S          in place of the file's seed
  --workers W       in place of the file's workers, 1 to 64
  --until TIME      ends the run at this moment of its time: 90s, 1.5s, 200ms, 2m
  --json            one JSON line, nothing else
";
