//! The playground: a Yew page that draws, and an engine worker that runs actors. The two talk by messages only.

pub mod app;
pub mod engine;
pub mod model;

/// Names this build in the worker's address and on the page: version, then what `cargo xtask build` put into
/// `FOOTLIGHTS_BUILD` (the commit, and a hash of the sources where they differ from it), or `dev` without it.
pub const BUILD: &str = match option_env!("FOOTLIGHTS_BUILD") {
    Some(build) => build,
    None => concat!(env!("CARGO_PKG_VERSION"), "+dev"),
};
