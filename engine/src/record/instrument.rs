//! The instrument's error in `summary.json`, and its check against a run's limits.

use narrows_common::Duration;
use narrows_dpdk::Standing;
use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::Limits;

/// How late packets left, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LatenessSummary {
    /// The arithmetic mean, exact.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// The greatest, exact.
    pub max: f64,
}

/// A shaper's rate error, as a fraction of its rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RateSummary {
    /// One-second windows in which the shaper was never idle.
    pub windows: u64,
    /// The mean error.
    pub mean: f64,
    /// The error farthest from zero.
    pub worst: f64,
}

/// Whether the device or software performs a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Executor {
    /// The device.
    Device,
    /// The data path or the engine.
    Software,
}

impl Executor {
    pub(crate) fn of(is_device: bool) -> Self {
        if is_device { Executor::Device } else { Executor::Software }
    }
}

/// The counts of one wire.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WireSummary {
    /// Its name in the run.
    pub name: String,
    /// Its device string.
    pub device: String,
    /// Packets handed to the device.
    pub sent: u64,
    /// Packets taken from it.
    pub received: u64,
    /// Packets that the device did not accept in time.
    pub not_sent: u64,
    /// Packets lost in either direction because the pool was empty.
    pub without_memory: u64,
    /// Packets lost to a full receive ring, or received with errors.
    pub missed: u64,
    /// Packets copied because mbufs were short; none of them was lost.
    pub copied: u64,
    /// Whose clock timestamps received packets.
    pub arrivals_by: Executor,
    /// Who verifies the checksums of packets for hosts.
    pub checksums_by: Executor,
    /// Who writes the checksums of TCP and UDP in packets from hosts.
    pub sent_checksums_by: Executor,
    /// How often its link went down.
    pub link_downs: u64,
    /// How late packets left, in microseconds.
    pub departure_error_us: LatenessSummary,
    /// The error of its shaper's rate; `None` if the shaper was never busy for a second.
    pub rate_error: Option<RateSummary>,
}

impl WireSummary {
    /// A wire without any packets yet, with its name and device.
    pub(crate) fn new(name: &str, device: &str) -> Self {
        WireSummary {
            name: name.to_owned(),
            device: device.to_owned(),
            sent: 0,
            received: 0,
            not_sent: 0,
            without_memory: 0,
            missed: 0,
            copied: 0,
            arrivals_by: Executor::Software,
            checksums_by: Executor::Software,
            sent_checksums_by: Executor::Software,
            link_downs: 0,
            departure_error_us: LatenessSummary::default(),
            rate_error: None,
        }
    }

    /// Adds the packets of this wire that another core received.
    fn add_remote(&mut self, side: &WireSummary) {
        self.received += side.received;
        self.copied += side.copied;
        self.missed += side.missed;
    }
}

/// How often a path polled, and for how long it did not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PollSummary {
    /// The loop's thread priority on its core.
    pub core: Standing,
    /// The number of polls.
    pub count: u64,
    /// 99th percentile of the time between two polls.
    pub gap_p99_us: f64,
    /// The longest time between two polls.
    pub gap_max_us: f64,
}

/// The tolerance of the clock's rate: two quartz oscillators may differ by this much.
const CLOCK_ERROR_PPM: f64 = 100.0;

/// The measured error of a whole data path.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Instrument {
    /// Always `tsc`.
    pub clock: &'static str,
    /// By how many parts per million its seconds were too long, compared with the system clock's.
    pub clock_error_ppm: f64,
    /// How often the counter went back.
    pub clock_steps_back: u64,
    /// Its polls.
    pub polls: PollSummary,
    /// Its wires.
    pub wires: Vec<WireSummary>,
    /// Its counts for other cores' wires, by wire name.
    #[serde(skip)]
    pub(crate) remote_queues: Vec<WireSummary>,
}

impl Instrument {
    /// Combines all cores of a data path, at least one. The wires of each core follow those of the
    /// core before it.
    pub fn joined(cores: Vec<Instrument>) -> Instrument {
        let mut cores = cores.into_iter();
        let mut whole = cores.next().expect("a path has a core");
        for Instrument { polls, clock_steps_back, wires, remote_queues, .. } in cores {
            whole.polls.core = whole.polls.core.max(polls.core);
            whole.polls.count += polls.count;
            whole.polls.gap_p99_us = whole.polls.gap_p99_us.max(polls.gap_p99_us);
            whole.polls.gap_max_us = whole.polls.gap_max_us.max(polls.gap_max_us);
            whole.clock_steps_back += clock_steps_back;
            whole.wires.extend(wires);
            whole.remote_queues.extend(remote_queues);
        }
        for side in whole.remote_queues.drain(..) {
            let found = whole.wires.iter_mut().find(|wire| wire.name == side.name);
            found.expect("a side is a wire's").add_remote(&side);
        }
        whole
    }

    /// The errors above a run's limits, as text.
    pub fn excesses(&self, limits: &Limits) -> Vec<String> {
        let us = |span: Duration| span.as_ps() as f64 / 1e6;
        let mut found = vec![];
        let mut check = |is_over: bool, what: String| {
            if is_over {
                found.push(what);
            }
        };
        let (gap, most) = (self.polls.gap_max_us, us(limits.poll_gap_ps));
        let why = match self.polls.core {
            Standing::Own | Standing::Fifo => "",
            Standing::Ordinary => " (an ordinary thread: SCHED_FIFO needs root or CAP_SYS_NICE)",
        };
        check(gap > most, format!("the loop did not poll for {gap:.1} us, at most {most} us{why}"));
        let (error, steps) = (self.clock_error_ppm, self.clock_steps_back);
        check(
            error.abs() > CLOCK_ERROR_PPM,
            format!("the clock was off by {error:.1} parts per million"),
        );
        check(steps > 0, format!("the clock went back {steps} times"));
        for wire in &self.wires {
            let (late, most) = (wire.departure_error_us.p99, us(limits.departure_error_ps));
            check(
                late > most,
                format!(
                    "{}: 1 % of packets left over {late:.1} us late, at most {most} us",
                    wire.name
                ),
            );
            let (lost, most) =
                (wire.not_sent + wire.without_memory + wire.missed, limits.lost_packets);
            check(
                lost > most,
                format!("{}: the instrument lost {lost} packets, at most {most}", wire.name),
            );
            if let Some(RateSummary { worst, .. }) = wire.rate_error {
                let most = limits.rate_error;
                check(
                    worst.abs() > most,
                    format!("{}: its rate was off by {worst:+.5}, at most {most}", wire.name),
                );
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(name: &str, p99: f64, missed: u64, worst: f64) -> WireSummary {
        WireSummary {
            not_sent: 1,
            without_memory: 1,
            missed,
            departure_error_us: LatenessSummary { p99, ..LatenessSummary::default() },
            rate_error: Some(RateSummary { windows: 1, mean: 0.0, worst }),
            ..WireSummary::new(name, "")
        }
    }

    fn measured(
        gap_max_us: f64,
        clock_error_ppm: f64,
        clock_steps_back: u64,
        wires: Vec<WireSummary>,
    ) -> Instrument {
        let polls = PollSummary { core: Standing::Fifo, count: 0, gap_p99_us: 0.0, gap_max_us };
        let remote_queues = vec![];
        Instrument { clock: "tsc", clock_error_ppm, clock_steps_back, polls, wires, remote_queues }
    }

    /// Five ports, divided among three cores.
    #[test]
    fn the_cores_of_a_path_are_one_instrument() {
        let core = |gap_max_us, steps_back, names: &[&str]| {
            let wires = names.iter().map(|name| wire(name, 0.0, 0, 0.0)).collect();
            measured(gap_max_us, 7.0, steps_back, wires)
        };
        let mut cores =
            vec![core(3.0, 1, &["0", "3"]), core(9.0, 0, &["1", "4"]), core(5.0, 2, &["2"])];
        // The first core has a receive queue of the second core's first port.
        cores[0].remote_queues.push(WireSummary { received: 7, ..wire("1", 0.0, 5, 0.0) });
        let whole = Instrument::joined(cores);
        assert_eq!((whole.wires[2].received, whole.wires[2].missed), (7, 5));
        assert_eq!(whole.wires[2].not_sent, 1);
        let names: Vec<&str> = whole.wires.iter().map(|wire| wire.name.as_str()).collect();
        assert_eq!(names, ["0", "3", "1", "4", "2"]);
        assert_eq!((whole.polls.gap_max_us, whole.clock_steps_back), (9.0, 3));
        assert_eq!(whole.clock_error_ppm, 7.0);
    }

    #[test]
    fn only_errors_above_their_limit_are_named() {
        let limits = Limits {
            departure_error_ps: Duration::from_us(200),
            rate_error: 0.01,
            poll_gap_ps: Duration::from_ms(10),
            lost_packets: 3,
        };
        let good = measured(10_000.0, -100.0, 0, vec![wire("port 2", 200.0, 1, -0.01)]);
        assert_eq!(good.excesses(&limits), Vec::<String>::new());
        let bad = measured(10_001.0, -101.0, 2, vec![wire("port 2", 201.0, 2, -0.02)]);
        assert_eq!(
            bad.excesses(&limits),
            [
                "the loop did not poll for 10001.0 us, at most 10000 us",
                "the clock was off by -101.0 parts per million",
                "the clock went back 2 times",
                "port 2: 1 % of packets left over 201.0 us late, at most 200 us",
                "port 2: the instrument lost 4 packets, at most 3",
                "port 2: its rate was off by -0.02000, at most 0.01",
            ]
        );
        let mut ordinary = measured(10_001.0, 0.0, 0, vec![]);
        ordinary.polls.core = Standing::Ordinary;
        assert_eq!(
            ordinary.excesses(&limits),
            ["the loop did not poll for 10001.0 us, at most 10000 us (an ordinary thread: \
              SCHED_FIFO needs root or CAP_SYS_NICE)"]
        );
    }
}
