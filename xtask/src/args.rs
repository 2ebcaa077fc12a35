//! Reads the options of one command: no option is ignored, and a misspelt one is answered with the nearest name.

use crate::error::{Error, Result};

/// One option that a command knows.
pub(crate) struct Opt {
    /// Its name with the dashes, as `--port`.
    pub(crate) name: &'static str,
    /// What its value is called in messages, or `None` for a switch.
    pub(crate) value: Option<&'static str>,
}

/// The options that were given, in order.
#[derive(Debug)]
pub(crate) struct Given(Vec<(&'static str, String)>);

impl Given {
    /// Tells whether the switch or option `name` was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(given, _)| *given == name)
    }

    /// Hands out the value of `name`, if it was given.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(given, _)| *given == name).map(|(_, value)| value.as_str())
    }
}

/// Reads `argv` by the table `known`; `command` is named in the messages.
///
/// # Errors
///
/// An unknown option, a missing or needless value, an option given twice, or a stray argument.
pub(crate) fn parse(command: &str, known: &[Opt], argv: &[String]) -> Result<Given> {
    let mut given = Given(Vec::new());
    let mut rest = argv.iter();
    while let Some(arg) = rest.next() {
        let (name, inline) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (arg.as_str(), None),
        };
        let opt = known.iter().find(|opt| opt.name == name).ok_or_else(|| unknown(command, known, name))?;
        if given.has(opt.name) {
            return Err(Error::new(format!("{name} was given twice")));
        }
        let value = match (opt.value, inline) {
            (None, None) => String::new(),
            (None, Some(_)) => return Err(Error::new(format!("{name} takes no value"))),
            (Some(_), Some(value)) => value,
            (Some(what), None) => rest
                .next()
                .cloned()
                .ok_or_else(|| Error::new(format!("{name} needs a value: {name} {what}")))?,
        };
        given.0.push((opt.name, value));
    }
    Ok(given)
}

fn unknown(command: &str, known: &[Opt], name: &str) -> Error {
    let what = if name.starts_with('-') { "unknown option" } else { "unexpected argument" };
    let names: Vec<&str> = known.iter().map(|opt| opt.name).collect();
    let hint = nearest(name, &names).map_or(String::new(), |near| format!("; did you mean {near}?"));
    Error::new(format!("{what} {name}{hint}")).mend(format!("cargo xtask help {command}"))
}

/// Finds the name in `names` that is closest to `word`, if any is close enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, names: &[&'a str]) -> Option<&'a str> {
    let near = names.iter().map(|name| (distance(word, name), *name)).min()?;
    (near.0 <= near.1.len() / 2).then_some(near.1)
}

/// Counts the insertions, deletions and replacements between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [Opt; 2] =
        [Opt { name: "--port", value: Some("N") }, Opt { name: "--no-open", value: None }];

    fn check(argv: &[&str]) -> std::result::Result<Given, String> {
        let argv: Vec<String> = argv.iter().map(|arg| (*arg).to_owned()).collect();
        parse("play", &KNOWN, &argv).map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_read_with_and_without_an_equals_sign() {
        assert_eq!(check(&["--port", "1"]).unwrap().value("--port"), Some("1"));
        let given = check(&["--port=1", "--no-open"]).unwrap();
        assert_eq!((given.value("--port"), given.has("--no-open")), (Some("1"), true));
        assert!(!check(&[]).unwrap().has("--port"));
    }

    #[test]
    fn every_wrong_option_is_named() {
        assert!(check(&["--prot", "1"]).unwrap_err().contains("unknown option --prot; did you mean --port?"));
        assert!(check(&["port"]).unwrap_err().contains("unexpected argument port; did you mean --port?"));
        assert!(check(&["--xyzzy"]).unwrap_err().starts_with("unknown option --xyzzy\n"));
        assert_eq!(check(&["--port"]).unwrap_err(), "--port needs a value: --port N");
        assert_eq!(check(&["--no-open=1"]).unwrap_err(), "--no-open takes no value");
        assert_eq!(check(&["--port=1", "--port=2"]).unwrap_err(), "--port was given twice");
    }

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("paly", "play"), 2);
        assert_eq!(nearest("tets", &["play", "test"]), Some("test"));
        assert_eq!(nearest("frobnicate", &["play", "test"]), None);
    }
}
