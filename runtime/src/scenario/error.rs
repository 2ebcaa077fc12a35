//! What is wrong with a document: a place, a reason, and what would mend it.
//!
//! Every refusal of the scenario module has this one shape, so that the page can light up the node, the port or the field.

use std::fmt;

/// Where in a document something is wrong; all fields empty means the document as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The node's id; `#3` for the third node of the list if it has none.
    pub node: Option<Box<str>>,
    /// The port of that node.
    pub port: Option<Box<str>>,
    /// The parameter of that node, or a setting of the document.
    pub param: Option<Box<str>>,
    /// The edge's id; `#3` for the third edge of the list if it has none.
    pub edge: Option<Box<str>>,
    /// Line and column of the text, from 1.
    pub line: Option<(u32, u32)>,
}

impl Place {
    /// Names the document as a whole.
    pub fn document() -> Self {
        Place::default()
    }

    /// Names a setting of the document.
    pub fn setting(key: &str) -> Self {
        Place { param: Some(key.into()), ..Place::default() }
    }

    /// Names a node.
    pub fn node(id: &str) -> Self {
        Place { node: Some(id.into()), ..Place::default() }
    }

    /// Names a port of a node.
    pub fn port(node: &str, port: &str) -> Self {
        Place { port: Some(port.into()), ..Place::node(node) }
    }

    /// Names a parameter of a node.
    pub fn param(node: &str, key: &str) -> Self {
        Place { param: Some(key.into()), ..Place::node(node) }
    }

    /// Names an edge.
    pub fn edge(id: &str) -> Self {
        Place { edge: Some(id.into()), ..Place::default() }
    }

    /// Names a point of the text.
    pub fn line(line: usize, column: usize) -> Self {
        let narrow = |n| u32::try_from(n).unwrap_or(u32::MAX);
        Place { line: Some((narrow(line), narrow(column))), ..Place::default() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.line.map(|(line, column)| format!("line {line} column {column}")));
        parts.extend(self.edge.as_ref().map(|e| format!("edge {}", short(e))));
        parts.extend(self.node.as_ref().map(|n| format!("node {}", short(n))));
        parts.extend(self.port.as_ref().map(|p| format!("port {}", short(p))));
        let word = match (&self.node, &self.edge) {
            (Some(_), _) => "parameter",
            (None, Some(_)) => "field",
            (None, None) => "setting",
        };
        parts.extend(self.param.as_ref().map(|p| format!("{word} {}", short(p))));
        match parts.is_empty() {
            true => f.write_str("document"),
            false => f.write_str(&parts.join(", ")),
        }
    }
}

/// The reason of a port that lacks its wire.
pub(super) const UNWIRED: &str = "is not wired";
/// The reason that stands for all such ports that are not listed.
pub(super) const MORE_UNWIRED: &str = "more ports are not wired than are listed";

/// One thing that is wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocError {
    /// Where.
    pub place: Place,
    /// What.
    pub reason: String,
    /// What would mend it; may be empty.
    pub mend: Box<str>,
}

impl DocError {
    /// Makes an error without a hint.
    pub fn new(place: Place, reason: impl Into<String>) -> Self {
        DocError { place, reason: reason.into(), mend: "".into() }
    }

    /// Is true where nothing contradicts the rest of the document and only a wire is missing: such a document can be drawn,
    /// not run.
    pub fn is_unfinished(&self) -> bool {
        self.reason == UNWIRED || self.reason == MORE_UNWIRED
    }

    /// Adds what would mend it.
    #[must_use]
    pub fn mend(mut self, hint: impl Into<Box<str>>) -> Self {
        self.mend = hint.into();
        self
    }
}

impl fmt::Display for DocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)?;
        match self.mend.is_empty() {
            true => Ok(()),
            false => write!(f, "; {}", self.mend),
        }
    }
}

impl std::error::Error for DocError {}

/// Shows a name of a document in quotes, with at most 40 of its characters.
pub(super) fn short(name: &str) -> String {
    match name.char_indices().nth(40) {
        Some((at, _)) => format!("{:?}…", &name[..at]),
        None => format!("{name:?}"),
    }
}
