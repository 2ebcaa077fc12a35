//! What controls a stream from outside, watches its end, or splits off what may be lost.

use std::sync::Arc;

use super::joins::Split;
use super::operators::{Factory, Make, Operators};
use super::sink::{Sink, SinkPlan};
use super::source::{Plan, Source};
use crate::stream::blueprint::Builder;
use crate::stream::done::{Done, done};
use crate::stream::graph::junction::Inputs;
use crate::stream::graph::node::Inlet;
use crate::stream::junctions::{PartitionResult, WireTap};
use crate::stream::ops::kill_switch::{KillSwitch, Killable};
use crate::stream::ops::valve::{Gate, Valve};
use crate::stream::ops::watch_termination::Watched;
use crate::stream::pipe::Then;
use crate::sync::Mutex;

/// Operators that control a [`Source`] or a [`Flow`](super::Flow) from outside.
pub trait ControlOperators: Operators {
    /// Ends here when the switch is thrown: a shutdown completes downstream and cancels upstream, an abort fails.
    ///
    /// ```
    /// use footlights::stream::{ControlOperators, KillSwitch, Sink, Source, StreamError};
    /// let switch = KillSwitch::new();
    /// switch.abort(StreamError::Killed("no more".into()));
    /// let done = Source::range(0..9).kill_switch(switch).to(Sink::ignore()).run_local();
    /// assert_eq!(done.take(), Some(Err(StreamError::Killed("no more".into()))));
    /// ```
    #[doc(alias = "take_until")]
    #[doc(alias = "abortable")]
    fn kill_switch(self, switch: KillSwitch) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("kill_switch", move || Killable::new(switch.clone())))
    }

    /// Lets elements pass while the valve is open.
    fn valve(self, valve: Valve) -> Self::With<impl Factory<In = Self::Item, Out = Self::Item>> {
        self.stage(Make("valve", move || Gate::new(valve.clone())))
    }

    /// Tells how the first run ended at this place: the error itself also where it comes as a cancel from below.
    ///
    /// ```
    /// use footlights::stream::{ControlOperators, Operators, Sink, Source, StreamError};
    /// let (ended, numbers) = Source::range(0..9).watch_termination();
    /// let bad = numbers.try_map(|n| if n == 3 { Err("three") } else { Ok(n) });
    /// bad.to(Sink::ignore()).run_local();
    /// assert!(matches!(ended.take(), Some(Err(StreamError::Stage { .. }))));
    /// ```
    fn watch_termination(self) -> (Done<()>, Self::With<impl Factory<In = Self::Item, Out = Self::Item>>) {
        let (completer, ended) = done();
        let completer = Arc::new(Mutex::new(completer));
        let make = move || Watched::new(std::mem::take(&mut *completer.lock()));
        (ended, self.stage(Make("watch_termination", make)))
    }
}

impl<O: Operators> ControlOperators for O {}

/// The plan of a source of results with a sink for the errors split off.
#[derive(Clone)]
struct SplitErrors<U, S> {
    up: U,
    sink: S,
}

impl<T, E, U, S> Plan for SplitErrors<U, S>
where
    T: Send + 'static,
    E: Send + 'static,
    U: Plan<Out = Result<T, E>>,
    S: SinkPlan<In = E>,
{
    type Out = T;
    type Pipe = Inlet<T>;
    fn build(&self, b: &mut Builder) -> Inlet<T> {
        let up = self.up.build(b);
        let up = b.open(up, "partition_result".into());
        let name: Arc<str> = format!("partition_result {}", b.part()).into();
        let ports = [name.clone(), name.clone()];
        let inputs = Inputs::default().of::<U::Out>(1);
        let (ins, outs) = b.junction(&name, PartitionResult::<T, E>::new(), inputs, (&ports[..1], &ports));
        ins.into_iter().zip([up]).for_each(|(edge, up)| b.wire(up, edge));
        let errors = b.inlet::<E>(name.clone());
        let cell = b.typed(self.sink.name(), self.sink.build().0);
        b.close(Then { up: Inlet::new(errors), cell });
        let values = b.inlet::<T>(name);
        outs.into_iter().zip([values, errors]).for_each(|(out, edge)| b.wire(out, edge));
        Inlet::new(values)
    }
}

impl<P: Plan> Source<P> {
    /// Shows every element to a sink as well, if that happens to ask: what it does not ask for is dropped for it, and counted. It
    /// never holds this way back; if this way wants no more, the sink is completed. Its result is not kept.
    ///
    /// ```
    /// use footlights::stream::{Sink, Source};
    /// let stream = Source::range(0..5).wire_tap(Sink::for_each(|_cx, n| assert!(n < 5)));
    /// assert_eq!(stream.to(Sink::fold(0, |sum, n| sum + n)).run_local().take(), Some(Ok(10)));
    /// ```
    pub fn wire_tap<S>(self, sink: Sink<S>) -> Source<impl Plan<Out = P::Out>>
    where
        P::Out: Clone,
        S: SinkPlan<In = P::Out>,
    {
        let make = WireTap::<P::Out>::new;
        Source { plan: Split { up: self.plan, sink: sink.plan, name: "wire_tap", make } }
    }

    /// Hands the errors to a sink, and the values on: errors as data. The sink's result is not kept.
    ///
    /// ```
    /// use footlights::stream::{Operators, Sink, Source};
    /// let read = Source::from_iter(["1", "x", "3"]).map(|text| text.parse::<i64>());
    /// let good = read.partition_result(Sink::for_each(|_cx, e| println!("left out: {e}")));
    /// assert_eq!(good.to(Sink::to_vec(10)).run_local().take(), Some(Ok(vec![1, 3])));
    /// ```
    pub fn partition_result<T, E, S>(self, errors: Sink<S>) -> Source<impl Plan<Out = T>>
    where
        P: Plan<Out = Result<T, E>>,
        T: Send + 'static,
        E: Send + 'static,
        S: SinkPlan<In = E>,
    {
        Source { plan: SplitErrors { up: self.plan, sink: errors.plan } }
    }
}
