//! The application that all message models share: a schedule returns each message and its time.

use crate::application::{Application, Write};
use core::fmt;
use narrows_common::{Duration, PS_PER_S, Rng, Time};

/// A scheduled message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Time from the flow's start to its writing.
    pub after: Duration,
    /// Its length including the header.
    pub length_bytes: u32,
}

/// The times and lengths of messages.
pub trait Schedule: fmt::Debug + Send {
    /// The next message, not before the last; `None` at the end.
    fn next(&mut self, rng: &mut Rng) -> Option<Message>;
}

/// The sending end of a schedule, which starts with the flow.
#[derive(Debug)]
pub struct Paced<S> {
    schedule: S,
    /// Messages not drawn yet.
    left: u64,
    start: Option<Time>,
    next: Option<Message>,
}

impl<S: Schedule> Paced<S> {
    /// A schedule that ends after at most `messages`; `None` for no limit.
    pub fn new(schedule: S, messages: Option<u64>) -> Self {
        Paced { schedule, left: messages.unwrap_or(u64::MAX), start: None, next: None }
    }

    fn advance(&mut self, rng: &mut Rng) {
        self.next = match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                self.schedule.next(rng)
            }
            None => None,
        };
    }
}

impl<S: Schedule> Application for Paced<S> {
    fn poll_write(&mut self, now: Time, rng: &mut Rng) -> Option<Write> {
        if self.start.is_none() {
            self.start = Some(now);
            self.advance(rng);
        }
        if self.poll_timeout()? > now {
            return None;
        }
        let length_bytes = self.next?.length_bytes;
        self.advance(rng);
        Some(Write::Message { length_bytes })
    }

    fn poll_timeout(&self) -> Option<Time> {
        Some(self.start? + self.next?.after)
    }

    fn is_finished(&self) -> bool {
        self.start.is_some() && self.next.is_none()
    }
}

/// Messages of one length; the n-th is `n x bits / rate` after the start, exact, rounded down.
#[derive(Debug)]
pub(crate) struct Steady {
    /// Bits of a message that count against the rate.
    bits: u64,
    rate_bps: u64,
    length_bytes: u32,
    drawn: u64,
}

impl Steady {
    /// Messages of which `bits` count against the rate.
    pub(crate) fn new(bits: u64, rate_bps: u64, length_bytes: u32) -> Self {
        Steady { bits, rate_bps, length_bytes, drawn: 0 }
    }
}

impl Schedule for Steady {
    fn next(&mut self, _rng: &mut Rng) -> Option<Message> {
        let after = transmission(self.drawn, self.bits, self.rate_bps);
        self.drawn += 1;
        Some(Message { after, length_bytes: self.length_bytes })
    }
}

/// The time of `count` times `bits` at a rate, rounded down; [`Duration::MAX`] on overflow.
pub(crate) fn transmission(count: u64, bits: u64, rate_bps: u64) -> Duration {
    let ps = u128::from(bits) * u128::from(PS_PER_S) * u128::from(count) / u128::from(rate_bps);
    Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The times and lengths that an application writes up to `end`, called only when it asks for
    /// it.
    pub(crate) fn written(
        application: &mut dyn Application,
        start: Time,
        end: Time,
        seed: u64,
    ) -> Vec<(Time, u32)> {
        let (mut rng, mut now, mut all) = (Rng::from_seed(seed), start, Vec::new());
        while now <= end {
            while let Some(write) = application.poll_write(now, &mut rng) {
                let Write::Message { length_bytes } = write else {
                    panic!("no message: {write:?}")
                };
                all.push((now, length_bytes));
            }
            match application.poll_timeout() {
                Some(at) => {
                    assert!(at > now, "asked again for what it has just written");
                    now = at;
                }
                None => break,
            }
        }
        all
    }

    #[test]
    fn a_call_too_early_does_nothing_and_a_late_one_catches_up() {
        let mut rng = Rng::from_seed(1);
        let mut paced = Paced::new(Steady::new(800, 8_000, 100), Some(4));
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        let write = Some(Write::Message { length_bytes: 100 });
        assert_eq!((paced.poll_timeout(), paced.is_finished()), (None, false));
        assert_eq!(paced.poll_write(at(7), &mut rng), write);
        assert_eq!(paced.poll_timeout(), Some(at(107)));
        assert_eq!(paced.poll_write(at(106), &mut rng), None);
        // 107, 207 and 307 have passed.
        assert_eq!(paced.poll_write(at(400), &mut rng), write);
        assert_eq!(paced.poll_write(at(400), &mut rng), write);
        assert!(!paced.is_finished());
        assert_eq!(paced.poll_write(at(400), &mut rng), write);
        assert_eq!(paced.poll_write(at(400), &mut rng), None);
        assert_eq!((paced.poll_timeout(), paced.is_finished()), (None, true));
    }
}
