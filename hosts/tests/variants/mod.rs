//! Checks each variant's rule against numbers of its RFC, its paper, or arithmetic written out.

mod delay_based;
mod high_speed;
mod loss_based;
mod rates;
mod slow_start;

use narrows_common::{Duration, Time};
use narrows_hosts::api::{Ack, Congestion, Parameters};
use narrows_hosts::cc::VARIANTS;
use narrows_hosts::cc::control::{CongestionControl, Setup};
use std::collections::BTreeMap;

/// A sender in congestion avoidance, driven by hand. Windows are in segments, and large, so that
/// rounding to bytes hardly matters.
struct Flow {
    cc: Box<dyn CongestionControl>,
    mss: u32,
    now: Time,
    round: u64,
    delivered_bytes: u64,
    min_rtt: Duration,
    echoes_mark: bool,
    one_way: Option<Duration>,
}

impl Flow {
    fn new(name: &str, cwnd: f64) -> Flow {
        Flow::with(name, &[], cwnd, 10_000)
    }

    /// A sender in its first slow start.
    fn starting(name: &str, parameters: &[(&str, f64)], cwnd: f64) -> Flow {
        Flow::from(name, parameters, cwnd, 10_000, u64::MAX)
    }

    fn with(name: &str, parameters: &[(&str, f64)], cwnd: f64, mss: u32) -> Flow {
        Flow::from(name, parameters, cwnd, mss, 0)
    }

    fn from(
        name: &str,
        parameters: &[(&str, f64)],
        cwnd: f64,
        mss: u32,
        initial_ssthresh_bytes: u64,
    ) -> Flow {
        let variant = VARIANTS.iter().find(|variant| variant.name == name).unwrap();
        let set: BTreeMap<String, f64> =
            parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        let cc = (variant.build)(&Setup {
            mss,
            initial_window_bytes: (cwnd * f64::from(mss)).round() as u64,
            initial_ssthresh_bytes,
            times_every_segment: true,
            handshake_rtt: None,
            seed: 1,
            parameters: Parameters::resolve(variant.name, variant.parameters, &set).unwrap(),
        });
        Flow {
            cc,
            mss,
            now: Time::ZERO,
            round: 0,
            delivered_bytes: 0,
            min_rtt: Duration::MAX,
            echoes_mark: false,
            one_way: None,
        }
    }

    fn cwnd(&self) -> f64 {
        self.cc.cwnd_bytes() as f64 / f64::from(self.mss)
    }

    /// One ACK of `segments`, with a round-trip sample.
    fn ack(&mut self, segments: f64, rtt_ms: f64) {
        let rtt = Duration::from_ps((rtt_ms * 1e9) as u64);
        let acked_bytes = (segments * f64::from(self.mss)).round() as u64;
        self.delivered_bytes += acked_bytes;
        self.min_rtt = self.min_rtt.min(rtt);
        let ack = Ack {
            now: self.now,
            acked_bytes,
            credit_bytes: acked_bytes,
            mss: self.mss,
            flight_bytes: self.cc.cwnd_bytes(),
            rtt: Some(rtt),
            srtt: rtt,
            min_rtt: self.min_rtt,
            delivered_bytes: self.delivered_bytes,
            round: self.round,
            echoes_mark: self.echoes_mark,
            one_way: self.one_way,
        };
        self.cc.on_measurement(&ack);
        self.cc.on_growth(&ack);
    }

    /// A round trip with ten ACKs of a tenth of the window; returns the growth.
    fn round(&mut self, rtt_ms: f64) -> f64 {
        let before = self.cwnd();
        for n in 0..10 {
            self.now += Duration::from_ps((rtt_ms * 1e8) as u64);
            self.round += u64::from(n == 9);
            self.ack(before / 10.0, rtt_ms);
        }
        self.cwnd() - before
    }

    fn congestion(&self) -> Congestion {
        Congestion {
            now: self.now,
            window_bytes: self.cc.cwnd_bytes(),
            mss: self.mss,
            whole_segments: false,
            is_repeated: false,
        }
    }

    /// A loss; returns the window after it.
    fn lose(&mut self) -> f64 {
        let congestion = self.congestion();
        self.cc.on_congestion(&congestion);
        self.cwnd()
    }

    /// A loss and its repair; returns the window after them.
    fn lose_and_repair(&mut self) -> f64 {
        self.lose();
        self.cc.on_recovery_exit(self.now);
        self.cwnd()
    }

    /// A time-out; returns the threshold in segments.
    fn time_out(&mut self) -> f64 {
        let congestion = self.congestion();
        self.cc.on_rto(&congestion);
        self.cc.ssthresh_bytes() as f64 / f64::from(self.mss)
    }
}

fn assert_close(got: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((got - expected).abs() <= tolerance, "{what}: {got}, expected {expected}");
}
