//! Whether the latest loss was one.
//!
//! It was not when every segment retransmitted arrived twice (D-SACK, RFC 2883 and RFC 3708), or when
//! an ACK echoes a timestamp from before the first of them left again (Eifel, RFC 3522; as Linux
//! has it). What was delivered of the originals after a time-out is F-RTO's matter.

use narrows_common::Time;

/// What was retransmitted since the latest loss.
#[derive(Clone, Debug, Default)]
pub struct Undo {
    /// Where the window of the loss began; `None`: there is nothing to take back.
    marker: Option<u64>,
    /// Segments retransmitted that are not known to have arrived twice; `None` before the first.
    unexplained: Option<u64>,
    first_retransmitted_at: Option<Time>,
}

impl Undo {
    /// A loss was found with `una` the first position not acknowledged.
    pub fn begin(&mut self, una: u64) {
        *self = Undo { marker: Some(una), ..Undo::default() };
    }

    /// Nothing is left to be taken back.
    pub fn end(&mut self) {
        *self = Undo::default();
    }

    /// A segment left again.
    pub fn on_retransmitted(&mut self, now: Time) {
        if self.marker.is_some() {
            self.unexplained = Some(self.unexplained.unwrap_or(0) + 1);
            self.first_retransmitted_at.get_or_insert(now);
        }
    }

    /// The peer got `[start, end)` twice.
    pub fn on_duplicate(&mut self, (start, end): (u64, u64), mss: u32) {
        if let (Some(marker), Some(unexplained)) = (self.marker, &mut self.unexplained) {
            if end > marker {
                let segments = end.saturating_sub(start).div_ceil(mss.into());
                *unexplained = unexplained.saturating_sub(segments);
            }
        }
    }

    /// Every retransmission was needless.
    pub fn is_explained(&self) -> bool {
        self.unexplained == Some(0)
    }

    /// The ACK echoes what left before the first retransmission. Timestamps count milliseconds.
    pub fn is_delayed(&self, echoed_at: Option<Time>) -> bool {
        let whole_ms = |at: Time| at.as_us() / 1000;
        match (self.first_retransmitted_at, echoed_at) {
            (Some(again), Some(echoed)) => whole_ms(echoed) < whole_ms(again),
            _ => false,
        }
    }
}
