//! Where things are in the document's space: boxes of nodes, ports, groups, curves of edges, and what a point hits.
//!
//! Everything is computed from the document, so that drawing, hit test and focus targets cannot disagree.

use std::collections::BTreeMap;

use footlights::scenario::document::{Node, PortRef, Scenario};
use footlights::scenario::schema::{self, Direction, Family, Kind};

use super::viewport::{Point, Rect, pt};

/// Size of an actor's card.
pub const ACTOR: (f64, f64) = (176.0, 84.0);
/// Size of a stream operator's card.
pub const STAGE: (f64, f64) = (144.0, 84.0);
/// Size of a supervisor without children, and the least height of any: there is always room to drop one more.
pub const EMPTY_GROUP: (f64, f64) = (244.0, 240.0);
/// Height of a group's header.
pub const HEADER: f64 = 28.0;
/// Room between a group's frame and its children, at the sides and above and below.
pub const PADDING: (f64, f64) = (34.0, 16.0);
/// How near the mouse must be to a port.
pub const PORT_REACH: f64 = 8.0;
/// How near a finger must be to a port.
pub const PORT_REACH_TOUCH: f64 = 14.0;
/// How near a dragged wire must be to a port to snap to it.
pub const SNAP_REACH: f64 = 24.0;
/// How near the pointer must be to an edge.
pub const EDGE_REACH: f64 = 7.0;

/// A port and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct PortSpot {
    /// Which port.
    pub port: PortRef,
    /// In or out.
    pub direction: Direction,
    /// Its middle.
    pub at: Point,
}

/// An edge as a cubic curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// Start, two control points, end.
    pub points: [Point; 4],
}

impl Curve {
    /// A curve that leaves `a` to the right and reaches `b` from the left.
    pub fn between(a: Point, b: Point) -> Curve {
        let back = b.x < a.x + 10.0;
        let reach = if back { 90.0 + (a.x - b.x) * 0.2 } else { ((b.x - a.x) * 0.5).clamp(24.0, 160.0) };
        // A curve back to the same height would hide behind the nodes: bend it below them.
        let sag = if back && (a.y - b.y).abs() < 60.0 { 110.0 } else { 0.0 };
        Curve { points: [a, pt(a.x + reach, a.y + sag), pt(b.x - reach, b.y + sag), b] }
    }

    /// The point at a share `t` of the curve's parameter.
    pub fn at(&self, t: f64) -> Point {
        let [a, b, c, d] = self.points;
        let u = 1.0 - t;
        let mix = |a: f64, b: f64, c: f64, d: f64| {
            u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d
        };
        pt(mix(a.x, b.x, c.x, d.x), mix(a.y, b.y, c.y, d.y))
    }

    /// Its length, from 24 chords.
    pub fn length(&self) -> f64 {
        (0..24).map(|i| self.at(f64::from(i) / 24.0).distance(self.at(f64::from(i + 1) / 24.0))).sum()
    }

    fn distance(&self, p: Point) -> f64 {
        (0..=32).map(|i| self.at(f64::from(i) / 32.0).distance(p)).fold(f64::INFINITY, f64::min)
    }
}

/// Boxes and ports of a whole document.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    boxes: BTreeMap<String, Rect>,
    spots: BTreeMap<PortRef, usize>,
    /// Supervisors, outer before inner.
    pub groups: Vec<String>,
    /// Every port.
    pub ports: Vec<PortSpot>,
    curves: Vec<(String, Curve)>,
}

/// What is under a point.
#[derive(Clone, Debug, PartialEq)]
pub enum Hit {
    /// A port.
    Port(PortSpot),
    /// A node, or a supervisor's header.
    Node(String),
    /// An edge.
    Edge(String),
    /// The inside of a supervisor's box.
    Inside(String),
    /// Nothing.
    Empty,
}

/// Tells whether the node is drawn as a box around others.
pub fn is_group(node: &Node) -> bool {
    schema::kind(&node.kind).is_some_and(|k| k.family == Family::Group)
}

/// The size of a node's card.
pub fn size_of(kind: Option<&Kind>) -> (f64, f64) {
    match kind.map(|k| k.family) {
        Some(Family::Stream) => STAGE,
        Some(Family::Group) => EMPTY_GROUP,
        _ => ACTOR,
    }
}

impl Layout {
    /// Computes the layout; `shift` moves some nodes, as while they are dragged.
    pub fn of(doc: &Scenario, shift: &dyn Fn(&str) -> Option<(f64, f64)>) -> Layout {
        let mut layout = Layout::default();
        for node in doc.nodes.iter().filter(|n| !is_group(n)) {
            let (w, h) = size_of(schema::kind(&node.kind));
            let (dx, dy) = shift(&node.id).unwrap_or_default();
            let centre = pt(f64::from(node.x) + dx, f64::from(node.y) + dy);
            layout.boxes.insert(node.id.clone(), Rect::around(centre, w, h));
        }
        layout.add_groups(doc, shift);
        layout.add_ports(doc);
        layout.add_curves(doc);
        layout
    }

    fn add_groups(&mut self, doc: &Scenario, shift: &dyn Fn(&str) -> Option<(f64, f64)>) {
        let mut groups: Vec<(usize, &Node)> =
            doc.nodes.iter().filter(|n| is_group(n)).map(|n| (depth(doc, n), n)).collect();
        groups.sort_by_key(|(depth, _)| *depth);
        self.groups = groups.iter().map(|(_, n)| n.id.clone()).collect();
        for (_, group) in groups.into_iter().rev() {
            let inside = doc
                .nodes
                .iter()
                .filter(|n| n.parent.as_deref() == Some(&group.id))
                .filter_map(|n| self.boxes.get(&n.id))
                .copied()
                .reduce(|a, b| a.union(&b));
            let (dx, dy) = shift(&group.id).unwrap_or_default();
            let own = pt(f64::from(group.x) + dx, f64::from(group.y) + dy);
            let bounds = inside.map_or(Rect::around(own, EMPTY_GROUP.0, EMPTY_GROUP.1), |r| {
                let (x, y) = PADDING;
                Rect {
                    x: r.x - x,
                    y: r.y - y - HEADER,
                    w: r.w + 2.0 * x,
                    h: (r.h + 2.0 * y + HEADER).max(EMPTY_GROUP.1),
                }
            });
            self.boxes.insert(group.id.clone(), bounds);
        }
    }

    fn add_ports(&mut self, doc: &Scenario) {
        for node in &doc.nodes {
            let (Some(bounds), Some(kind)) = (self.boxes.get(&node.id), schema::kind(&node.kind)) else {
                continue;
            };
            for direction in [Direction::In, Direction::Out] {
                let side: Vec<_> = kind.ports.iter().filter(|p| p.direction == direction).collect();
                let x = if direction == Direction::In { bounds.x } else { bounds.x + bounds.w };
                for (i, port) in side.iter().enumerate() {
                    let share = (i as f64 + 1.0) / (side.len() as f64 + 1.0);
                    let at = pt(x, bounds.y + bounds.h * share);
                    let port = PortRef::new(&node.id, port.name);
                    self.spots.insert(port.clone(), self.ports.len());
                    self.ports.push(PortSpot { port, direction, at });
                }
            }
        }
    }

    fn add_curves(&mut self, doc: &Scenario) {
        for edge in &doc.edges {
            if let (Some(a), Some(b)) = (self.spot(&edge.from), self.spot(&edge.to)) {
                self.curves.push((edge.id.clone(), Curve::between(a.at, b.at)));
            }
        }
    }

    /// The box of a node.
    pub fn bounds(&self, id: &str) -> Option<Rect> {
        self.boxes.get(id).copied()
    }

    /// The boxes of all nodes but supervisors.
    pub fn bounds_of_cards(&self) -> impl Iterator<Item = Rect> + '_ {
        self.boxes.iter().filter(|(id, _)| !self.groups.contains(id)).map(|(_, r)| *r)
    }

    /// The spot of a port.
    pub fn spot(&self, port: &PortRef) -> Option<&PortSpot> {
        self.spots.get(port).map(|i| &self.ports[*i])
    }

    /// The curve of an edge of the document.
    pub fn curve(&self, edge: &str) -> Option<Curve> {
        self.curves.iter().find(|(id, _)| id == edge).map(|(_, c)| *c)
    }

    /// A curve from node to node, for an edge that the document does not draw: it leaves to the left, since replies go
    /// back, and comes down on the receiver, or up to it, so that it crosses few cards.
    pub fn reply_curve(&self, from: &str, to: &str) -> Option<Curve> {
        let (a, b) = (self.bounds(from)?, self.bounds(to)?);
        let (start, middle) = (pt(a.x, a.y + a.h * 0.8), b.centre().x);
        let from_above = a.centre().y < b.centre().y;
        let (end, bend) = match from_above {
            true => (pt(middle, b.y), pt(middle, b.y - 130.0)),
            false => (pt(middle, b.y + b.h), pt(middle, b.y + b.h + 130.0)),
        };
        let reach = ((start.x - middle).abs() * 0.45).clamp(60.0, 220.0);
        Some(Curve { points: [start, pt(start.x - reach, start.y), bend, end] })
    }

    /// The box around everything.
    pub fn extent(&self) -> Option<Rect> {
        self.boxes.values().copied().reduce(|a, b| a.union(&b))
    }

    /// The port nearest to a point within a reach.
    pub fn port_near(&self, p: Point, reach: f64) -> Option<&PortSpot> {
        self.ports
            .iter()
            .map(|spot| (spot.at.distance(p), spot))
            .filter(|(distance, _)| *distance <= reach)
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, spot)| spot)
    }

    /// The innermost supervisor around a point.
    pub fn group_at(&self, p: Point) -> Option<&str> {
        self.groups.iter().rev().find(|g| self.boxes[*g].contains(p)).map(String::as_str)
    }

    /// What lies under a point, topmost first.
    pub fn hit(&self, p: Point) -> Hit {
        self.hit_within(p, PORT_REACH)
    }

    /// What lies under a point, topmost first; ports are hit from as far as `reach`.
    pub fn hit_within(&self, p: Point, reach: f64) -> Hit {
        if let Some(spot) = self.port_near(p, reach) {
            return Hit::Port(spot.clone());
        }
        let card = self.boxes.iter().find(|(id, r)| !self.groups.contains(id) && r.contains(p));
        if let Some((id, _)) = card {
            return Hit::Node(id.clone());
        }
        if let Some((id, _)) = self.curves.iter().find(|(_, c)| c.distance(p) <= EDGE_REACH) {
            return Hit::Edge(id.clone());
        }
        match self.group_at(p) {
            Some(id) if p.y <= self.boxes[id].y + HEADER => Hit::Node(id.to_owned()),
            Some(id) => Hit::Inside(id.to_owned()),
            None => Hit::Empty,
        }
    }
}

/// How many supervisors stand above a node; a circle of parents ends after as many steps as there are nodes.
fn depth(doc: &Scenario, node: &Node) -> usize {
    let mut depth = 0;
    let mut at = node.parent.as_deref();
    while let Some(parent) = at {
        depth += 1;
        if depth > doc.nodes.len() {
            break;
        }
        at = doc.nodes.iter().find(|n| n.id == parent).and_then(|n| n.parent.as_deref());
    }
    depth
}

/// Lists a node and all that it supervises, directly or not.
pub fn with_descendants(doc: &Scenario, id: &str) -> Vec<String> {
    let mut all = vec![id.to_owned()];
    let mut next = 0;
    while next < all.len() && next <= doc.nodes.len() {
        let parent = all[next].clone();
        for child in doc.nodes.iter().filter(|n| n.parent.as_deref() == Some(&parent)) {
            if !all.contains(&child.id) {
                all.push(child.id.clone());
            }
        }
        next += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doc() -> Scenario {
        serde_json::from_str(
            r#"{"version":1,"seed":1,"workers":1,"nodes":[
                {"id":"s","kind":"source","x":0,"y":0},
                {"id":"pool","kind":"supervisor"},
                {"id":"w","kind":"worker","parent":"pool","x":400,"y":0}],
               "edges":[{"id":"e","from":"s.out","to":"w.in"}]}"#,
        )
        .expect("a document")
    }

    #[test]
    fn a_point_hits_port_card_edge_header_and_inside() {
        let layout = Layout::of(&doc(), &|_| None);
        assert!(matches!(layout.hit(pt(92.0, 0.0)), Hit::Port(s) if s.port == PortRef::new("s", "out")));
        assert_eq!(layout.hit(pt(0.0, 20.0)), Hit::Node("s".into()));
        assert_eq!(layout.hit(layout.curve("e").expect("drawn").at(0.5)), Hit::Edge("e".into()));
        let pool = layout.bounds("pool").expect("has a box");
        assert_eq!(layout.hit(pt(pool.x + 30.0, pool.y + 5.0)), Hit::Node("pool".into()));
        assert_eq!(layout.hit(pt(pool.x + 30.0, pool.y + pool.h - 5.0)), Hit::Inside("pool".into()));
        assert_eq!(layout.hit(pt(-900.0, 0.0)), Hit::Empty);
    }

    #[test]
    fn a_circle_of_parents_does_not_hang_the_layout() {
        let mut doc = doc();
        doc.nodes[1].parent = Some("pool".into());
        assert_eq!(Layout::of(&doc, &|_| None).groups, vec!["pool".to_owned()]);
        assert_eq!(with_descendants(&doc, "pool").len(), 2);
    }
}
