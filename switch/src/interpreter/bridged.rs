//! Of a program's slots, those that go with a packet from ingress to egress.

/// The slots that a packet brings along, from the first on.
#[derive(Debug, Default)]
pub(crate) struct Bridged {
    pub extent: Extent,
    pub slots: Vec<u64>,
}

/// How many slots go with a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Extent {
    /// None: they are still in the machine, since egress runs at once.
    #[default]
    InMachine,
    /// All that egress reads of what ingress left.
    Ingress,
    /// Those, and the headers that only egress makes valid.
    WithEgressHeaders,
}
