//! Typing (telnet): messages of one length with exponential gaps (a Poisson process), or with the
//! measured gaps of people typing.
//!
//! Source: ns-2's Application/Telnet; as there, the first message follows a first gap. With an
//! interval (`interval_` above 0) gaps are exponential. Without one they have tcplib's measured
//! distribution (Danzig and Jamin, tcplib, USC-CS-91-495), as ns-2.35 draws it for `interval_ 0`.
//! Its quantiles come from 366,547 gaps in 400,000 s of `ns`; values between are interpolated.

use crate::application::Application;
use crate::distribution;
use crate::error::{self, AppError};
use crate::key;
use crate::paced::{Message, Paced, Schedule};
use crate::workload::{self, Workload, WorkloadRecord};
use narrows_common::{Duration, Rng};
use schemars::JsonSchema;
use serde::Deserialize;

/// The workload's entry in the list.
pub const RECORD: WorkloadRecord = WorkloadRecord {
    name: "telnet",
    title: "messages of one length with exponential gaps, or tcplib's gaps",
    reference: "ns-2 Application/Telnet; Danzig and Jamin, tcplib, 1991",
    keys: &[
        key::SIZE.required(),
        key::INTERVAL.named("interval", "mean gap, exponential").or("tcplib's gaps, mean 1.1 s"),
        key::MESSAGES,
    ],
    has_messages: true,
    answers: false,
    values: workload::values::<Config>(),
};

/// Its values in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Length of a message.
    pub size_bytes: u32,
    /// Mean gap; tcplib's distribution if absent.
    #[serde(rename = "interval_ps", default)]
    pub interval: Option<Duration>,
    /// Messages to write; unlimited if absent.
    #[serde(default)]
    pub messages: Option<u64>,
}

impl Workload for Config {
    fn record(&self) -> &'static WorkloadRecord {
        &RECORD
    }

    fn check(&self) -> Result<(), AppError> {
        error::check_size(RECORD.name, self.size_bytes)?;
        let mut given = self.interval.into_iter();
        given.try_for_each(|interval| error::check_gap(RECORD.name, "interval_ps", interval))
    }

    fn build(&self) -> Box<dyn Application> {
        Box::new(self.application())
    }

    fn is_finite(&self) -> bool {
        self.messages.is_some()
    }
}

impl Config {
    pub(crate) fn application(&self) -> Paced<Typing> {
        let typing = Typing { config: *self, typed_to: Duration::ZERO };
        Paced::new(typing, self.messages)
    }
}

/// The typing.
#[derive(Debug)]
pub struct Typing {
    config: Config,
    typed_to: Duration,
}

impl Schedule for Typing {
    fn next(&mut self, rng: &mut Rng) -> Option<Message> {
        self.typed_to += match self.config.interval {
            Some(mean) => {
                Duration::from_ps(distribution::exponential(mean.as_ps() as f64, rng) as u64)
            }
            None => tcplib_gap(rng),
        };
        Some(Message { after: self.typed_to, length_bytes: self.config.size_bytes })
    }
}

/// A gap of tcplib's distribution, by inversion.
fn tcplib_gap(rng: &mut Rng) -> Duration {
    let share = rng.f64();
    let above = TCPLIB.partition_point(|&(below, _)| below <= share).clamp(1, TCPLIB.len() - 1);
    let ((low, low_us), (high, high_us)) = (TCPLIB[above - 1], TCPLIB[above]);
    let into = (share - low) / (high - low);
    let gap_us = f64::from(low_us) + into * (f64::from(high_us) - f64::from(low_us));
    Duration::from_ps((gap_us * 1e6) as u64)
}

/// Cumulative shares of tcplib's gaps, and the gaps in microseconds.
const TCPLIB: &[(f64, u32)] = &[
    (0.0, 21),
    (0.01, 1164),
    (0.02, 1942),
    (0.03, 2770),
    (0.04, 6148),
    (0.05, 21121),
    (0.06, 30554),
    (0.07, 43737),
    (0.08, 54569),
    (0.09, 62124),
    (0.1, 68341),
    (0.11, 75361),
    (0.12, 79749),
    (0.13, 84670),
    (0.14, 89458),
    (0.15, 93608),
    (0.16, 97965),
    (0.17, 99632),
    (0.18, 103_289),
    (0.19, 108_874),
    (0.2, 112_702),
    (0.21, 117_640),
    (0.22, 122_815),
    (0.23, 127_519),
    (0.24, 131_731),
    (0.25, 136_598),
    (0.26, 141_242),
    (0.27, 145_226),
    (0.28, 149_132),
    (0.29, 152_840),
    (0.3, 156_385),
    (0.31, 159_192),
    (0.32, 163_252),
    (0.33, 168_536),
    (0.34, 173_009),
    (0.35, 176_263),
    (0.36, 179_634),
    (0.37, 184_942),
    (0.38, 188_387),
    (0.39, 191_203),
    (0.4, 193_863),
    (0.41, 196_172),
    (0.42, 199_102),
    (0.43, 203_371),
    (0.44, 207_572),
    (0.45, 212_606),
    (0.46, 217_858),
    (0.47, 222_513),
    (0.48, 227_562),
    (0.49, 232_617),
    (0.5, 236_709),
    (0.51, 242_942),
    (0.52, 248_862),
    (0.53, 255_592),
    (0.54, 261_522),
    (0.55, 268_212),
    (0.56, 274_013),
    (0.57, 280_358),
    (0.58, 287_870),
    (0.59, 297_000),
    (0.6, 304_039),
    (0.61, 316_873),
    (0.62, 326_778),
    (0.63, 337_938),
    (0.64, 353_947),
    (0.65, 368_502),
    (0.66, 379_522),
    (0.67, 389_009),
    (0.68, 397_249),
    (0.69, 407_203),
    (0.7, 420_367),
    (0.71, 439_793),
    (0.72, 461_389),
    (0.73, 483_770),
    (0.74, 503_641),
    (0.75, 530_024),
    (0.76, 560_741),
    (0.77, 593_500),
    (0.78, 627_333),
    (0.79, 676_209),
    (0.8, 724_732),
    (0.81, 779_981),
    (0.82, 831_537),
    (0.83, 885_242),
    (0.84, 957_686),
    (0.85, 992_658),
    (0.86, 1_038_971),
    (0.87, 1_122_785),
    (0.88, 1_247_621),
    (0.89, 1_380_813),
    (0.9, 1_578_119),
    (0.91, 1_759_119),
    (0.92, 2_048_258),
    (0.93, 2_341_600),
    (0.94, 2_814_709),
    (0.95, 3_506_884),
    (0.96, 4_485_025),
    (0.97, 5_409_128),
    (0.98, 8_377_416),
    (0.99, 17_734_861),
    (0.991, 21_276_656),
    (0.992, 22_053_215),
    (0.993, 25_005_805),
    (0.994, 27_705_676),
    (0.995, 36_378_317),
    (0.996, 40_703_481),
    (0.997, 44_659_395),
    (0.998, 59_278_187),
    (0.999, 59_755_856),
    (0.9991, 59_935_503),
    (0.9992, 59_935_504),
    (0.9993, 59_962_141),
    (0.9994, 64_415_308),
    (0.9995, 64_415_309),
    (0.9996, 115_543_304),
    (0.9997, 133_351_250),
    (0.9998, 133_351_250),
    (0.9999, 137_709_782),
    (1.0, 209_921_219),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paced::tests::written;
    use narrows_common::Time;

    #[test]
    fn messages_are_a_poisson_process() {
        let config =
            Config { size_bytes: 552, interval: Some(Duration::from_ms(100)), messages: None };
        let end = Time::ZERO + Duration::from_secs(2_000);
        let all = written(&mut config.application(), Time::ZERO, end, 5);
        // 20,000 expected in 2,000 s, with a standard deviation of sqrt(20,000) = 141.
        assert!((19_500..20_500).contains(&all.len()), "{}", all.len());
        assert!(all.iter().all(|&(_, length_bytes)| length_bytes == 552));
        // Per second, mean and variance are both 10.
        let mut counts = [0.0_f64; 2_000];
        for (at, _) in &all {
            counts[at.as_secs_f64() as usize] += 1.0;
        }
        let mean = counts.iter().sum::<f64>() / 2_000.0;
        let variance = counts.iter().map(|n| (n - mean) * (n - mean)).sum::<f64>() / 2_000.0;
        assert!((9.0..11.0).contains(&variance), "{variance}");
        assert!(all[0].0 > Time::ZERO, "the first message comes after a gap");
    }

    #[test]
    fn a_seed_fixes_the_messages() {
        let config =
            Config { size_bytes: 80, interval: Some(Duration::from_secs(1)), messages: Some(50) };
        let run = |seed| written(&mut config.application(), Time::ZERO, Time::MAX, seed);
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        assert_eq!(run(1).len(), 50);
    }

    #[test]
    fn without_an_interval_gaps_are_tcplibs() {
        let config = Config { size_bytes: 80, interval: None, messages: Some(100_001) };
        let all = written(&mut config.application(), Time::ZERO, Time::MAX, 5);
        let mut gaps: Vec<f64> =
            all.windows(2).map(|pair| pair[1].0.since(pair[0].0).as_secs_f64()).collect();
        gaps.sort_by(f64::total_cmp);
        // ns 2.35, Application/Telnet with interval_ 0, another seed, 84,830 gaps: mean 1.12 s,
        // median 0.237 s, nine tenths below 1.594 s.
        let mean = gaps.iter().sum::<f64>() / 100_000.0;
        assert!((1.04..1.18).contains(&mean), "{mean}");
        assert!((0.23..0.245).contains(&gaps[50_000]), "{}", gaps[50_000]);
        assert!((1.5..1.66).contains(&gaps[90_000]), "{}", gaps[90_000]);
    }
}
