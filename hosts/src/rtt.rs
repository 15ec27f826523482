//! Round-trip time and the retransmission time-out (RFC 6298), also with Linux's and ns-2's rules.
//!
//! SRTT := 7/8 SRTT + 1/8 R, RTTVAR := 3/4 RTTVAR + 1/4 |SRTT - R|, RTO := SRTT + max(G, 4 RTTVAR).
//! The first sample sets SRTT = R, RTTVAR = R/2. Values are in picoseconds, rounded down.

use crate::api::{Profile, RttRule};
use narrows_common::{Duration, Time};

/// The estimator of one connection.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    rule: RttRule,
    initial_rto: Duration,
    min_rto: Duration,
    max_rto: Duration,
    /// RFC 6298's SRTT; for ns-2 in ticks times 8.
    srtt: u64,
    rttvar: u64,
    has_sample: bool,
    latest: Duration,
    sampled_at: Time,
    min_rtt: Duration,
    /// How often the time-out has doubled since the last valid sample or new ACK.
    backoff: u32,
    /// The offset of ns-2's ticks, below one tick.
    boot_phase: Duration,
    /// Linux: the earliest time at which the deviation may decrease.
    var_falls_at: Time,
}

impl RttEstimator {
    /// The state before the first sample. `boot_phase` is the offset of ns-2's ticks.
    pub fn new(profile: &Profile, boot_phase: Duration) -> Self {
        let Profile { rtt: rule, initial_rto, min_rto, max_rto, .. } = *profile;
        RttEstimator {
            rule,
            initial_rto,
            min_rto,
            max_rto,
            srtt: 0,
            rttvar: 0,
            has_sample: false,
            latest: Duration::ZERO,
            sampled_at: Time::ZERO,
            min_rtt: Duration::MAX,
            backoff: 0,
            boot_phase,
            var_falls_at: Time::ZERO,
        }
    }

    /// A segment sent once was acknowledged `rtt` after it left.
    pub fn on_sample(&mut self, now: Time, rtt: Duration) {
        self.latest = rtt;
        self.sampled_at = now;
        self.min_rtt = self.min_rtt.min(rtt);
        self.backoff = 0;
        match self.rule {
            RttRule::Rfc6298 { .. } => self.update(rtt.as_ps(), true),
            RttRule::Linux => {
                let may_fall = now >= self.var_falls_at;
                self.update(rtt.as_ps(), may_fall);
                if may_fall {
                    self.var_falls_at = now + self.srtt();
                }
            }
            RttRule::Ns2 { tick } => {
                // The departure may be anywhere within a tick.
                let left_at = now.as_ps() - rtt.as_ps() + self.boot_phase.as_ps();
                let ticks = (rtt.as_ps() + left_at % tick.as_ps()) / tick.as_ps();
                self.update_ticks(ticks.max(1));
            }
        }
        self.has_sample = true;
    }

    fn update(&mut self, rtt: u64, var_may_fall: bool) {
        if !self.has_sample {
            (self.srtt, self.rttvar) = (rtt, rtt / 2);
            return;
        }
        let rttvar = (3 * self.rttvar + self.srtt.abs_diff(rtt)) / 4;
        if var_may_fall || rttvar > self.rttvar {
            self.rttvar = rttvar;
        }
        self.srtt = (7 * self.srtt + rtt) / 8;
    }

    /// SRTT times 8 and RTTVAR times 4, in whole ticks.
    fn update_ticks(&mut self, ticks: u64) {
        if self.srtt == 0 {
            (self.srtt, self.rttvar) = (ticks << 3, ticks << 1);
            return;
        }
        let difference = ticks as i64 - (self.srtt >> 3) as i64;
        self.srtt = self.srtt.saturating_add_signed(difference).max(1);
        let deviation = difference.abs() - (self.rttvar >> 2) as i64;
        self.rttvar = self.rttvar.saturating_add_signed(deviation).max(1);
    }

    /// The time-out expired: the next one is twice as long.
    pub fn on_timeout(&mut self) {
        self.backoff = (self.backoff + 1).min(32);
        if let RttRule::Ns2 { .. } = self.rule {
            // Beyond a factor of 8 the estimate is invalid; the next sample starts again.
            if self.backoff > 3 {
                self.rttvar += self.srtt >> 3;
                self.srtt = 0;
            }
        }
    }

    /// Ends the back-off without a sample (ns-2's Sack1).
    pub fn clear_backoff(&mut self) {
        self.backoff = 0;
    }

    /// RFC 6298 rule 5.7: a lost SYN makes the first time-out of the data 3 s.
    pub fn on_syn_lost(&mut self) {
        self.initial_rto = self.initial_rto.max(Duration::from_secs(3));
        self.backoff = 0;
    }

    /// The current time-out.
    pub fn rto(&self) -> Duration {
        let base = match self.rule {
            _ if !self.has_sample => self.initial_rto,
            RttRule::Rfc6298 { granularity } => {
                Duration::from_ps(self.srtt + granularity.as_ps().max(4 * self.rttvar))
            }
            RttRule::Linux => {
                Duration::from_ps(self.srtt + self.min_rto.as_ps().max(4 * self.rttvar))
            }
            RttRule::Ns2 { tick } => tick * (((self.rttvar << 3) + self.srtt) >> 3),
        };
        base.max(self.min_rto).saturating_mul(1 << self.backoff).min(self.max_rto)
    }

    /// Smoothed round-trip time; zero before a sample.
    pub fn srtt(&self) -> Duration {
        match self.rule {
            RttRule::Ns2 { tick } => tick.mul_div_floor(self.srtt, 8),
            _ => Duration::from_ps(self.srtt),
        }
    }

    /// The sample taken at `now`; zero where there was none.
    pub fn sample_at(&self, now: Time) -> Duration {
        if self.sampled_at == now { self.latest } else { Duration::ZERO }
    }

    /// The minimum sample; [`Duration::MAX`] before one.
    pub fn min_rtt(&self) -> Duration {
        self.min_rtt
    }

    /// True after the first sample.
    pub fn has_sample(&self) -> bool {
        self.has_sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::profiles::{LINUX, NS2, RFC};

    fn estimator(profile: &Profile) -> RttEstimator {
        RttEstimator::new(profile, Duration::ZERO)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn rfc_6298_worked_by_hand() {
        let mut rtt = estimator(&Profile { min_rto: Duration::ZERO, ..RFC });
        assert_eq!(rtt.rto(), Duration::from_secs(1));
        rtt.on_sample(at(800), Duration::from_ms(800));
        // SRTT 800, VAR 400: 800 + 4 * 400.
        assert_eq!(rtt.rto(), Duration::from_ms(2400));
        rtt.on_sample(at(1200), Duration::from_ms(400));
        // VAR (3*400 + 400)/4 = 400, SRTT (7*800 + 400)/8 = 750: 750 + 1600.
        assert_eq!((rtt.srtt(), rtt.rto()), (Duration::from_ms(750), Duration::from_ms(2350)));
        rtt.on_timeout();
        assert_eq!(rtt.rto(), Duration::from_ms(4700));
        for _ in 0..10 {
            rtt.on_timeout();
        }
        assert_eq!(rtt.rto(), Duration::from_secs(60));
        rtt.on_sample(at(2000), Duration::from_ms(750));
        // VAR 300: 750 + 1200.
        assert_eq!(rtt.rto(), Duration::from_ms(1950));
    }

    #[test]
    fn the_rfc_minimum_is_a_second_and_includes_granularity() {
        let mut rtt = estimator(&RFC);
        rtt.on_sample(at(10), Duration::from_ms(10));
        assert_eq!(rtt.rto(), Duration::from_secs(1));
        let mut rtt = estimator(&Profile { min_rto: Duration::ZERO, ..RFC });
        for _ in 0..100 {
            rtt.on_sample(at(10), Duration::from_ms(10));
        }
        assert_eq!(rtt.rto(), Duration::from_ms(11));
    }

    #[test]
    fn linux_keeps_200_ms_above_the_mean() {
        let mut rtt = estimator(&LINUX);
        for n in 1..200 {
            rtt.on_sample(at(50 * n), Duration::from_ms(50));
        }
        assert_eq!(rtt.rto(), Duration::from_ms(250));
    }

    #[test]
    fn ns2_counts_in_ticks() {
        // ns-2's arithmetic: RTT 0.10 s gives SRTT 0.10, VAR 0.05, RTO 0.30 s.
        let mut rtt = estimator(&NS2);
        assert_eq!(rtt.rto(), Duration::from_secs(3));
        rtt.on_sample(at(100), Duration::from_ms(100));
        assert_eq!((rtt.srtt(), rtt.rto()), (Duration::from_ms(100), Duration::from_ms(300)));
        // A second one: 10 ticks, difference 0, deviation 0 - 5 ticks: VAR*4 = 20 - 5 = 15;
        // (15*8 + 80) / 8 = 25 ticks.
        rtt.on_sample(at(200), Duration::from_ms(100));
        assert_eq!(rtt.rto(), Duration::from_ms(250));
        // 95 ms that began 8 ms into a tick: 103 ms, 10 ticks.
        rtt.on_sample(at(303), Duration::from_ms(95));
        assert_eq!(rtt.srtt(), Duration::from_ms(100));
    }
}
