//! A drawn node before it runs: what it is, and how a linear one becomes a cell of a chain.

use std::sync::Arc;

use super::DynCell;
use super::drawing::DrawError;
use crate::stream::blueprint::Builder;
use crate::stream::done::{Completer, Done, done};
use crate::stream::kernel::{Cx, Kernel, Never};
use crate::stream::ops::feed::{Feed, FeedSource};
use crate::stream::ops::for_each::ForEach;
use crate::stream::params::{Params, Settings, check_all};
use crate::stream::registry::{OpSchema, Role, cell, find};
use crate::stream::signal::End;
use crate::stream::value::Value;
use crate::sync::Mutex;

pub(super) type OnElement = Box<dyn FnMut(&mut Cx, Value) + Send>;
pub(super) type OnEnd = Box<dyn FnMut(&mut Cx, &End) + Send>;

/// What a drawn node does.
#[derive(Clone)]
pub(super) enum Stage {
    Op { kind: String, params: Params },
    Feed(Feed<Value>),
    Tell(Arc<Mutex<OnElement>>, Arc<Mutex<OnEnd>>),
}

impl Stage {
    /// Says where the node may stand; nothing if there is no operator of its kind.
    pub(super) fn role(&self) -> Option<Role> {
        match self {
            Stage::Feed(_) => Some(Role::Source),
            Stage::Tell(..) => Some(Role::Sink),
            Stage::Op { kind, .. } => find(kind).map(|op| op.role),
        }
    }

    /// Is a boundary that is switched off: elements pass as if it were not there.
    fn passes_through(&self) -> bool {
        let Stage::Op { kind, params } = self else { return false };
        let off = |op: &OpSchema| {
            op.role == Role::Boundary
                && Settings { schema: op.params, params }.value("enabled") == Value::Bool(false)
        };
        find(kind).is_some_and(off)
    }
}

/// Finds what is wrong with a node by itself.
pub(super) fn check_stage(name: &Arc<str>, stage: &Stage, errors: &mut Vec<DrawError>) {
    let Stage::Op { kind, params } = stage else { return };
    let Some(op) = find(kind) else {
        errors.push(DrawError::UnknownKind { node: name.clone(), kind: kind.clone() });
        return;
    };
    let bad = check_all(op.params, params).into_iter();
    errors.extend(bad.map(|e| DrawError::BadParam { node: name.clone(), field: e.key, reason: e.reason }));
}

pub(super) type Cells = Vec<Box<dyn DynCell>>;

/// Adds a linear stage behind others; a sink gives its result.
pub(super) fn add_stage(
    b: &mut Builder,
    mut cells: Cells,
    name: &Arc<str>,
    stage: &Stage,
) -> (Cells, Option<Done<Value>>) {
    if stage.passes_through() {
        return (cells, None);
    }
    let (mut completer, result) = match stage.role() {
        Some(Role::Sink) => {
            let (completer, result) = done();
            (Some(completer), Some(result))
        }
        _ => (None, None),
    };
    let done = &mut completer;
    let cell = match stage {
        Stage::Feed(feed) => {
            feed.attach(b.shared().clone(), b.part());
            b.dynamic(name, FeedSource::new(feed.clone()))
        }
        Stage::Tell(f, at_end) => b.dynamic(name, tell(f.clone(), at_end.clone(), done.take())),
        Stage::Op { kind, params } => {
            let Some(op) = find(kind) else { return (cells, None) };
            let set = Settings { schema: op.params, params };
            if op.role == Role::Boundary {
                return (b.cut_dynamic(cells, name, set.size("capacity")), None);
            }
            match cell(b, name, op, &set, done) {
                Some(cell) => cell,
                None => return (cells, None),
            }
        }
    };
    cells.push(cell);
    (cells, result)
}

fn tell(
    f: Arc<Mutex<OnElement>>,
    at_end: Arc<Mutex<OnEnd>>,
    done: Option<Completer<Value>>,
) -> impl Kernel<In = Value, Out = Never> {
    let (mut done, mut seen) = (done.unwrap_or_default(), Arc::new(Mutex::new(0i64)));
    let counter = seen.clone();
    let each = move |cx: &mut Cx, x: Value| {
        *counter.lock() += 1;
        (f.lock())(cx, x);
    };
    let end = move |cx: &mut Cx, end: &End| {
        (at_end.lock())(cx, end);
        let n = *std::mem::take(&mut seen).lock();
        done.set(match end {
            End::Failed(e) => Err(e.clone()),
            _ => Ok(Value::Int(n)),
        });
    };
    ForEach::new(each, end, Completer::default())
}
