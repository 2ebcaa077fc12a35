//! Scenarios: the JSON document that the playground, the benchmark binary and the tests share.

pub mod document;
pub mod schema;
