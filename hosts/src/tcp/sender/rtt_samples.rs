//! Selects the ACKs and segments that give a round-trip sample.

use crate::outstanding::sent_segments::Acked;
use crate::tcp::sender::Sender;
use narrows_common::{Duration, Time};

impl Sender {
    /// The segment that ends at `end` was SACKed for the first time. If every segment is timed,
    /// this is a valid sample (Linux; RFC 6298 section 3 only requires Karn's rule).
    pub fn on_segment_sacked(&mut self, now: Time, end: u64) {
        let sent_at = self.board.sent.sent_at(end);
        if let Some(sent_at) = sent_at.filter(|_| self.profile.times_every_segment) {
            self.take_sample(now, now.since(sent_at));
        }
    }

    pub(super) fn take_sample(&mut self, now: Time, rtt: Duration) {
        self.rtt.on_sample(now, rtt);
        self.rtt_histogram.add(rtt);
    }

    /// Takes a round-trip sample if the ACK permits one.
    pub(super) fn sample(
        &mut self,
        now: Time,
        ack: u64,
        had_sacked: bool,
        echoed: Option<Duration>,
    ) -> Option<Duration> {
        let Sender { board, recovery, rate, follows_segments, .. } = self;
        let Acked { oldest_at, newest_at, is_ambiguous, newest_is_ambiguous } =
            board.sent.on_cumulative_ack(ack, |start, sent| {
                if *follows_segments {
                    recovery.on_segment_delivered(now, start, sent);
                }
                rate.on_delivered(now, sent, sent.end - start);
            });
        self.edge_sent_at = oldest_at.or(self.edge_sent_at);
        if self.recovery.samples_every_ack(&self.board) {
            self.timed = self.timed.filter(|&(end, _)| ack < end);
            return self.sample_edge(now);
        }
        if !self.profile.times_every_segment {
            // A SACKed segment arrived earlier.
            let is_sample = self.samples_segments && !newest_is_ambiguous && !had_sacked;
            let newest_at = newest_at.filter(|_| is_sample);
            let newest = newest_at.map(|sent_at| now.since(sent_at));
            let Some((_, sent_at)) = self.timed.filter(|&(end, _)| ack >= end) else {
                return newest;
            };
            self.timed = None;
            let rtt = now.since(sent_at);
            self.take_sample(now, rtt);
            return Some(newest.unwrap_or(rtt));
        }
        let oldest = oldest_at.filter(|_| !is_ambiguous).map(|sent_at| now.since(sent_at));
        if let Some(rtt) = oldest.or(echoed) {
            self.take_sample(now, rtt);
        }
        // SACKed segments arrived earlier: only the oldest one was just received.
        if had_sacked { oldest } else { oldest.and(newest_at).map(|sent_at| now.since(sent_at)) }
    }

    /// The round trip by a timestamp that the peer keeps echoing.
    pub(super) fn sample_edge(&mut self, now: Time) -> Option<Duration> {
        let rtt = now.since(self.edge_sent_at?);
        self.take_sample(now, rtt);
        Some(rtt)
    }
}
