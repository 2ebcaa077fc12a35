//! The engine worker, and the page's end of the line to it.
//!
//! ```text
//! page                                     worker
//! link ── Envelope as JSON ──────────────▶ pump ── Command ─────────▶ driver (system, Stepper, log; no DOM)
//!      ◀───────────── Update as JSON ───── pump ◀── Vec<Update> ─────
//!      ◀── frame in an ArrayBuffer ─────── pump ◀── write_frame ───── telemetry
//!      ─── the same buffer, which is the ack ─▶
//! ```
//!
//! The driver as the pump calls it:
//! `Driver::new()`; `handle(&mut self, Command, &mut Vec<Update>) -> Result<(), Vec<DocError>>` (the pump turns the result
//! into `Done` or `Refused`, and answers `Hello`, `Ping` and `DebugPanic` itself); `advance(&mut self, now_ms: f64,
//! keep_going: &mut dyn FnMut() -> bool) -> Pace`, which runs turns until the clock has caught up with the wall, something
//! stopped it, or `keep_going`, asked at least every 256 turns, says no; `drain(&mut self, &mut Vec<Update>)` for `Rare`,
//! `Detail`, `Stopped`; `frame_words(&self) -> usize` and `write_frame(&mut self, frame: u32, &mut [u32])`; `turn(&self)`,
//! `time_ns(&self)`.
//! `Pace` is `Busy` (call again at once), `Wait { ms }` (nothing is due before) or `Idle` (paused, finished, nothing loaded).

pub mod clock;
pub mod detail;
pub mod driver;
pub mod link;
pub mod protocol;
pub mod pump;
pub mod rows;
pub mod session;
pub mod telemetry;
pub mod why;

pub use pump::run;
