//! Ways into hubs and out of them.

use super::sink::{Make, Sink, SinkPlan};
use super::source::{Plan, Source, SourcePlan};
use crate::stream::blueprint::Builder;
use crate::stream::done::{Done, done};
use crate::stream::hub::broadcast_hub::{BroadcastHub, HubSettings, HubSink, HubSource};
use crate::stream::hub::merge_hub::{MergeHub, MergeSink, MergeSource};

impl Sink<()> {
    /// Hands every element to all streams that join the hub, at the pace of the slowest. Each run is a hub of its own.
    #[doc(alias = "share")]
    #[doc(alias = "publish")]
    pub fn broadcast_hub<T>(settings: HubSettings) -> Sink<impl SinkPlan<In = T, Mat = BroadcastHub<T>>>
    where
        T: Clone + Send + 'static,
    {
        let make = move || {
            let hub = BroadcastHub::new(settings);
            (HubSink::new(hub.clone()), hub)
        };
        Sink { plan: Make("broadcast_hub", make) }
    }
}

impl<T: Clone + Send + 'static> BroadcastHub<T> {
    /// Makes a source of the hub's elements; each run of it joins once it begins.
    pub fn source(&self) -> Source<impl Plan<Out = T> + use<T>> {
        let hub = self.clone();
        let make = move |_: &mut Builder| HubSource::new(hub.clone());
        Source { plan: SourcePlan(make, "broadcast_hub") }
    }
}

impl Source<()> {
    /// Makes a source of the elements of all streams that join the hub, with room for `buffer` elements of each (0 counts as 1).
    /// It is for one run: a further one fails with [`StreamError::HubGone`](crate::stream::StreamError::HubGone).
    #[doc(alias = "dynamic merge")]
    pub fn merge_hub<T: Send + 'static>(buffer: usize) -> (MergeHub<T>, Source<impl Plan<Out = T>>) {
        let hub = MergeHub::new(buffer);
        let own = hub.clone();
        let make = move |_: &mut Builder| MergeSource::new(own.clone());
        (hub, Source { plan: SourcePlan(make, "merge_hub") })
    }
}

impl<T: Send + 'static> MergeHub<T> {
    /// Makes a sink into the hub; each run of it joins once it begins. The result counts what it has handed over.
    pub fn sink(&self) -> Sink<impl SinkPlan<In = T, Mat = Done<u64>> + use<T>> {
        let hub = self.clone();
        let make = move || {
            let (completer, result) = done();
            (MergeSink::new(hub.clone(), completer), result)
        };
        Sink { plan: Make("merge_hub", make) }
    }
}
