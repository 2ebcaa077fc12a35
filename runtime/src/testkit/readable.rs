//! Events as lines for people: paths in place of numbers, decisions in words.
//!
//! The runtime itself never formats; this is for failing tests and golden logs.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::id::ActorId;
use crate::observe::{Event, EventKind};
use crate::system::ActorSystem;

/// Events shown when an expectation fails.
const SHOWN: u64 = 20;

/// The paths of a system's actors, the gone ones included as far as the log still knows them.
#[derive(Clone, Debug)]
pub(crate) struct Names(BTreeMap<ActorId, Arc<str>>);

impl Names {
    pub(crate) fn of(system: &ActorSystem) -> Self {
        let spawned = system.rare_events(0).0.into_iter().filter_map(|event| match event.kind {
            EventKind::Spawned { path, .. } => Some((event.actor, path)),
            _ => None,
        });
        let living = system.snapshot().actors.into_iter().map(|actor| (actor.id, actor.path));
        Names(spawned.chain(living).collect())
    }

    /// Gives an actor's path.
    pub(crate) fn path(&self, actor: ActorId) -> String {
        match self.0.get(&actor) {
            _ if actor == ActorId::NOBODY => "outside".to_owned(),
            Some(path) if path.is_empty() => "/".to_owned(),
            Some(path) => path.to_string(),
            None => actor.to_string(),
        }
    }

    /// Gives an event in one line.
    pub(crate) fn line(&self, event: &Event) -> String {
        let what = match &event.kind {
            EventKind::Decided(decided) => format!("Decided on {}: {}", decided.path, decided.why()),
            EventKind::Command { what } => format!("Command: {what}"),
            other => self.with_paths(&format!("{other:?}")),
        };
        let (at, who) = (event.at - crate::time::Instant::ZERO, self.path(event.actor));
        format!("{:>12}  {who:<20} {what}", format!("{at:?}"))
    }

    /// Replaces the numbers of actors by their paths, outside of quoted texts.
    fn with_paths(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for (n, part) in text.split('"').enumerate() {
            if n > 0 {
                out.push('"');
            }
            if n % 2 == 1 {
                out.push_str(part);
                continue;
            }
            for word in part.split_inclusive(|c: char| !c.is_alphanumeric()) {
                let id = word.trim_end_matches(|c: char| !c.is_alphanumeric());
                match id.strip_prefix('a').and_then(|digits| digits.parse().ok()) {
                    Some(number) => {
                        out.push_str(&self.path(ActorId(number)));
                        out.push_str(&word[id.len()..]);
                    }
                    None => out.push_str(word),
                }
            }
        }
        out
    }
}

/// Gives the last events of a system, for the message of a failing test.
pub(crate) fn last_events(system: &ActorSystem) -> String {
    let (_, next) = system.rare_events(u64::MAX);
    let names = Names::of(system);
    let events = system.events(next.saturating_sub(SHOWN), SHOWN as usize);
    let lines: String = events.iter().map(|event| format!("\n{}", names.line(event))).collect();
    format!("the last of {next} events:{lines}")
}
