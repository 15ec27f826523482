//! The parts of a network, each on a thread of its own.
//!
//! Each part publishes its *frontier*, an instant before which it has done everything. A packet
//! from there arrives at the frontier plus the delay between the two parts, or later. So a part may
//! go on to the least of these sums. It takes what other parts have sent after it has read their
//! frontiers, so nothing is missing.
//!
//! The calling thread puts the rows of all parts in order.

use std::hint::spin_loop;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, Thread};
use std::time;

use narrows_common::{Duration, Time};

use super::collector::{Collector, Message};
use crate::error::EngineError;
use crate::network::border::ring::{Inbox, Outbox, rings};
use crate::network::parts::Part;
use crate::network::parts::cut::Cut;
use crate::network::{Network, Progress};

/// How many times a part publishes its frontier in the least delay between parts. More would cost
/// time, and fewer would let others wait.
const STEPS: u64 = 4;
/// Looks at other frontiers before a waiting thread sleeps: some tens of microseconds.
const LOOKS: u32 = 250;
/// Between two looks are hints to the processor: twice as many after each look, this number of
/// times. A look takes a frontier's cache line from the core that writes it, so with fewer hints
/// that core would wait more often.
const DOUBLINGS: u32 = 3;
/// So many looks apart, a waiting thread also empties its rings, and sends what did not fit.
const LOOKS_PER_EXCHANGE: u32 = 32;
/// The longest sleep: a thread also wakes by itself, to see whether it is to stop.
const LONGEST_SLEEP: time::Duration = time::Duration::from_millis(1);
/// Collections of rows in a message to the calling thread, which must be woken for it.
const COLLECTIONS_PER_MESSAGE: usize = 16;
/// Messages that may wait for the calling thread.
const WAITING_MESSAGES: usize = 4;

/// A part's frontier, in cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Frontier(AtomicU64);

/// Whether a part's thread sleeps until another frontier moves. Others read it often, and it seldom
/// changes, so it has cache lines of its own too.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Sleeper {
    is_asleep: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Sleeper {
    /// Sleeps, unless `is_to_go_on`; it may wake too soon.
    fn sleep(&self, is_to_go_on: impl Fn() -> bool) {
        self.thread.get_or_init(thread::current);
        self.is_asleep.store(true, Ordering::Relaxed);
        // Pairs with that of `Turns::wake_others`: one of the two sees what the other has written.
        fence(Ordering::SeqCst);
        if !is_to_go_on() {
            thread::park_timeout(LONGEST_SLEEP);
        }
        self.is_asleep.store(false, Ordering::Relaxed);
    }

    /// Wakes the thread, if it sleeps, after a frontier has moved.
    fn wake(&self) {
        if self.is_asleep.load(Ordering::Relaxed)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }
}

/// What the threads share.
struct Shared {
    frontiers: Vec<Frontier>,
    sleepers: Vec<Sleeper>,
    is_to_stop: AtomicBool,
}

/// Advances a network in parts to `end`. Returns when the run stopped.
///
/// # Errors
/// The first event that failed; if a table's writer has stopped; if `progress` stops the run.
pub(super) fn advance(
    network: &mut Network,
    cut: &Cut,
    end: Time,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Time, EngineError> {
    let parts = network.split(cut);
    let shared = Shared {
        frontiers: parts.iter().map(|_| Frontier::default()).collect(),
        sleepers: parts.iter().map(|_| Sleeper::default()).collect(),
        is_to_stop: AtomicBool::new(false),
    };
    let step = Duration::from_ps((cut.least_delay().as_ps() / STEPS).max(1));
    let stop = end + Duration::from_ps(1);
    let is_crowded = thread::available_parallelism().is_ok_and(|cores| cores.get() < parts.len());
    let (stopped, parts) = thread::scope(|scope| {
        let mut collector = Collector::new(network, parts.len());
        let (tell, told) = sync_channel(WAITING_MESSAGES);
        let mut threads = Vec::new();
        for ((own, neighbours), part) in neighbours(cut).into_iter().enumerate().zip(parts) {
            let turns = Turns {
                own,
                shared: &shared,
                neighbours,
                step,
                stop,
                tell: tell.clone(),
                is_crowded,
                published: Time::ZERO,
            };
            threads.push(scope.spawn(move || turns.run(part())));
        }
        drop(tell);
        let stopped = collector.record(&told, progress);
        shared.is_to_stop.store(true, Ordering::Relaxed);
        drop(told);
        let ended = threads.into_iter().map(|thread| thread.join());
        let parts = ended.map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        (stopped, parts.collect::<Vec<Part>>())
    });
    network.join(parts.into_iter());
    stopped?;
    network.progress().now = end;
    progress(network.progress());
    Ok(end)
}

/// Another part, and the rings to and from it.
struct Neighbour {
    part: usize,
    inbox: Inbox,
    outbox: Outbox,
    /// How far this part may go beyond its frontier; `None` if nothing comes from there.
    may_lead_by: Option<Duration>,
}

/// The neighbours of each part.
fn neighbours(cut: &Cut) -> Vec<Vec<Neighbour>> {
    let before: Vec<_> = (0..cut.len()).map(|part| cut.before(part)).collect();
    // A part follows another one by the least of what it waits for.
    let lead = |part: usize, of: usize| {
        let leads = before[part].iter().filter(|&&(other, _)| other == of);
        leads.map(|&(_, lead)| lead).min()
    };
    let mut neighbours: Vec<_> = before.iter().map(|_| Vec::new()).collect();
    for a in 0..cut.len() {
        for b in a + 1..cut.len() {
            let leads = [lead(a, b), lead(b, a)];
            if leads == [None, None] {
                continue;
            }
            let ((to_b, from_a), (to_a, from_b)) = (rings(), rings());
            let neighbour =
                |part, inbox, outbox, may_lead_by| Neighbour { part, inbox, outbox, may_lead_by };
            neighbours[a].push(neighbour(b, from_b, to_b, leads[0]));
            neighbours[b].push(neighbour(a, from_a, to_a, leads[1]));
        }
    }
    neighbours
}

/// A part's thread.
struct Turns<'a> {
    own: usize,
    shared: &'a Shared,
    neighbours: Vec<Neighbour>,
    /// How far it goes before it publishes its frontier again.
    step: Duration,
    /// Later than every event.
    stop: Time,
    tell: SyncSender<Message>,
    /// Threads outnumber the cores, so one that waits lets others run.
    is_crowded: bool,
    /// The frontier that others see.
    published: Time,
}

impl Turns<'_> {
    /// Advances the part until the run stops, and returns it.
    fn run(mut self, mut part: Part) -> Part {
        let mut failed = None;
        while failed.is_none() && part.frontier < self.stop {
            let Some(bound) = self.wait(&mut part) else { break };
            while failed.is_none() && part.frontier < bound {
                failed = part.advance(bound.min(part.frontier + self.step)).err();
                self.publish(&mut part);
            }
            if part.collections >= COLLECTIONS_PER_MESSAGE && !self.tell(&mut part, None) {
                return part;
            }
        }
        while self.published < part.frontier && !self.is_to_stop() {
            thread::yield_now();
            self.publish(&mut part);
        }
        self.wake_others();
        part.collect(self.stop);
        part.reached = Time::MAX;
        self.tell(&mut part, failed);
        part
    }

    /// Waits until the part may go beyond its frontier, and takes what others have sent. Returns
    /// how far it may go; `None` if it is to stop.
    fn wait(&mut self, part: &mut Part) -> Option<Time> {
        let mut looks = 0;
        loop {
            let bound = self.bound();
            if bound > part.frontier {
                self.receive(part);
                return Some(bound);
            }
            if self.is_to_stop() {
                return None;
            }
            looks += 1;
            if looks % LOOKS_PER_EXCHANGE == 0 {
                // Others may wait for room in the rings, or sleep.
                self.receive(part);
                if self.published < part.frontier {
                    self.publish(part);
                }
                self.wake_others();
            }
            if looks == LOOKS {
                self.shared.sleepers[self.own].sleep(|| self.bound() > part.frontier);
                looks = 0;
            } else if self.is_crowded {
                thread::yield_now();
            } else {
                (0..1 << looks.min(DOUBLINGS)).for_each(|_| spin_loop());
            }
        }
    }

    /// How far the other frontiers let the part go.
    fn bound(&self) -> Time {
        let bounds = self.neighbours.iter().filter_map(|neighbour| {
            let frontier = &self.shared.frontiers[neighbour.part].0;
            Some(Time::from_ps(frontier.load(Ordering::Acquire)) + neighbour.may_lead_by?)
        });
        bounds.min().map_or(self.stop, |bound| bound.min(self.stop))
    }

    fn is_to_stop(&self) -> bool {
        self.shared.is_to_stop.load(Ordering::Relaxed)
    }

    /// Takes what other parts have sent.
    fn receive(&mut self, part: &mut Part) {
        for Neighbour { part: from, inbox, .. } in &mut self.neighbours {
            part.receive(*from, inbox);
        }
    }

    /// Sends what other parts are to have, then publishes the frontier, unless something did not
    /// fit into a ring. Wakes those of whom it sees that they sleep.
    fn publish(&mut self, part: &mut Part) {
        part.give_back();
        let mut fits = true;
        for Neighbour { part: to, outbox, .. } in &mut self.neighbours {
            fits &= outbox.send(part.leaving(*to));
        }
        if fits {
            self.published = part.frontier;
            let frontier = part.frontier.as_ps();
            self.shared.frontiers[self.own].0.store(frontier, Ordering::Release);
        }
        self.neighbours.iter().for_each(|other| self.shared.sleepers[other.part].wake());
    }

    /// Wakes all that sleep. A fence waits for what this core has written, so only a part that has
    /// nothing else to do has one.
    fn wake_others(&self) {
        fence(Ordering::SeqCst);
        self.neighbours.iter().for_each(|other| self.shared.sleepers[other.part].wake());
    }

    /// Sends the rows collected. Returns whether somebody takes them.
    fn tell(&self, part: &mut Part, failed: Option<EngineError>) -> bool {
        part.collections = 0;
        let message = Message {
            part: self.own,
            reached: part.reached,
            progress: part.progress(),
            batches: std::mem::take(&mut part.batches),
            failed,
        };
        self.tell.send(message).is_ok()
    }
}

impl Drop for Turns<'_> {
    /// Others would wait for a thread that panicked.
    fn drop(&mut self) {
        if thread::panicking() {
            self.shared.is_to_stop.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_a_part_panics_the_others_stop() {
        let is_to_stop = AtomicBool::new(false);
        let shared = Shared { frontiers: vec![], sleepers: vec![], is_to_stop };
        let (tell, _told) = sync_channel(1);
        let (step, stop, published) = (Duration::ZERO, Time::MAX, Time::ZERO);
        let (own, neighbours) = (0, vec![]);
        let turns = Turns {
            own,
            shared: &shared,
            neighbours,
            step,
            stop,
            tell,
            published,
            is_crowded: false,
        };
        let part = || -> Part { panic!("in a part, on purpose") };
        let ended = thread::scope(|scope| scope.spawn(move || turns.run(part())).join());
        assert!(ended.is_err());
        assert!(shared.is_to_stop.into_inner());
    }
}
