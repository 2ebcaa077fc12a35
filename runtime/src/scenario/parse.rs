//! Reading a document's text: a strict reader that names the place of everything it refuses.
//!
//! I1 a text over [`TEXT_BYTES_MAX`] is refused before it is parsed; nesting is bounded by serde_json (128).
//! I2 all faults of all nodes and edges are reported at once, [`ERRORS_MAX`] at most.
//! It checks shape, not meaning: unknown kinds pass here and are refused by validation, so that an editor can keep them.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::document::{Edge, Node, Scenario, VERSION};
use super::error::{DocError, MORE_UNWIRED, Place};

/// The longest text that is read: 2 MB.
pub const TEXT_BYTES_MAX: usize = 2_000_000;
/// The most nodes of a document.
pub const NODES_MAX: usize = 5_000;
/// The most edges of a document.
pub const EDGES_MAX: usize = 20_000;
/// The most faults that one refusal lists; the last one then says how many more there are.
pub const ERRORS_MAX: usize = 100;

impl Scenario {
    /// Reads a document; kinds that this version does not know are kept as they are.
    ///
    /// # Errors
    /// Everything that is wrong with the text's shape, each with its place.
    ///
    /// # Examples
    /// ```
    /// use footlights::scenario::document::Scenario;
    /// let empty = r#"{"version":1,"seed":7,"workers":2,"nodes":[],"edges":[]}"#;
    /// assert_eq!(Scenario::parse(empty).unwrap().seed, 7);
    /// let errors = Scenario::parse(r#"{"version":2}"#).unwrap_err();
    /// assert!(errors[0].to_string().contains("written by a newer Footlights: version 2"));
    /// ```
    pub fn parse(text: &str) -> Result<Scenario, Vec<DocError>> {
        let value = syntax(text).map_err(|e| vec![e])?;
        let Value::Object(mut top) = value else {
            return Err(vec![
                DocError::new(Place::document(), "is no JSON object").mend("a scenario starts with {"),
            ]);
        };
        check_version(&top).map_err(|e| vec![e])?;
        let mut errors = Vec::new();
        let nodes = items::<Node>(&mut top, "nodes", NODES_MAX, node_place, &mut errors);
        let edges = items::<Edge>(&mut top, "edges", EDGES_MAX, edge_place, &mut errors);
        match shape::<Scenario>(Value::Object(top), Place::document()) {
            Ok(head) if errors.is_empty() => return Ok(Scenario { nodes, edges, ..head }),
            Ok(_) => {}
            Err(e) => errors.insert(0, e),
        }
        Err(capped(errors))
    }

    /// Writes the document as indented JSON text, which [`Scenario::parse`] reads back without loss.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

fn syntax(text: &str) -> Result<Value, DocError> {
    if text.len() > TEXT_BYTES_MAX {
        let reason = format!("has {} bytes, {TEXT_BYTES_MAX} at most are read", text.len());
        return Err(DocError::new(Place::document(), reason).mend("is this a scenario at all?"));
    }
    serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|e| syntax_error(&e))
}

fn syntax_error(e: &serde_json::Error) -> DocError {
    let place = Place::line(e.line(), e.column());
    if e.is_eof() {
        let reason = "the text ends too early: a bracket, brace or quote is still open";
        return DocError::new(place, reason).mend("the file was probably cut off; get it again");
    }
    DocError::new(place, format!("is no JSON: {}", bare(e)))
}

/// Gives serde's sentence without the position that it appends.
fn bare(e: &serde_json::Error) -> String {
    let text = e.to_string();
    let end = text.rfind(" at line ").unwrap_or(text.len());
    text[..end].chars().take(200).collect()
}

fn check_version(top: &Map<String, Value>) -> Result<(), DocError> {
    let place = Place::setting("version");
    match top.get("version") {
        None => Err(DocError::new(place, "is missing").mend(format!("write \"version\": {VERSION}"))),
        Some(v) if v.as_u64() == Some(u64::from(VERSION)) => Ok(()),
        Some(v) => match v.as_u64().filter(|&n| n > u64::from(VERSION)) {
            Some(n) => {
                let reason = format!("written by a newer Footlights: version {n}, this one reads {VERSION}");
                Err(DocError::new(place, reason).mend("open it with a newer release"))
            }
            None => Err(DocError::new(place, format!("must be {VERSION}"))),
        },
    }
}

/// Takes the list `key` out of the document, reads each item, and leaves an empty list in its place.
fn items<T: DeserializeOwned>(
    top: &mut Map<String, Value>,
    key: &str,
    max: usize,
    place: fn(&Value, usize) -> Place,
    errors: &mut Vec<DocError>,
) -> Vec<T> {
    let list = match top.get_mut(key).map(|v| std::mem::replace(v, Value::Array(Vec::new()))) {
        Some(Value::Array(list)) => list,
        Some(_) => {
            errors.push(DocError::new(Place::setting(key), "must be a list"));
            return Vec::new();
        }
        None => return Vec::new(),
    };
    if list.len() > max {
        let reason = format!("has {} entries, {max} at most are read", list.len());
        errors.push(DocError::new(Place::setting(key), reason));
        return Vec::new();
    }
    let read = |(i, v)| {
        let at = place(&v, i);
        shape::<T>(v, at).map_err(|e| errors.push(e)).ok()
    };
    list.into_iter().enumerate().filter_map(read).collect()
}

fn shape<T: DeserializeOwned>(value: Value, place: Place) -> Result<T, DocError> {
    let e = match serde_json::from_value(value.clone()) {
        Ok(read) => return Ok(read),
        Err(e) => bare(&e),
    };
    match culprit::<T>(&value, &e) {
        Some(key) => Err(DocError::new(Place { param: Some(key), ..place }, e)),
        None => Err(DocError::new(place, e)),
    }
}

/// Finds the field at fault: the one without which the error is another, or gone.
fn culprit<T: DeserializeOwned>(value: &Value, error: &str) -> Option<Box<str>> {
    let fields = value.as_object()?;
    let differs = |key: &String| {
        let mut rest = fields.clone();
        rest.remove(key);
        serde_json::from_value::<T>(Value::Object(rest)).err().is_none_or(|e| bare(&e) != error)
    };
    fields.keys().take(32).find(|key| differs(key)).map(|key| key.as_str().into())
}

fn node_place(value: &Value, index: usize) -> Place {
    Place::node(&id_or_number(value, index))
}

fn edge_place(value: &Value, index: usize) -> Place {
    Place::edge(&id_or_number(value, index))
}

fn id_or_number(value: &Value, index: usize) -> String {
    value.get("id").and_then(Value::as_str).map_or_else(|| format!("#{}", index + 1), str::to_owned)
}

/// Keeps the first [`ERRORS_MAX`] errors and says how many more there were; missing wires are left out first, so that they
/// hide no contradiction.
pub(super) fn capped(mut errors: Vec<DocError>) -> Vec<DocError> {
    if errors.len() > ERRORS_MAX {
        errors.sort_by_key(DocError::is_unfinished);
        let left_out = errors.split_off(ERRORS_MAX - 1);
        let reason = match left_out.iter().all(DocError::is_unfinished) {
            true => MORE_UNWIRED.into(),
            false => format!("{} more faults are not listed", left_out.len()),
        };
        errors.push(DocError::new(Place::document(), reason));
    }
    errors
}
