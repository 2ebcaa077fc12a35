//! Texts that only the components use; the rest is in [`crate::model::locale`].

/// No port of the list has what was typed.
pub const NOTHING_MATCHES: &str = "Nothing matches the filter.";
/// A comma that groups no thousands.
pub const POINT_NOT_COMMA: &str = "write decimals with a point, as in 1.5; commas only group thousands";
/// An empty field.
pub const A_NUMBER_IS_MISSING: &str = "a number is missing";
/// What a mailbox without bounds does when it is full.
pub const NEVER_FULL: &str = "never full";
/// Run to a time before now.
pub const TIME_HAS_PASSED: &str = "that time has passed; Reset starts again from 0";
/// Run to a time that is none.
pub const SECONDS: &str = "must be from 0 to 1,000,000,000 seconds";

/// Not even a number.
pub fn no_number(typed: &str) -> String {
    format!("“{}” is no number", typed.trim().chars().take(40).collect::<String>())
}

/// A whole number out of its bounds, or none.
pub fn whole_from_to(from: &str, to: &str) -> String {
    format!("must be a whole number from {from} to {to}")
}

/// The next message of a node is going to fail.
pub fn will_fail(label: &str) -> String {
    format!("{label}: its next message will fail")
}

/// The legend where the system asks for less motion.
pub fn calm_legend(speed: &str) -> String {
    format!("no dots are drawn, since your system asks for less motion · time {speed} · counters exact")
}

/// What a node's behaviour counts under a name that the runtime uses, too.
pub fn own_count(name: &str) -> String {
    format!("{name} by its own count")
}
