//! The rules of the code that a compiler does not check: who may import whom, sizes, module docs, banned names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Who may import what, one line per room; a room is a file or a folder of `src/`, the longest match counts. `code` (a
/// macro) and the room itself are free for everybody.
///
/// `observe` reports plain data of two rooms, supervise's `Decision` and mailbox's `OverflowStrategy`; so it stands above
/// them, and neither of them imports it.
const ARROWS: &[(&str, &[&str])] = &[
    ("code", &[]),
    ("id", &[]),
    ("sync", &[]),
    ("rng", &[]),
    ("time", &["id", "sync"]),
    ("supervise", &["id", "rng", "time"]),
    ("mailbox", &["id", "sync", "time"]),
    ("observe", &["id", "sync", "time", "supervise", "mailbox"]),
    ("dispatch", &["id", "sync", "rng", "time", "observe"]),
    ("actor", &["id", "sync", "rng", "time", "observe", "dispatch", "mailbox", "supervise"]),
    ("pattern", &["id", "sync", "rng", "time", "observe", "dispatch", "mailbox", "supervise", "actor"]),
    (
        "routing",
        &["id", "sync", "rng", "time", "observe", "dispatch", "mailbox", "supervise", "actor", "pattern"],
    ),
    (
        "system",
        &[
            "id",
            "sync",
            "rng",
            "time",
            "observe",
            "dispatch",
            "mailbox",
            "supervise",
            "actor",
            "pattern",
            "routing",
        ],
    ),
    // Streams know no actor, but for the page that runs islands as actors and the one that asks one.
    ("stream", &["id", "sync", "rng", "time", "observe"]),
    ("stream/ask", &["time", "actor", "pattern"]),
    // An error tells why an ask failed.
    ("stream/signal", &["pattern"]),
    (
        "stream/materialize",
        &["id", "sync", "rng", "time", "observe", "supervise", "actor", "pattern", "system"],
    ),
    (
        "scenario",
        &[
            "id",
            "sync",
            "rng",
            "time",
            "observe",
            "mailbox",
            "supervise",
            "actor",
            "pattern",
            "routing",
            "system",
            "stream",
        ],
    ),
    (
        "testkit",
        &["id", "sync", "rng", "time", "observe", "mailbox", "supervise", "actor", "pattern", "system"],
    ),
    // Pages of words and examples only.
    ("guide", &[]),
    ("lib", &[]),
];

/// Lines of a file: a longer one is reported, one over the limit is refused.
const LONG: usize = 300;
const LIMIT: usize = 500;

/// Names that may stand only in certain files, with the reason.
const BANNED: &[(&str, &[&str], &str)] = &[
    ("std::thread::spawn", &[], "threads belong to the pool"),
    ("thread::Builder", &["dispatch/pool.rs"], "threads belong to the pool"),
    (
        "thread::current",
        &["dispatch/pool.rs", "dispatch/running.rs"],
        "nothing may be decided by the thread that runs it",
    ),
    ("thread::sleep", &["dispatch/pool.rs"], "only `block` may occupy a thread"),
    ("thread_local!", &[], "there is no ambient context"),
    ("Instant::now", &["time/system.rs"], "there is one clock"),
    ("SystemTime", &[], "there is no wall clock"),
    ("HashMap", &[], "its order is random"),
    ("HashSet", &[], "its order is random"),
    ("catch_unwind", &["actor/failure.rs"], "panics are caught in one place"),
    ("unsafe ", &[], "no unsafe code yet; see STYLE for the two files that may"),
    ("println!", &["testkit/each_dispatcher.rs"], "the runtime never prints"),
    ("todo!", &[], "an unfinished place has an issue, not a panic"),
    (
        "target_family",
        &[
            "dispatch/mod.rs",
            "time/mod.rs",
            "sync.rs",
            "system/builder.rs",
            "system/shutdown.rs",
            "system/stepping.rs",
            "testkit/each_dispatcher.rs",
            "testkit/probe.rs",
        ],
        "the seam is `mod pool` and the system clock, and those who match on the two dispatchers",
    ),
];

struct Source {
    /// Below `src/`, with slashes.
    path: String,
    text: String,
}

impl Source {
    /// Gives the lines that are code, with their numbers; comments and the tests at the end are left out.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let before_tests =
            |line: &&str| !line.starts_with("#[cfg(test)]") && !line.starts_with("#[cfg(all(test");
        let is_test_file = self.path.ends_with("tests.rs");
        let lines =
            self.text.lines().take_while(before_tests).take(if is_test_file { 0 } else { usize::MAX });
        lines.enumerate().map(|(n, line)| (n + 1, line.split("//").next().unwrap_or_default()))
    }

    fn room(&self) -> &'static str {
        let path = self.path.trim_end_matches(".rs");
        let holds = |room: &&&str| path == **room || path.starts_with(&format!("{room}/"));
        let rooms = ARROWS.iter().map(|(room, _)| room).filter(holds);
        rooms.max_by_key(|room| room.len()).unwrap_or_else(|| panic!("{} stands in no room", self.path))
    }
}

fn sources() -> Vec<Source> {
    fn read(folder: &Path, root: &Path, found: &mut Vec<Source>) {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                read(&path, root, found);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                let below = path.strip_prefix(root).expect("below the root");
                let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
                let text = fs::read_to_string(&path).expect("a text");
                found.push(Source { path: parts.join("/"), text });
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    read(&root, &root, &mut found);
    assert!(found.len() > 30, "the sources were found");
    found
}

/// Gives the rooms that a piece of code names by `crate::…`.
fn imported(code: &str) -> Vec<String> {
    let mut rooms = Vec::new();
    for (at, found) in code.match_indices("crate::") {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &code[at + found.len()..];
        if let Some(group) = rest.strip_prefix('{') {
            // The names at the first level of a group.
            let mut depth = 0;
            let mut name = String::new();
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => rooms.push(std::mem::take(&mut name)),
                    c if depth == 0 => name.push(c),
                    _ => {}
                }
            }
            rooms.push(name);
        } else {
            rooms.push(rest.to_owned());
        }
    }
    let first = |room: String| {
        room.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
    };
    rooms.into_iter().map(first).filter(|room| !room.is_empty()).collect()
}

#[test]
fn imports_follow_the_arrows() {
    let allowed: BTreeMap<_, _> = ARROWS.iter().copied().collect();
    let tops: Vec<&str> = ARROWS.iter().map(|(room, _)| *room).filter(|room| !room.contains('/')).collect();
    let mut wrong = Vec::new();
    for source in sources() {
        let room = source.room();
        let own = room.split('/').next().unwrap_or(room);
        // A group of imports may span lines, so the whole file is looked at as one text.
        let code: String = source.code().map(|(_, line)| format!("{line}\n")).collect();
        for target in imported(&code) {
            let free = target == own || target == "code" || !tops.contains(&target.as_str());
            if !free && !allowed[room].contains(&target.as_str()) {
                wrong.push(format!("{} imports {target}, which {room} may not", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_arrow_of_the_table_goes_in_a_circle() {
    let allowed: BTreeMap<_, _> = ARROWS.iter().copied().collect();
    for (room, targets) in ARROWS.iter().filter(|(room, _)| !room.contains('/')) {
        let mut reached: Vec<&str> = targets.to_vec();
        let mut next = 0;
        while next < reached.len() {
            for target in allowed[reached[next]] {
                if !reached.contains(target) {
                    reached.push(target);
                }
            }
            next += 1;
        }
        assert!(!reached.contains(room), "{room} reaches itself");
    }
}

#[test]
fn the_reader_of_imports_sees_them_all() {
    let code = "use crate::{actor::{A, cell::B}, id::C,\n    time};\nlet x = crate::sync::D; mycrate::no::E; crate::rng::{F, G}";
    assert_eq!(imported(code), ["actor", "id", "time", "sync", "rng"]);
}

#[test]
fn files_are_of_a_size_that_can_be_read() {
    let mut too_long = Vec::new();
    for source in sources() {
        let lines = source.text.lines().count();
        if lines > LIMIT {
            too_long.push(format!("{} has {lines} lines", source.path));
        } else if lines > LONG {
            println!("long, but allowed: {} with {lines} lines", source.path);
        }
    }
    assert!(too_long.is_empty(), "over {LIMIT} lines: {too_long:#?}");
}

#[test]
fn every_file_says_first_what_it_is() {
    let silent: Vec<String> = sources()
        .into_iter()
        .filter(|source| !source.text.starts_with("//! "))
        .map(|source| source.path)
        .collect();
    assert!(silent.is_empty(), "without a module doc in the first line: {silent:#?}");
}

#[test]
fn banned_names_stand_only_where_they_may() {
    let mut wrong = Vec::new();
    for source in sources() {
        for (n, line) in source.code() {
            for (name, places, why) in BANNED {
                if line.contains(name) && !places.contains(&source.path.as_str()) {
                    wrong.push(format!("{}:{n}: {name} ({why})", source.path));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_place_that_is_allowed_a_banned_name_uses_it() {
    let sources = sources();
    for (name, places, _) in BANNED {
        for place in *places {
            let used = sources.iter().any(|source| source.path == *place && source.text.contains(name));
            assert!(used, "{place} no longer needs {name}: take it off the list");
        }
    }
}

/// Variants of errors that no test can provoke, with the reason.
const UNPROVOKED: &[(&str, &str)] = &[
    ("BuildError::Thread", "the machine would have to refuse a thread"),
    ("BuildError::NoThreads", "this machine has threads; `wasm.rs` provokes it in a browser"),
    ("SpawnError::NoThread", "the machine would have to refuse a thread"),
    ("RunError::Stream", "a plan that was validated has sound streams"),
    ("RunError::Incomplete", "a plan that was validated is complete in time"),
    ("ChangeError::Spawn", "a pool whose routees cannot be made does not start"),
];

#[test]
fn every_variant_of_an_error_is_provoked_by_a_test() {
    fn read(folder: &Path, all: &mut String) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => read(&path, all),
                false => all.push_str(&fs::read_to_string(&path).expect("a text")),
            }
        }
    }
    let sources = sources();
    let mut tests = String::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), &mut tests);
    // This file names what is not provoked.
    let tests = tests.replace(include_str!("tidy.rs"), "");
    let inside = sources.iter().filter_map(|source| source.text.split_once("#[cfg(test)]"));
    let tests = inside.fold(tests, |all, (_, own)| all + own);
    let (mut found, mut missing) = (0, Vec::new());
    for (name, variant) in sources.iter().flat_map(|source| variants_of_errors(&source.text)) {
        found += 1;
        let name = format!("{name}::{variant}");
        let excused = UNPROVOKED.iter().any(|(unprovoked, _)| *unprovoked == name);
        if excused == tests.contains(&name) {
            missing.push(name);
        }
    }
    assert!(found > 40, "the errors were found");
    assert!(missing.is_empty(), "not provoked, or excused although provoked: {missing:#?}");
}

/// Lists the variants of a text's public errors, with the names of these.
fn variants_of_errors(text: &str) -> Vec<(&str, &str)> {
    let mut variants = Vec::new();
    let mut error = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("pub enum ") {
            let name = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            error = name.ends_with("Error").then_some(name);
        } else if line.starts_with('}') {
            error = None;
        } else if let (Some(name), Some(rest)) = (error, line.strip_prefix("    "))
            && rest.starts_with(|c: char| c.is_ascii_uppercase())
        {
            let variant = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            variants.push((name, variant));
        }
    }
    variants
}
