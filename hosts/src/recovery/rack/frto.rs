//! F-RTO: detects spurious time-outs (RFC 5682).

/// F-RTO's steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frto {
    Off,
    /// Step 1: the first segment was retransmitted.
    SentFirst,
    /// Step 2b: the ACK advanced; until the next one, only new data is sent.
    SendsNew,
}
