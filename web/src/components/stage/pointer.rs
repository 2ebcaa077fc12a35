//! Pointers on the stage: pan, select, drag nodes, drag wires, draw a rectangle of selection, place.

use footlights::scenario::document::PortRef;
use web_sys::Element;
use yew::prelude::*;

use super::super::Part;
use super::Stage;
use crate::canvas::WireInHand;
use crate::model::connect;
use crate::model::geometry::{
    Hit, Layout, PORT_REACH, PORT_REACH_TOUCH, SNAP_REACH, size_of, with_descendants,
};
use crate::model::state::{Action, Reparent, Tool};
use crate::model::viewport::{GRID, Point, Rect, pt, snap};

/// A pointer that moved less is a click.
const CLICK_PX: f64 = 4.0;

/// What the pointer drags.
#[derive(Clone, Debug)]
pub(super) enum Drag {
    /// What is seen.
    Pan {
        /// Where the pointer was last, on the screen.
        last: Point,
        /// Whether it has moved at all.
        moved: bool,
    },
    /// Nodes.
    Nodes {
        /// Which.
        ids: Vec<String>,
        /// The one under the pointer.
        held: String,
        /// Where the pointer went down, in the document.
        start: Point,
        /// How far they are from where they were.
        shift: (f64, f64),
        /// Where everything was, so that a supervisor's box does not run away with its child.
        frozen: Box<Layout>,
    },
    /// A wire.
    Wire {
        /// From which port.
        from: PortRef,
        /// Whether the pointer has moved at all.
        moved: bool,
    },
    /// A rectangle of selection.
    Marquee {
        /// Its fixed corner, in the document.
        start: Point,
    },
}

impl Stage {
    /// A point of the window, relative to the canvas.
    pub(super) fn local(&self, client_x: f64, client_y: f64) -> Point {
        let rect = self.root.cast::<Element>().map(|e| e.get_bounding_client_rect());
        rect.map_or(pt(client_x, client_y), |r| pt(client_x - r.left(), client_y - r.top()))
    }

    fn local_of(&self, event: &PointerEvent) -> Point {
        self.local(f64::from(event.client_x()), f64::from(event.client_y()))
    }

    pub(super) fn pointer_down(&mut self, part: &Part, event: &PointerEvent) -> bool {
        if self.drag.is_some() {
            // A second finger cancels a drag cleanly.
            return self.cancel_drag(part);
        }
        let screen = self.local_of(event);
        (self.pointer, self.pressed) = (screen, true);
        let world = self.view.to_world(screen);
        if let Some(root) = self.root.cast::<Element>() {
            let _ = root.set_pointer_capture(event.pointer_id());
        }
        let pan = Drag::Pan { last: screen, moved: false };
        if event.button() == 1 {
            self.drag = Some(pan);
            return false;
        }
        let reach = if event.pointer_type() == "touch" { PORT_REACH_TOUCH } else { PORT_REACH };
        match (&part.state.tool, self.layout.hit_within(world, reach)) {
            (Tool::Place(_) | Tool::Wire(_), _) => {}
            (_, Hit::Port(spot)) => self.drag = Some(Drag::Wire { from: spot.port, moved: false }),
            (_, Hit::Node(id)) => self.grab(part, event, id, world),
            (_, _) if event.shift_key() => self.drag = Some(Drag::Marquee { start: world }),
            (_, _) => self.drag = Some(pan),
        }
        true
    }

    fn grab(&mut self, part: &Part, event: &PointerEvent, id: String, world: Point) {
        if event.ctrl_key() || event.meta_key() {
            part.act.emit(Action::Toggle(id));
            return;
        }
        let selected = &part.state.selection.nodes;
        let ids = if selected.contains(&id) { selected.iter().cloned().collect() } else { vec![id.clone()] };
        if !selected.contains(&id) {
            part.act.emit(Action::Select(vec![id.clone()]));
        }
        let frozen = Box::new(Layout::of(&part.state.doc, &|_| None));
        self.drag = Some(Drag::Nodes { ids, held: id, start: world, shift: (0.0, 0.0), frozen });
    }

    pub(super) fn pointer_move(&mut self, part: &Part, event: &PointerEvent) -> bool {
        let screen = self.local_of(event);
        let world = self.view.to_world(screen);
        let from = std::mem::replace(&mut self.pointer, screen);
        match &mut self.drag {
            None => return self.hover(part, world),
            Some(Drag::Pan { last, moved }) => {
                let (dx, dy) = (screen.x - last.x, screen.y - last.y);
                *moved |= dx.hypot(dy) > 0.0;
                *last = screen;
                self.view.pan(dx, dy);
            }
            Some(Drag::Nodes { start, shift, .. }) => {
                let by = (world.x - start.x, world.y - start.y);
                // Alt suspends the grid; a click is no move.
                let far = by.0.hypot(by.1) * self.view.zoom > CLICK_PX || *shift != (0.0, 0.0);
                let snapped = (f64::from(snap(by.0)), f64::from(snap(by.1)));
                let moved = if event.alt_key() { by } else { snapped };
                *shift = if far { moved } else { (0.0, 0.0) };
                self.arrange(part);
            }
            Some(Drag::Wire { moved, .. }) => *moved |= from.distance(screen) > 1.0,
            Some(Drag::Marquee { .. }) => {}
        }
        self.dirty = true;
        true
    }

    fn hover(&mut self, part: &Part, world: Point) -> bool {
        let port = self.layout.port_near(world, PORT_REACH).map(|s| s.port.clone());
        if port != self.hover {
            self.hover = port;
            self.dirty = true;
        }
        if matches!(part.state.tool, Tool::Wire(_)) {
            self.dirty = true;
        }
        false
    }

    pub(super) fn pointer_up(&mut self, part: &Part, event: &PointerEvent) -> bool {
        if !std::mem::take(&mut self.pressed) {
            return false; // it went down elsewhere
        }
        let screen = self.local_of(event);
        let world = self.view.to_world(screen);
        self.pointer = screen;
        self.dirty = true;
        match self.drag.take() {
            Some(Drag::Pan { moved, .. }) if !moved => self.click_empty(part, world),
            // A click on one of several means that one.
            Some(Drag::Nodes { ids, held, shift: (0.0, 0.0), .. }) => {
                if ids.len() > 1 && !event.shift_key() {
                    part.act.emit(Action::Select(vec![held]));
                }
            }
            Some(Drag::Nodes { ids, shift, frozen, .. }) => self.drop_nodes(part, ids, shift, &frozen, world),
            Some(Drag::Wire { from, moved }) => self.drop_wire(part, from, moved, world),
            Some(Drag::Marquee { start }) => self.take_marquee(part, start, world),
            Some(Drag::Pan { .. }) => {}
            None => self.click_with_tool(part, world),
        }
        self.arrange(part);
        true
    }

    fn click_empty(&self, part: &Part, world: Point) {
        match self.layout.hit(world) {
            Hit::Edge(id) => part.act.emit(Action::SelectEdge(id)),
            Hit::Inside(id) => part.act.emit(Action::Select(vec![id])),
            _ => part.act.emit(Action::Select(Vec::new())),
        }
    }

    fn click_with_tool(&self, part: &Part, world: Point) {
        match &part.state.tool {
            Tool::Place(kind) => self.place(part, kind, world),
            Tool::Wire(from) => match self.layout.port_near(world, SNAP_REACH) {
                Some(spot) => part.act.emit(Action::Connect(from.clone(), spot.port.clone())),
                None => part.act.emit(Action::Take(Tool::Select)),
            },
            _ => {}
        }
    }

    /// Puts a node of a kind at a point, into the supervisor that is there.
    pub(super) fn place(&self, part: &Part, kind: &str, world: Point) {
        let parent = self.layout.group_at(world).map(str::to_owned);
        part.act.emit(Action::Place(kind.to_owned(), snap(world.x), snap(world.y), parent));
    }

    fn drop_nodes(&self, part: &Part, ids: Vec<String>, shift: (f64, f64), frozen: &Layout, world: Point) {
        let target = self.group_under(part, &ids, frozen, world);
        let parents: Vec<_> =
            ids.iter().filter_map(|id| part.state.node(id)).map(|n| n.parent.clone()).collect();
        let reparent = match parents.iter().all(|p| *p == target) {
            true => Reparent::Keep,
            false => Reparent::To(target),
        };
        part.act.emit(Action::MoveBy(ids, shift.0.round() as i32, shift.1.round() as i32, reparent));
    }

    /// The supervisor under the pointer, as boxes were before the drag, if it is none of what is dragged.
    pub(super) fn group_under(
        &self,
        part: &Part,
        ids: &[String],
        frozen: &Layout,
        world: Point,
    ) -> Option<String> {
        let dragged: Vec<String> = ids.iter().flat_map(|id| with_descendants(&part.state.doc, id)).collect();
        let free = |g: &&String| !dragged.contains(g);
        let inside = |g: &&String| frozen.bounds(g).is_some_and(|r| r.contains(world));
        frozen.groups.iter().rev().filter(free).find(inside).cloned()
    }

    fn drop_wire(&self, part: &Part, from: PortRef, moved: bool, world: Point) {
        match self.layout.port_near(world, SNAP_REACH) {
            Some(spot) if spot.port != from => part.act.emit(Action::Connect(from, spot.port.clone())),
            Some(_) if !moved => {
                // What Delete would take away is the node whose wire is in hand, not one selected before.
                part.act.emit(Action::Select(vec![from.node.clone()]));
                part.act.emit(Action::Take(Tool::Wire(from)));
            }
            _ => {}
        }
    }

    fn take_marquee(&self, part: &Part, start: Point, world: Point) {
        let r = marquee(start, world);
        let touched = |n: &&footlights::scenario::document::Node| {
            self.layout.bounds(&n.id).is_some_and(|b| match self.layout.groups.contains(&n.id) {
                // A supervisor's box is large: it is meant only if it lies wholly within.
                true => r.contains(pt(b.x, b.y)) && r.contains(pt(b.x + b.w, b.y + b.h)),
                false => r.meets(&b),
            })
        };
        let ids = part.state.doc.nodes.iter().filter(touched).map(|n| n.id.clone()).collect();
        part.act.emit(Action::Select(ids));
    }

    pub(super) fn cancel_drag(&mut self, part: &Part) -> bool {
        self.drag = None;
        self.arrange(part);
        true
    }

    /// The wire in hand, by drag or by tool.
    pub(super) fn wire(&self, part: &Part) -> Option<WireInHand> {
        let from = match (&self.drag, &part.state.tool) {
            (Some(Drag::Wire { from, .. }), _) | (_, Tool::Wire(from)) => from.clone(),
            _ => return None,
        };
        let start = self.layout.spot(&from)?.at;
        let end = self.view.to_world(self.pointer);
        let near = self.layout.port_near(end, SNAP_REACH).filter(|s| s.port != from);
        let target = near.map(|s| (s.port.clone(), connect::verdict(&part.state.doc, &from, &s.port)));
        let end = near.filter(|_| matches!(target, Some((_, Ok(()))))).map_or(end, |s| s.at);
        Some(WireInHand { from, start, end, target })
    }

    /// A kind was dragged here from the palette.
    pub(super) fn dropped(&mut self, part: &Part, event: &DragEvent) -> bool {
        event.prevent_default();
        let kind = event.data_transfer().and_then(|d| d.get_data("text/plain").ok()).unwrap_or_default();
        if footlights::scenario::schema::kind(&kind).is_some() {
            let screen = self.local(f64::from(event.client_x()), f64::from(event.client_y()));
            self.place(part, &kind, self.view.to_world(screen));
        }
        true
    }

    /// A free place that is wholly seen, near the middle, for placing by keyboard; `None` where none is left.
    pub(super) fn free_place(&self, kind: &str) -> Option<Point> {
        let (w, h) = size_of(footlights::scenario::schema::kind(kind));
        let corner = self.view.to_world(pt(0.0, 0.0));
        // The line of help and the legend lie over the lower edge.
        let opposite = self.view.to_world(pt(self.size.0, self.size.1 - 48.0));
        let seen = marquee(corner, opposite);
        let middle = pt(snap(seen.centre().x).into(), snap(seen.centre().y).into());
        let step = pt(w + f64::from(2 * GRID), h + f64::from(2 * GRID));
        let free = |at: &Point| {
            let card = Rect::around(*at, w, h).grown(8.0);
            let within =
                seen.contains(pt(card.x, card.y)) && seen.contains(pt(card.x + card.w, card.y + card.h));
            within && !self.layout.bounds_of_cards().any(|r| r.meets(&card))
        };
        // To the right first, then to the left, row by row away from the middle.
        let lines = [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5].map(f64::from);
        let columns = [0, 1, 2, 3, 4, 5, -1, -2, -3, -4, -5].map(f64::from);
        let places = lines.iter().flat_map(|row| columns.iter().map(move |column| (row, column)));
        places.map(|(row, column)| pt(middle.x + column * step.x, middle.y + row * step.y)).find(free)
    }

    /// Places a node by keyboard: where it is seen, or beside the graph, which is then shown as a whole.
    pub(super) fn place_by_key(&self, ctx: &Context<Self>, part: &Part, kind: &str) {
        let beside = || {
            let extent = self.layout.extent().unwrap_or_default();
            let (w, _) = size_of(footlights::scenario::schema::kind(kind));
            pt(extent.x + extent.w + f64::from(2 * GRID) + w / 2.0, extent.centre().y)
        };
        let free = self.free_place(kind);
        self.place(part, kind, free.unwrap_or_else(beside));
        if free.is_none() {
            ctx.link().send_message(super::Msg::Fit);
        }
    }
}

/// The rectangle between two corners.
pub(super) fn marquee(a: Point, b: Point) -> Rect {
    Rect { x: a.x.min(b.x), y: a.y.min(b.y), w: (a.x - b.x).abs(), h: (a.y - b.y).abs() }
}
