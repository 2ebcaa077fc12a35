//! The schema of the document: which kinds of node there are, their ports and their settings.
//!
//! One static table serves the palette, the forms, the refusals while wiring, validation and the builder, so that none of
//! them can know a kind or a bound that another does not.
//!
//! I1 a kind's name, a port's name and a parameter's key, once released, keep their meaning: documents live longer than code.
//! I2 every default lies within the bounds of its own type (a test says so).
//! It does not know positions, colours or locales; `title` and `doc` are the English texts.

mod actors;
mod derived;
mod machine;
mod param;
mod routers;
mod streams;
mod supervision;
mod system;

pub use param::{Choice, Condition, Param, ParamType, Preset, Scale};
pub use system::{BUILT_IN, DISPATCHER, DISPATCHERS, DISPATCHERS_MAX, SETTINGS};

/// What a kind is, which decides where the palette lists it and where it may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Receives and sends messages.
    Actor,
    /// An operator of a stream.
    Stream,
    /// Joins the two worlds.
    Bridge,
    /// Holds other nodes, which name it as their `parent`.
    Group,
}

impl Family {
    /// All families in the order of the palette.
    pub const ALL: [Family; 4] = [Family::Actor, Family::Group, Family::Stream, Family::Bridge];

    /// Gives the heading of the palette's section.
    pub fn title(self) -> &'static str {
        match self {
            Family::Actor => "Actors",
            Family::Stream => "Streams",
            Family::Bridge => "Bridges",
            Family::Group => "Supervision",
        }
    }
}

/// Which end of an edge a port takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Edges end here.
    In,
    /// Edges start here.
    Out,
}

/// What flows through a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// Messages: pushed by the sender, kept in a mailbox.
    Message,
    /// Elements: pulled by demand.
    Stream,
}

impl Carries {
    /// Names it as a person would.
    pub fn name(self) -> &'static str {
        match self {
            Carries::Message => "messages",
            Carries::Stream => "stream elements",
        }
    }
}

/// How many edges a port takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// At most one.
    One,
    /// Any number.
    Many,
}

/// Whether a port has to be wired before the graph can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It may stay open.
    Optional,
    /// It must be wired.
    Required,
    /// It must be wired if a parameter of the node says so.
    When(Condition),
}

/// A port of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Unique within the kind.
    pub name: &'static str,
    /// In or out.
    pub direction: Direction,
    /// Messages or stream elements.
    pub carries: Carries,
    /// One edge or many.
    pub arity: Arity,
    /// Whether it must be wired.
    pub need: Need,
    /// One line on what passes.
    pub doc: &'static str,
}

/// A kind of node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kind {
    /// The `kind` of a node in the document.
    pub name: &'static str,
    /// Actor, stream, bridge or group.
    pub family: Family,
    /// The heading of its palette item.
    pub title: &'static str,
    /// One line on what it does.
    pub doc: &'static str,
    /// Ports, inputs first.
    pub ports: &'static [Port],
    /// Parameters in the order of the form.
    pub params: &'static [Param],
}

impl Kind {
    /// Finds a port by name.
    pub fn port(&self, name: &str) -> Option<&'static Port> {
        self.ports.iter().find(|p| p.name == name)
    }

    /// Finds a parameter by key.
    pub fn param(&self, key: &str) -> Option<&'static Param> {
        self.params.iter().find(|p| p.key == key)
    }

    /// Tells whether a node of this kind may name a dispatcher.
    pub fn may_have_dispatcher(&self) -> bool {
        self.family != Family::Stream && !matches!(self.name, "router" | "to_actor")
    }

    /// Tells whether a node of this kind may name a supervisor as its parent.
    pub fn may_have_parent(&self) -> bool {
        matches!(self.family, Family::Actor | Family::Group)
    }
}

/// Lists every kind in the order of the palette.
///
/// # Examples
/// ```
/// use footlights::scenario::schema;
/// assert!(schema::kinds().any(|k| k.name == "worker"));
/// assert_eq!(schema::kind("map").unwrap().family, schema::Family::Stream);
/// ```
pub fn kinds() -> impl Iterator<Item = &'static Kind> {
    actors::KINDS.iter().chain(&streams::KINDS).chain(derived::KINDS.iter())
}

/// Finds a kind by its name in the document.
pub fn kind(name: &str) -> Option<&'static Kind> {
    kinds().find(|k| k.name == name)
}

const fn port(name: &'static str, direction: Direction, carries: Carries, doc: &'static str) -> Port {
    Port { name, direction, carries, arity: Arity::One, need: Need::Required, doc }
}

impl Port {
    const fn many(mut self) -> Port {
        self.arity = Arity::Many;
        self
    }

    const fn optional(mut self) -> Port {
        self.need = Need::Optional;
        self
    }

    const fn needed_when(mut self, key: &'static str, any_of: &'static [&'static str]) -> Port {
        self.need = Need::When(Condition { key, any_of });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique() {
        let mut names = BTreeSet::new();
        for kind in kinds() {
            assert!(names.insert(kind.name), "two kinds are called {}", kind.name);
            let ports: BTreeSet<_> = kind.ports.iter().map(|p| p.name).collect();
            let keys: BTreeSet<_> = kind.params.iter().map(|p| p.key).collect();
            assert_eq!(ports.len(), kind.ports.len(), "{}: two ports share a name", kind.name);
            assert_eq!(keys.len(), kind.params.len(), "{}: two parameters share a key", kind.name);
        }
    }

    #[test]
    fn every_default_is_within_its_own_bounds() {
        for (name, params) in kinds()
            .map(|k| (k.name, k.params))
            .chain([("settings", &SETTINGS[..]), ("dispatchers", &DISPATCHER[..])])
        {
            for p in params {
                let columns = if let ParamType::List { columns, .. } = p.ty { columns } else { &[] };
                for p in std::iter::once(p).chain(columns) {
                    let checked = p.check(&p.default.to_json());
                    assert!(checked.is_ok(), "{name}.{}: {checked:?}", p.key);
                }
            }
        }
    }

    #[test]
    fn a_list_is_flat_and_asks_for_a_new_run() {
        for (kind, list) in kinds().flat_map(|k| k.params.iter().map(move |p| (k.name, p))) {
            let ParamType::List { columns, .. } = list.ty else { continue };
            assert!(!list.live, "{kind}.{}", list.key);
            let nested = columns.iter().any(|c| matches!(c.ty, ParamType::List { .. }) || c.live);
            assert!(!nested, "{kind}.{}", list.key);
        }
    }

    #[test]
    fn conditions_name_choices_that_exist() {
        for kind in kinds() {
            let needs = kind.ports.iter().filter_map(|p| match p.need {
                Need::When(c) => Some(c),
                _ => None,
            });
            for c in kind.params.iter().filter_map(|p| p.shown_when).chain(needs) {
                let ParamType::Choice(list) = kind.param(c.key).expect(c.key).ty else {
                    panic!("{}: the condition on {} is on no choice", kind.name, c.key)
                };
                assert!(
                    c.any_of.iter().all(|v| list.iter().any(|k| k.value == *v)),
                    "{} {}",
                    kind.name,
                    c.key
                );
            }
        }
    }
}
