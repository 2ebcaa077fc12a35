//! Draws the graph on three stacked canvases: edges and groups, moving dots, node cards.
//!
//! They are painted at different rates: edges when something changed or four times a second, cards with each frame of
//! counters, dots with each frame of the screen. Nothing here decides where things are: that is `model::geometry`.

pub mod dots;
pub mod edges;
pub mod nodes;
pub mod pen;
pub mod theme;

use std::cell::RefCell;
use std::rc::Rc;

use footlights::scenario::document::PortRef;

use crate::model::geometry::Layout;
use crate::model::live::Live;
use crate::model::state::State;
use crate::model::viewport::{Point, Rect, Viewport};
use theme::Theme;

/// Everything that a picture is made from.
pub struct Scene<'a> {
    /// The page's state.
    pub state: &'a State,
    /// Counters.
    pub live: &'a Live,
    /// Where things are.
    pub layout: &'a Layout,
    /// What part is seen.
    pub view: Viewport,
    /// The part of the document that is on screen.
    pub visible: Rect,
    /// Colours.
    pub theme: &'a Theme,
    /// A wire in the making.
    pub wire: Option<WireInHand>,
    /// A rectangle of selection in the making.
    pub marquee: Option<Rect>,
    /// The supervisor into which a dragged node would fall.
    pub drop_group: Option<String>,
    /// What the pointer is over.
    pub hover: Option<PortRef>,
    /// Wall time.
    pub now_ms: f64,
    /// Whether the person asked for less motion.
    pub calm: bool,
}

/// A wire that is being drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct WireInHand {
    /// Where it starts.
    pub from: PortRef,
    /// Where it starts, in the document.
    pub start: Point,
    /// Where its loose end is, in the document.
    pub end: Point,
    /// The port it would snap to, and whether that is allowed.
    pub target: Option<(PortRef, Result<(), String>)>,
}

/// Counters shared by link, canvas and panels.
pub type SharedLive = Rc<RefCell<Live>>;
