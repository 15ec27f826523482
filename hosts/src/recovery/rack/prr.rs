//! Proportional rate reduction (RFC 9937, earlier RFC 6937): how much each ACK may send while the
//! window decreases to congestion control's target.
//!
//! While more than the target is in flight, an ACK sends the share target / RecoverFS of the bytes
//! delivered, rounded up to segments. Below the target, it sends the bytes delivered; an ACK that
//! advances the left edge and reports no new loss sends one segment more, up to the target. The
//! first ACK always sends a segment. As in Linux, RecoverFS is the window before the cut. The RFC
//! uses the bytes in flight, which is the same if the window was the limit.

/// One reduction.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// RecoverFS.
    recover_bytes: u64,
    /// prr_delivered and prr_out.
    delivered_bytes: u64,
    out_bytes: u64,
    /// Bytes in flight after the latest ACK, plus sndcnt.
    window_bytes: u64,
}

impl Reduction {
    /// A reduction from a window of `before_bytes`.
    pub fn new(before_bytes: u64) -> Self {
        Reduction {
            recover_bytes: before_bytes.max(1),
            delivered_bytes: 0,
            out_bytes: 0,
            window_bytes: 0,
        }
    }

    /// An ACK delivered bytes and left `in_flight_bytes`. `is_safe`: it advanced the left edge and
    /// reported no new loss.
    pub fn on_ack(
        &mut self,
        delivered_bytes: u64,
        in_flight_bytes: u64,
        target_bytes: u64,
        mss: u32,
        is_safe: bool,
    ) {
        let mss = u64::from(mss.max(1));
        self.delivered_bytes += delivered_bytes;
        let count = if in_flight_bytes > target_bytes {
            let share = u128::from(self.delivered_bytes) * u128::from(target_bytes);
            let segments = share.div_ceil(u128::from(self.recover_bytes) * u128::from(mss));
            let share_bytes = u64::try_from(segments).unwrap_or(u64::MAX).saturating_mul(mss);
            share_bytes.saturating_sub(self.out_bytes)
        } else {
            let owed = self.delivered_bytes.saturating_sub(self.out_bytes).max(delivered_bytes);
            let owed = if is_safe { owed + mss } else { owed };
            owed.min(target_bytes - in_flight_bytes)
        };
        let is_first = self.out_bytes == 0;
        let count = if is_first { count.max(mss) } else { count };
        self.window_bytes = in_flight_bytes + count;
    }

    /// This many bytes were sent.
    pub fn on_sent(&mut self, bytes: u64) {
        self.out_bytes += bytes;
    }

    /// The window until the next ACK.
    pub fn window_bytes(&self) -> u64 {
        self.window_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Delivers one segment per ACK; returns how many segments each ACK sent.
    fn run(reduction: &mut Reduction, in_flight: &mut u64, target: u64, acks: u64) -> Vec<u64> {
        (0..acks)
            .map(|_| {
                *in_flight -= MSS;
                reduction.on_ack(MSS, *in_flight, target * MSS, MSS as u32, true);
                let segments = reduction.window_bytes().saturating_sub(*in_flight) / MSS;
                reduction.on_sent(segments * MSS);
                *in_flight += segments * MSS;
                segments
            })
            .collect()
    }

    #[test]
    fn half_the_window_lets_out_every_second_segment() {
        // RFC 6937's figure 1: 20 in flight, 1 lost, ssthresh 10: one segment per two ACKs, and 10
        // in flight once all 19 delivered segments are reported.
        let (mut reduction, mut in_flight) = (Reduction::new(20 * MSS), 19 * MSS);
        let sent = run(&mut reduction, &mut in_flight, 10, 19);
        // ceil(n / 2) - out after n ACKs: 1, 0, 1, 0 ...
        assert_eq!(sent[..6], [1, 0, 1, 0, 1, 0]);
        assert_eq!((sent.iter().sum::<u64>(), in_flight), (10, 10 * MSS));
    }

    #[test]
    fn seven_tenths_let_out_seven_of_ten() {
        let (mut reduction, mut in_flight) = (Reduction::new(100 * MSS), 100 * MSS);
        let sent = run(&mut reduction, &mut in_flight, 70, 100);
        // ceil(0.7 n): 1 2 3 3 4 5 5 6 7 7.
        assert_eq!(sent[..10], [1, 1, 1, 0, 1, 1, 0, 1, 1, 0]);
        assert_eq!((sent.iter().sum::<u64>(), in_flight), (70, 70 * MSS));
    }

    #[test]
    fn after_a_burst_of_losses_it_grows_back_as_slow_start_would() {
        // RFC 6937's figure 2: 20 outstanding, 16 lost: 4 remain, below ssthresh 10. An ACK that
        // reports losses sends what was delivered; a safe one sends one segment more.
        let mut reduction = Reduction::new(20 * MSS);
        reduction.on_ack(MSS, 4 * MSS, 10 * MSS, MSS as u32, false);
        assert_eq!(reduction.window_bytes(), 5 * MSS, "conservation");
        reduction.on_sent(MSS);
        reduction.on_ack(MSS, 4 * MSS, 10 * MSS, MSS as u32, true);
        assert_eq!(reduction.window_bytes(), 6 * MSS, "slow start");
        reduction.on_sent(2 * MSS);
        // Not beyond the target.
        reduction.on_ack(9 * MSS, 8 * MSS, 10 * MSS, MSS as u32, true);
        assert_eq!(reduction.window_bytes(), 10 * MSS, "the target");
    }
}
