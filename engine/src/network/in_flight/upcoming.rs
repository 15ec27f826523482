//! The packets that arrive next, so that their memory is asked for ahead of time.

/// The bytes of a packet that its receiver reads: its headers and a stamp.
pub(in crate::network) const PARSED_BYTES: usize = 128;
/// How many packets are known ahead. Each next step of a receiver's memory has a place of its own,
/// see `Network::ask_ahead`.
pub(super) const AHEAD: usize = 6;

/// The slots of the next packets, as far as they have been seen: the front of each bucket. A packet
/// that is sent between them is left out, so this is a guess, and serves for nothing else.
#[derive(Debug, Default)]
pub(super) struct Upcoming {
    slots: [u32; AHEAD],
    len: usize,
    /// The bucket after those seen.
    pub(super) bucket: Option<usize>,
}

impl Upcoming {
    /// The slot of the packet so many places ahead.
    #[inline]
    pub(super) fn get(&self, ahead: usize) -> Option<u32> {
        self.slots[..self.len].get(ahead).copied()
    }

    /// A packet has left its slot; returns whether it was the first of these.
    #[inline]
    pub(super) fn take(&mut self, slot: u32) -> bool {
        let is_first = self.len > 0 && self.slots[0] == slot;
        if is_first {
            self.slots.copy_within(1.., 0);
            self.len -= 1;
        }
        is_first
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.len == AHEAD
    }

    /// Adds a slot; there is room.
    #[inline]
    pub(super) fn push(&mut self, slot: u32) {
        self.slots[self.len] = slot;
        self.len += 1;
    }
}
