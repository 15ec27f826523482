//! The slots that travel with a packet from ingress to egress.

/// The slots that a packet carries, starting with the first.
#[derive(Debug, Default)]
pub(crate) struct Bridged {
    pub extent: Extent,
    pub slots: Vec<u64>,
}

/// How many slots travel with a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Extent {
    /// None: egress runs immediately, so the machine still has them.
    #[default]
    InMachine,
    /// All slots of ingress that egress reads.
    Ingress,
    /// Those, plus the headers that only egress makes valid.
    WithEgressHeaders,
}
