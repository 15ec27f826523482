//! A model of both halves with a path that arbitrarily loses, reorders and delays datagrams and
//! reports, plus forged reports. Datagrams leave at least `LEAST_TIME` apart and at most as far
//! apart as section 4.3 allows, and the no-feedback timer always runs. Once the path behaves,
//! datagrams arrive and are reported.

use super::control::LEAST_TIME;
use super::wire::{Data, Report};
use super::{Control, Observer};
use narrows_common::{Duration, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::VecDeque;

#[derive(Clone, Debug)]
enum Operation {
    /// This many datagrams in flight arrive, in order or the last one first.
    Arrive {
        count: usize,
        is_reversed: bool,
    },
    /// This many are lost.
    Lose {
        count: usize,
    },
    /// A report arrives, or is lost.
    Report {
        is_lost: bool,
    },
    /// A report that the receiver did not send.
    Forge {
        ago_ms: u64,
        held_ms: u64,
        rate: u64,
        loss_event_rate: f64,
    },
    Wait {
        ms: u64,
    },
    /// Until the next departure or timer.
    Next,
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    prop_oneof![
        3 => (1usize..10, any::<bool>())
            .prop_map(|(count, is_reversed)| Arrive { count, is_reversed }),
        2 => (1usize..10).prop_map(|count| Lose { count }),
        4 => prop::bool::weighted(0.3).prop_map(|is_lost| Report { is_lost }),
        1 => (0u64..500, 0u64..500, any::<u64>(), 0.0..=1.0f64).prop_map(
            |(ago_ms, held_ms, rate, loss_event_rate)| Forge { ago_ms, held_ms, rate, loss_event_rate }),
        2 => (0u64..300).prop_map(|ms| Wait { ms }),
        6 => Just(Next),
    ]
}

struct Model {
    control: Control,
    observer: Observer,
    now: Time,
    bytes: u32,
    sent: u64,
    on_the_way: VecDeque<(u64, Data)>,
    reports: VecDeque<Report>,
}

impl Model {
    fn new(bytes: u32) -> Self {
        let (control, observer) = (Control::new(bytes), Observer::new(bytes));
        let (now, on_the_way, reports) = (Time::ZERO, VecDeque::new(), VecDeque::new());
        Model { control, observer, now, bytes, sent: 0, on_the_way, reports }
    }

    fn next_event(&self) -> Time {
        let timers = [self.control.poll_timeout(), self.observer.poll_timeout()];
        timers.into_iter().flatten().fold(self.control.next_departure(), Time::min).max(self.now)
    }

    fn apply(&mut self, operation: &Operation) {
        match *operation {
            Operation::Arrive { count, is_reversed } => {
                for _ in 0..count {
                    let next = match is_reversed {
                        true => self.on_the_way.pop_back(),
                        false => self.on_the_way.pop_front(),
                    };
                    let Some((number, data)) = next else { break };
                    self.observer.handle(self.now, number, &data, self.bytes);
                }
            }
            Operation::Lose { count } => {
                self.on_the_way.drain(..count.min(self.on_the_way.len()));
            }
            Operation::Report { is_lost } => {
                if let Some(report) = self.reports.pop_front().filter(|_| !is_lost) {
                    self.control.handle_report(self.now, &report);
                }
            }
            Operation::Forge { ago_ms, held_ms, rate, loss_event_rate } => {
                let ago = Duration::from_ms(ago_ms).min(self.now.since(Time::ZERO));
                let report = Report {
                    sent_at: Time::ZERO + self.now.since(Time::ZERO).saturating_sub(ago),
                    held: Duration::from_ms(held_ms),
                    received_bytes_per_sec: rate,
                    loss_event_rate,
                    highest: rate,
                    received_bytes: 0,
                };
                self.control.handle_report(self.now, &report);
            }
            Operation::Wait { ms } => self.now += Duration::from_ms(ms),
            Operation::Next => self.now = self.next_event(),
        }
        self.control.handle_timeout(self.now);
        self.observer.handle_timeout(self.now);
        self.reports.extend(self.observer.poll_report(self.now));
        if self.control.next_departure() <= self.now {
            let data = self.control.on_sent(self.now, self.bytes, true);
            assert!(self.control.next_departure() >= self.now + LEAST_TIME);
            self.on_the_way.push_back((self.sent, data));
            self.sent += 1;
        }
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let now = self.now;
        let rtt = self.control.record(now, 1, self.sent).srtt;
        // Section 4.3: at least s/t_mbi, or in slow start W_init, two segments or more, per round
        // trip. One picosecond for rounding.
        let longest = Duration::from_secs(64).max(Duration::from_ps(rtt.as_ps() / 2));
        let apart = self.control.next_departure().since(now);
        prop_assert!(apart <= longest + Duration::from_ns(1), "{apart:?} apart");
        let timer = self.control.poll_timeout().expect("something was sent");
        let longest = longest.max(rtt.saturating_mul(2)).saturating_mul(2);
        prop_assert!(timer > now && timer <= now + longest + Duration::from_ns(1), "{timer:?}");
        for report in &self.reports {
            prop_assert!((0.0..=1.0).contains(&report.loss_event_rate), "{report:?}");
            prop_assert!(report.highest < self.sent && report.sent_at <= now, "{report:?}");
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn tfrc_stays_within_its_rate_limits_on_any_input(
        bytes in 60u32..1_400,
        operations in prop::collection::vec(operation(), 1..80),
    ) {
        let mut model = Model::new(bytes);
        model.apply(&Operation::Next);
        for operation in &operations {
            model.apply(operation);
            model.check()?;
        }
        // From here on the path behaves: 10 ms each way, no loss.
        let (sent, told) = (model.sent, model.control.acked_bytes());
        while model.control.acked_bytes() < told + 100 * u64::from(bytes) {
            prop_assert!(model.sent < sent + 300, "{} told", model.control.acked_bytes());
            model.apply(&Operation::Next);
            model.apply(&Operation::Wait { ms: 10 });
            model.apply(&Operation::Arrive { count: 10, is_reversed: false });
            model.apply(&Operation::Wait { ms: 10 });
            while !model.reports.is_empty() {
                model.apply(&Operation::Report { is_lost: false });
            }
            model.check()?;
        }
    }
}
