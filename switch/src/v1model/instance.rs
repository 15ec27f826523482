//! `standard_metadata.instance_type`: how a packet came to its parser or its queue.

pub(super) const NORMAL: u64 = 0;
pub(super) const INGRESS_CLONE: u64 = 1;
pub(super) const EGRESS_CLONE: u64 = 2;
pub(super) const RECIRCULATED: u64 = 4;
pub(super) const REPLICATION: u64 = 5;
pub(super) const RESUBMITTED: u64 = 6;
