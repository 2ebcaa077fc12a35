//! Colours of the canvas, light and dark. Signals are those of Okabe and Ito, each used with a second sign.

/// Busy: solid.
pub const BUSY: &str = "#e69f00";
/// Waiting for room: hatched.
pub const BACKPRESSURED: &str = "#0072b2";
/// Failed: with a cross.
pub const FAILED: &str = "#d55e00";
/// Restarted: with a turning arrow.
pub const RESTARTED: &str = "#009e73";
/// The sky blue of actors.
const SKY: &str = "#56b4e9";
/// The purple of streams.
const PURPLE: &str = "#cc79a7";
/// The yellow of bridges.
const YELLOW: &str = "#f0e442";

/// Colours that follow the system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Theme {
    /// The stage.
    pub stage: &'static str,
    /// Dots of the grid.
    pub grid: &'static str,
    /// A card.
    pub card: &'static str,
    /// A card's frame.
    pub frame: &'static str,
    /// Its shadow.
    pub shadow: &'static str,
    /// Text.
    pub ink: &'static str,
    /// Quieter text.
    pub quiet: &'static str,
    /// The empty part of a bar.
    pub trough: &'static str,
    /// Wires.
    pub wire: &'static str,
    /// Stream edges.
    pub stream: &'static str,
    /// Selection, focus, what is offered.
    pub accent: &'static str,
    /// A supervisor's inside.
    pub group: &'static str,
    /// A supervisor's header.
    pub group_head: &'static str,
    /// A supervisor's frame.
    pub group_frame: &'static str,
    /// Dots.
    pub dot: &'static str,
    /// The dots' rim.
    pub dot_rim: &'static str,
    /// Waiting for room, on this ground.
    pub backpressured: &'static str,
    /// In a blocking call.
    pub blocked: &'static str,
    /// Text of failures, on this ground.
    pub failed_ink: &'static str,
    /// Text of restarts, on this ground.
    pub restarted_ink: &'static str,
}

/// On dark ground.
pub const DARK: Theme = Theme {
    stage: "#11131a",
    grid: "#232735",
    card: "#1c2030",
    frame: "#353b52",
    shadow: "rgba(0,0,0,0.45)",
    ink: "#eef0f7",
    quiet: "#a3aac0",
    trough: "#2c3146",
    wire: "#66708f",
    stream: "#a7799b",
    accent: "#ffc857",
    group: "rgba(255,200,87,0.045)",
    group_head: "rgba(255,200,87,0.13)",
    group_frame: "#6d6046",
    dot: "#ffd983",
    dot_rim: "#8a5f00",
    backpressured: "#3d9fe0",
    blocked: "#e4e6ee",
    failed_ink: "#ff8f4d",
    restarted_ink: "#37d6a5",
};

/// On light ground.
pub const LIGHT: Theme = Theme {
    stage: "#f6f4ee",
    grid: "#dfdbd0",
    card: "#ffffff",
    frame: "#c9c5ba",
    shadow: "rgba(60,50,30,0.16)",
    ink: "#1b1e28",
    quiet: "#5c6170",
    trough: "#e6e3db",
    wire: "#868c9b",
    stream: "#a8638a",
    accent: "#b36b00",
    group: "rgba(179,107,0,0.045)",
    group_head: "rgba(179,107,0,0.12)",
    group_frame: "#cdb58d",
    dot: "#e08e00",
    dot_rim: "#ffffff",
    backpressured: BACKPRESSURED,
    blocked: "#16181f",
    failed_ink: "#a84300",
    restarted_ink: "#00694c",
};

/// The stripe of a family.
pub fn family(family: Option<footlights::scenario::schema::Family>) -> &'static str {
    use footlights::scenario::schema::Family;
    match family {
        Some(Family::Actor) => SKY,
        Some(Family::Stream) => PURPLE,
        Some(Family::Bridge) => YELLOW,
        Some(Family::Group) => BUSY,
        None => FAILED,
    }
}
