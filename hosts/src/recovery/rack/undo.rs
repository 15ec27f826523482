//! Detects that the latest loss was spurious.
//!
//! It was if every retransmitted segment arrived twice (D-SACK, RFC 2883 and RFC 3708), or if an
//! ACK echoes a timestamp from before the first retransmission (Eifel, RFC 3522; as in Linux).
//! F-RTO handles originals delivered after a time-out.

use narrows_common::Time;

/// The retransmissions since the latest loss.
#[derive(Clone, Debug, Default)]
pub struct Undo {
    /// The start of the lossy window; `None` if there is nothing to undo.
    marker: Option<u64>,
    /// Retransmitted segments not known to have arrived twice; `None` before the first.
    unexplained: Option<u64>,
    first_retransmitted_at: Option<Time>,
}

impl Undo {
    /// A loss was detected while `una` was the first unacknowledged position.
    pub fn begin(&mut self, una: u64) {
        *self = Undo { marker: Some(una), ..Undo::default() };
    }

    /// There is nothing left to undo.
    pub fn end(&mut self) {
        *self = Undo::default();
    }

    /// A segment was retransmitted.
    pub fn on_retransmitted(&mut self, now: Time) {
        if self.marker.is_some() {
            self.unexplained = Some(self.unexplained.unwrap_or(0) + 1);
            self.first_retransmitted_at.get_or_insert(now);
        }
    }

    /// The peer received `[start, end)` twice.
    pub fn on_duplicate(&mut self, (start, end): (u64, u64), mss: u32) {
        if let (Some(marker), Some(unexplained)) = (self.marker, &mut self.unexplained) {
            if end > marker {
                let segments = end.saturating_sub(start).div_ceil(mss.into());
                *unexplained = unexplained.saturating_sub(segments);
            }
        }
    }

    /// Every retransmission was unnecessary.
    pub fn is_explained(&self) -> bool {
        self.unexplained == Some(0)
    }

    /// The ACK echoes a segment sent before the first retransmission. Timestamps count
    /// milliseconds.
    pub fn is_delayed(&self, echoed_at: Option<Time>) -> bool {
        let whole_ms = |at: Time| at.as_us() / 1000;
        match (self.first_retransmitted_at, echoed_at) {
            (Some(again), Some(echoed)) => whole_ms(echoed) < whole_ms(again),
            _ => false,
        }
    }
}
