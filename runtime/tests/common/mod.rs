//! What several test files share.

#![allow(dead_code, reason = "no test file uses all of it")]

pub(crate) mod graphs;
pub(crate) mod kin;
pub(crate) mod routees;
pub(crate) mod scripted;

use std::sync::Once;
use std::time::Duration;

use footlights::system::ActorSystem;

/// Keeps panics whose text begins with "planned" out of the output; all others are printed as ever.
pub(crate) fn hush_planned_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let text = info.payload_as_str().unwrap_or_default();
            if !text.starts_with("planned") {
                print(info);
            }
        }));
    });
}

/// Runs the system until `done`, in its own time for at most 10 s; fails naming `what`.
pub(crate) fn wait_until(system: &ActorSystem, what: &str, mut done: impl FnMut() -> bool) {
    let deadline = system.now() + Duration::from_secs(10);
    while !done() {
        if system.is_stepper() {
            assert!(system.step_until(deadline).is_some() || done(), "at rest without {what}");
        } else {
            assert!(system.now() < deadline, "waited 10 s in vain for {what}");
            std::thread::yield_now();
        }
    }
}
