//! The playground: a Yew page that draws, and an engine worker that runs actors. The two talk by messages only.
//!
//! | module | what it is |
//! |---|---|
//! | [`engine`] | protocol, telemetry, the worker's pump and driver, the page's link to it |
//! | [`model`] | what the page knows and how it changes: no Yew, no browser, tested natively |
//! | [`canvas`] | paints the graph |
//! | [`components`] | the parts of the page |
//! | [`app`] | puts them together and carries out effects |
//! | [`debug`] | `window.footlights`, and the panel of last resort |

pub mod app;
pub mod canvas;
pub mod components;
pub mod debug;
pub mod engine;
pub mod model;

/// Names this build in the worker's address and on the page: version, then what `cargo xtask build` put into
/// `FOOTLIGHTS_BUILD` (the commit, and a hash of the sources where they differ from it), or `dev` without it.
pub const BUILD: &str = match option_env!("FOOTLIGHTS_BUILD") {
    Some(build) => build,
    None => concat!(env!("CARGO_PKG_VERSION"), "+dev"),
};
