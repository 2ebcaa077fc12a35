//! What the working parts of a stream say of themselves in a debugger: their names.
//!
//! They hold functions and half-done work, of which there is nothing to show; what they do is in snapshots and events.

use std::fmt;

use super::kernel::Kernel;

macro_rules! named {
    ($([$($generics:tt)*] $part:ty, $name:literal;)+) => {
        $(impl<$($generics)*> fmt::Debug for $part {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad($name)
            }
        })+
    };
}

named! {
    [T] super::kernel::Out<'_, T>, "Out";
    [] super::kernel::Run<'_>, "Run";
    [] super::kernel::Cx<'_, '_>, "Cx";
    [] super::host::Request, "Request";
    [T] super::cell::Answer<T>, "Answer";
    [T] super::cell::Step<T>, "Step";
    [K: Kernel, const TRACE: bool] super::cell::Cell<K, TRACE>, "Cell";
    [] super::interpreter::DynChain, "DynChain";
    [] super::graph::junction::Ports<'_, '_>, "Ports";
    [] super::interpreter::chain::Chain, "Chain";
    [] super::interpreter::drawing::Drawing, "Drawing";
    [] super::interpreter::dyn_cell::Chunk, "Chunk";
    [A] super::ops::buffer::Buffer<A>, "Buffer";
    [] super::ops::compute::Compute, "Compute";
    [] super::ops::compute::Keep, "Keep";
    [T] super::ops::feed::Feed<T>, "Feed";
    [T] super::ops::feed::FeedSource<T>, "FeedSource";
    [A, F] super::ops::filter::Filter<A, F>, "Filter";
    [A, S, F] super::ops::fold::Fold<A, S, F>, "Fold";
    [A, S, F] super::ops::fold::FoldSink<A, S, F>, "FoldSink";
    [A, F, E] super::ops::for_each::ForEach<A, F, E>, "ForEach";
    [I] super::ops::from_iter::FromIter<I>, "FromIter";
    [A] super::ops::grouped::Grouped<A>, "Grouped";
    [A, F] super::ops::map::Map<A, F>, "Map";
    [A, F] super::ops::map::TryMap<A, F>, "TryMap";
    [A, F] super::ops::map::MapCx<A, F>, "MapCx";
    [B] super::ops::job::Job<B>, "Job";
    [B] super::ops::job::JobFuture<B>, "JobFuture";
    [A, B, F] super::ops::map_async::MapAsync<A, B, F>, "MapAsync";
    [] super::ops::range::Range, "Range";
    [A] super::ops::take::Take<A>, "Take";
    [A, F] super::ops::throttle::Throttle<A, F>, "Throttle";
    [T] super::ops::tick::Tick<T>, "Tick";
    [I] super::ops::timed_request::TimedRequest<I>, "TimedRequest";
    [K: Kernel] super::ops::worked::Worked<K>, "Worked";
    [K: Kernel] super::pipe::Head<K>, "Head";
    [U, K: Kernel] super::pipe::Then<U, K>, "Then";
    [] super::blueprint::Builder, "Builder";
    [] super::blueprint::Built, "Built";
    [T] super::boundary::RingWriter<T>, "RingWriter";
    [T] super::boundary::RingReader<T>, "RingReader";
    [] super::handle::StreamHandle, "StreamHandle";
    [] super::local::LocalRun, "LocalRun";
    [T] super::dsl::flow::Identity<T>, "Identity";
    [G, F] super::dsl::flow::FlowThen<G, F>, "FlowThen";
    [G] super::dsl::flow::Via<G>, "Via";
    [G] super::dsl::flow::Flow<G>, "Flow";
    [S] super::dsl::sink::Sink<S>, "Sink";
    [P, S] super::dsl::sink::Closed<P, S>, "Closed";
    [F] super::dsl::source::SourcePlan<F>, "SourcePlan";
    [U, F] super::dsl::source::ThenPlan<U, F>, "ThenPlan";
    [U] super::dsl::source::BoundaryPlan<U>, "BoundaryPlan";
    [P] super::dsl::source::Source<P>, "Source";
    [A, F] super::ops::collect::Collect<A, F>, "Collect";
    [A, F] super::ops::collect::CollectUntil<A, F>, "CollectUntil";
    [A, T, F] super::ops::decide::Decide<A, T, F>, "Decide";
    [A, T] super::ops::decide::Refuse<A, T>, "Refuse";
    [A] super::ops::drop_first::DropFirst<A>, "DropFirst";
    [A, F] super::ops::drop_first::DropWhile<A, F>, "DropWhile";
    [A, F] super::ops::drop_repeated::DropRepeated<A, F>, "DropRepeated";
    [A, F] super::ops::grouped_weighted::GroupedWeighted<A, F>, "GroupedWeighted";
    [A, F] super::ops::inspect::Inspect<A, F>, "Inspect";
    [A] super::ops::intersperse::Intersperse<A>, "Intersperse";
    [A, F] super::ops::limit::Limit<A, F>, "Limit";
    [A, I: IntoIterator, F] super::ops::map_concat::MapConcat<A, I, F>, "MapConcat";
    [A, F] super::ops::recover::Recover<A, F>, "Recover";
    [A, F] super::ops::reduce::Reduce<A, F>, "Reduce";
    [A, F] super::ops::reduce::ReduceSink<A, F>, "ReduceSink";
    [A, S, P, F] super::ops::reduce::FoldWhile<A, S, P, F>, "FoldWhile";
    [A, S, F] super::ops::scan::Scan<A, S, F>, "Scan";
    [A] super::ops::single::Single<A>, "Single";
    [A] super::ops::single::Mute<A>, "Mute";
    [A] super::ops::sliding::Sliding<A>, "Sliding";
    [A, S, F, E] super::ops::stateful_map::StatefulMap<A, S, F, E>, "StatefulMap";
    [A] super::ops::take_last::TakeLast<A>, "TakeLast";
    [A, F] super::ops::take_while::TakeWhile<A, F>, "TakeWhile";
    [S, F] super::ops::unfold::Unfold<S, F>, "Unfold";
    [I] super::ops::unfold::Cycle<I>, "Cycle";
    [A] super::ops::zip_with_index::ZipWithIndex<A>, "ZipWithIndex";
    [A, B, F] super::ops::map_async_unordered::MapAsyncUnordered<A, B, F>, "MapAsyncUnordered";
    [A, B, K, G, F] super::ops::map_async_partitioned::MapAsyncPartitioned<A, B, K, G, F>, "MapAsyncPartitioned";
    [A, S, C, Z, F] super::ops::conflate::Conflate<A, S, C, Z, F>, "Conflate";
    [A] super::ops::delay::Delay<A>, "Delay";
    [A, W] super::ops::grouped_within::GroupedWithin<A, W>, "GroupedWithin";
    [A] super::ops::timeouts::Timeout<A>, "Timeout";
    [A] super::ops::within::TakeWithin<A>, "TakeWithin";
    [A] super::ops::within::DropWithin<A>, "DropWithin";
    [A, F] super::ops::keep_alive::KeepAlive<A, F>, "KeepAlive";
    [A, I: Iterator, F] super::ops::expand::Expand<A, I, F>, "Expand";
    [A] super::ops::latest::Latest<A>, "Latest";
    [F: super::dsl::Factory, D] super::ops::supervised::Supervised<F, D>, "Supervised";
    [A] super::dsl::Blank<A>, "Blank";
    [F] super::dsl::Filled<F>, "Filled";
    [] super::ops::kill_switch::KillSwitch, "KillSwitch";
    [A] super::ops::kill_switch::Killable<A>, "Killable";
    [] super::ops::valve::Valve, "Valve";
    [A] super::ops::valve::Gate<A>, "Gate";
    [A] super::ops::watch_termination::Watched<A>, "Watched";
    [T] super::hub::broadcast_hub::BroadcastHub<T>, "BroadcastHub";
    [T] super::hub::broadcast_hub::HubSink<T>, "HubSink";
    [T] super::hub::broadcast_hub::HubSource<T>, "HubSource";
    [T] super::hub::merge_hub::MergeHub<T>, "MergeHub";
    [T] super::hub::merge_hub::MergeSource<T>, "MergeSource";
    [T] super::hub::merge_hub::MergeSink<T>, "MergeSink";
}
