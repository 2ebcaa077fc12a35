//! What the steps of the tests came to: verdicts, counted tests, and the closing table.

use std::time::Duration;

/// How one step ended.
pub(crate) enum Verdict {
    /// All was well; the tests it counted, if it is a runner of tests.
    Passed(Option<Counts>),
    /// Something was wrong; what, in one line.
    Failed(String, Option<Counts>),
    /// The step did not run; why, and what would make it run.
    Skipped(String),
}

/// Tests that a runner reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Tests that passed.
    pub(crate) passed: u64,
    /// Tests that failed.
    pub(crate) failed: u64,
    /// Tests that their authors switched off.
    pub(crate) skipped: u64,
}

impl Counts {
    /// Adds up the closing lines (`test result: …`, `e2e: …`) of what a runner printed.
    pub(crate) fn of(stdout: &str) -> Counts {
        let closing =
            stdout.lines().filter(|line| line.starts_with("test result:") || line.starts_with("e2e:"));
        closing.fold(Counts::default(), |sum, line| {
            sum.plus(Counts {
                passed: number_before(line, "passed"),
                failed: number_before(line, "failed"),
                skipped: number_before(line, "ignored") + number_before(line, "skipped"),
            })
        })
    }

    /// Adds the tests of another runner.
    pub(crate) fn plus(self, other: Counts) -> Counts {
        Counts {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            skipped: self.skipped + other.skipped,
        }
    }

    /// How many tests ran.
    pub(crate) fn ran(&self) -> u64 {
        self.passed + self.failed
    }
}

/// Reads the number that stands before `word`, or nought.
fn number_before(line: &str, word: &str) -> u64 {
    let words: Vec<&str> = line.split([' ', ';', ',']).filter(|word| !word.is_empty()).collect();
    words.windows(2).find(|pair| pair[1] == word).and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
}

/// One line of the closing table.
pub(crate) struct Line {
    /// The step's name.
    pub(crate) step: &'static str,
    /// How it ended.
    pub(crate) verdict: Verdict,
    /// How long it took.
    pub(crate) took: Duration,
}

impl Line {
    fn row(&self) -> String {
        let (state, note) = match &self.verdict {
            Verdict::Passed(None) => ("passed", String::new()),
            Verdict::Passed(Some(counts)) => ("passed", format!("{} tests", counts.ran())),
            Verdict::Failed(why, _) => ("FAILED", why.lines().collect::<Vec<_>>().join("; ")),
            Verdict::Skipped(why) => ("skipped", why.clone()),
        };
        format!("{:<12} {state:<8} {:>8}  {note}", self.step, seconds(self.took)).trim_end().to_owned()
    }

    fn counts(&self) -> Option<Counts> {
        match &self.verdict {
            Verdict::Passed(counts) | Verdict::Failed(_, counts) => *counts,
            Verdict::Skipped(_) => None,
        }
    }

    /// Tells whether this line makes the whole run fail.
    pub(crate) fn failed(&self) -> bool {
        matches!(self.verdict, Verdict::Failed(..))
    }
}

/// Writes the closing table, then one closing line for each runner and one for the steps.
pub(crate) fn closing(lines: &[Line]) -> String {
    let mut text = format!("\n{:<12} {:<8} {:>8}\n", "step", "result", "time");
    for line in lines {
        text.push_str(&line.row());
        text.push('\n');
    }
    text.push('\n');
    for line in lines {
        if let Some(Counts { passed, failed, skipped }) = line.counts() {
            text.push_str(&format!("{}: {passed} passed, {failed} failed, {skipped} skipped\n", line.step));
        }
    }
    let failed = lines.iter().filter(|line| line.failed()).count();
    let skipped = lines.iter().filter(|line| matches!(line.verdict, Verdict::Skipped(_))).count();
    let passed = lines.len() - failed - skipped;
    text.push_str(&format!("steps: {passed} passed, {failed} failed, {skipped} skipped\n"));
    let total = lines.iter().map(|line| line.took).sum();
    text.push_str(&format!("All took {}.\n", seconds(total)));
    text
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_added_up() {
        let stdout = "running 3 tests\ntest a ... ok\n\
            test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
            test result: FAILED. 3 passed; 4 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0.00s\n\
            99 passed in a test's own words\n";
        assert_eq!(Counts::of(stdout), Counts { passed: 5, failed: 4, skipped: 1 });
        assert_eq!(
            Counts::of("e2e: 7 passed, 1 failed in 3.2 s\n"),
            Counts { passed: 7, failed: 1, skipped: 0 }
        );
        assert_eq!(Counts::of(""), Counts::default());
    }

    #[test]
    fn the_table_tells_apart_what_passed_failed_and_did_not_run() {
        let counts = Counts { passed: 2, failed: 0, skipped: 1 };
        let lines = [
            Line { step: "fmt", verdict: Verdict::Passed(None), took: Duration::from_millis(1500) },
            Line { step: "native", verdict: Verdict::Passed(Some(counts)), took: Duration::ZERO },
            Line { step: "docs", verdict: Verdict::Failed("broken link".into(), None), took: Duration::ZERO },
            Line { step: "deny", verdict: Verdict::Skipped("not there".into()), took: Duration::ZERO },
        ];
        let text = closing(&lines);
        assert!(text.contains("fmt          passed      1.5 s\n"), "{text}");
        assert!(text.contains("docs         FAILED      0.0 s  broken link\n"), "{text}");
        assert!(
            text.contains("\nnative: 2 passed, 0 failed, 1 skipped\nsteps: 2 passed, 1 failed, 1 skipped\n"),
            "{text}"
        );
    }
}
