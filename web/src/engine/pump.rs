//! The engine worker: says that it is ready before anything else, since what is posted earlier is lost.

use wasm_bindgen::prelude::*;
use web_sys::DedicatedWorkerGlobalScope;

/// Starts the engine on the worker's own thread.
///
/// # Panics
///
/// Panics where the scope cannot post messages: then this is not a worker.
pub fn run() {
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    scope.post_message(&JsValue::from_str("ready")).expect("a worker can post to its page");
}
