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

pub use partition_result::PartitionResult;
pub use wire_tap::WireTap;
