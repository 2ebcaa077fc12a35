//! Golden logs: what happened in a run as text, compared with what is known to be right.
//!
//! The text is for people, the hash in its first line covers every event, also those that the text leaves out.

use std::fmt::Write;
use std::path::Path;

use super::readable::Names;
use crate::observe::Level;
use crate::system::ActorSystem;

/// The variable that asks for golden texts to be written anew.
const RENEW: &str = "FOOTLIGHTS_RENEW";
/// Lines around a difference.
const AROUND: usize = 3;

/// Gives the event log as text: a line with seed and hash, then one line per event that is kept, of this level and above.
///
/// # Examples
/// ```
/// use footlights::observe::Level;
/// use footlights::system::ActorSystem;
/// use footlights::testkit::readable_log;
/// let system = ActorSystem::builder("test").stepper().build()?;
/// system.run_until_quiet(10);
/// let text = readable_log(&system, Level::Rare);
/// assert!(text.starts_with("seed 0, log "));
/// assert!(text.contains("/user                Started"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn readable_log(system: &ActorSystem, level: Level) -> String {
    let names = Names::of(system);
    let mut text = format!("seed {}, log {:016x}\n", system.seed(), system.log_hash());
    for event in system.events(0, usize::MAX) {
        if event.kind.level() <= level {
            let _ = writeln!(text, "{}", names.line(&event));
        }
    }
    text
}

/// Compares the log of a run with a text in the source. Indentation and empty lines at the ends do not count.
///
/// # Panics
/// If they differ; shows where. With `FOOTLIGHTS_RENEW=1` it shows the whole new text, to be pasted.
///
/// # Examples
/// ```
/// use footlights::observe::Level;
/// use footlights::system::ActorSystem;
/// use footlights::testkit::{assert_log, readable_log};
/// let run = || {
///     let system = ActorSystem::builder("test").stepper().build().expect("good settings");
///     system.run_until_quiet(10);
///     system
/// };
/// assert_log(&run(), Level::Rare, &readable_log(&run(), Level::Rare));
/// ```
#[track_caller]
pub fn assert_log(system: &ActorSystem, level: Level, expected: &str) {
    let log = readable_log(system, level);
    if let Some(difference) = difference(expected, &log) {
        match std::env::var_os(RENEW) {
            Some(_) => panic!("the new log, to be pasted:\n{log}"),
            None => panic!("the log has changed; {RENEW}=1 shows the whole new one:\n{difference}"),
        }
    }
}

/// Compares the log of a run with the text in a file; a relative path begins at the package. With `FOOTLIGHTS_RENEW=1` the
/// file is written instead.
///
/// # Panics
/// If they differ, or the file cannot be read or written.
#[track_caller]
pub fn assert_log_file(system: &ActorSystem, level: Level, file: impl AsRef<Path>) {
    let (log, file) = (readable_log(system, level), file.as_ref());
    if std::env::var_os(RENEW).is_some() {
        if let Err(error) = std::fs::write(file, &log) {
            panic!("{} cannot be written: {error}", file.display());
        }
        return;
    }
    match std::fs::read_to_string(file) {
        Err(error) => panic!("{} cannot be read, {RENEW}=1 writes it: {error}", file.display()),
        Ok(expected) => {
            if let Some(difference) = difference(&expected, &log) {
                panic!("{} has changed; {RENEW}=1 writes it anew:\n{difference}", file.display());
            }
        }
    }
}

/// Shows where two texts differ, or nothing if they say the same.
fn difference(expected: &str, got: &str) -> Option<String> {
    let lines =
        |text: &'_ str| -> Vec<String> { text.trim().lines().map(|line| line.trim().to_owned()).collect() };
    let (old, new) = (lines(expected), lines(got));
    if old == new {
        return None;
    }
    let same = |(a, b): &(&String, &String)| a == b;
    let head = old.iter().zip(&new).take_while(same).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(same).count();
    let mut text = String::new();
    let mut show = |mark: char, lines: &[String]| {
        for line in lines {
            let _ = writeln!(text, "{mark} {line}");
        }
    };
    show(' ', &old[head.saturating_sub(AROUND)..head]);
    show('-', &old[head..old.len() - tail]);
    show('+', &new[head..new.len() - tail]);
    show(' ', &old[old.len() - tail..(old.len() - tail + AROUND).min(old.len())]);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn a_difference_is_shown_with_what_is_around_it() {
        assert_eq!(difference("\n  a\n  b\n", "a\nb"), None);
        let shown = difference("1\n2\n3\n4\n5\n6", "1\n2\n3\n4\nnew\n6").expect("they differ");
        assert_eq!(shown, "  2\n  3\n  4\n- 5\n+ new\n  6\n");
        assert_eq!(difference("a\na", "a").as_deref(), Some("  a\n- a\n"));
        assert_eq!(difference("", "a").as_deref(), Some("+ a\n"));
    }
}
