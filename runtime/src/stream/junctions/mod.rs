//! The junctions, one per file: operators with several inputs or outputs. Each says when it emits, backpressures,
//! completes and cancels. All follow the common rule of failure and cancellation (see [`graph::junction`](super::graph::junction)).

pub mod balance;
pub mod broadcast;
pub mod concat;
pub mod interleave;
pub mod merge;
pub mod partition;
pub mod unzip;
pub mod zip;
pub mod zip_n;

pub mod latest;
pub mod merge_latest;
pub mod merge_prioritized;
pub mod merge_sequence;
pub mod merge_sorted;
pub mod or_else;
pub mod partition_result;
pub mod wire_tap;

pub use balance::Balance;
pub use broadcast::Broadcast;
pub use concat::Concat;
pub use interleave::Interleave;
pub use merge::Merge;
pub use partition::Partition;
pub use unzip::Unzip;
pub use zip::ZipWith;
pub use zip_n::ZipN;

pub use latest::{WithLatest, ZipLatest};
pub use merge_latest::MergeLatest;
pub use merge_prioritized::MergePrioritized;
pub use merge_sequence::MergeSequence;
pub use merge_sorted::MergeSorted;
pub use or_else::OrElse;
pub use partition_result::PartitionResult;
pub use wire_tap::WireTap;
