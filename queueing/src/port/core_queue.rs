//! A port's core, and what its owner keeps about it.

use crate::port_core::{CoreDequeued, CoreRow, CoreSettings, Fate, PortCore};
use narrows_common::Time;
use std::collections::VecDeque;

/// A core with its settings, and the numbers of its packets.
#[derive(Debug)]
pub(crate) struct CoreQueue {
    core: Box<dyn PortCore>,
    settings: CoreSettings,
    /// The name of the discipline that it stands for.
    pub discipline: &'static str,
    /// The latest time that the core has seen.
    now: Time,
    /// A packet was dequeued and is not finished.
    is_open: bool,
    arrivals: u64,
    /// The numbers of the queued packets at the core.
    numbers: VecDeque<u64>,
}

impl CoreQueue {
    /// A core with its first settings.
    ///
    /// # Errors
    /// The setting that the core cannot have.
    pub(crate) fn new(
        mut core: Box<dyn PortCore>,
        settings: CoreSettings,
        discipline: &'static str,
    ) -> Result<Self, String> {
        core.set(Time::ZERO, &settings)?;
        let (now, numbers) = (Time::ZERO, VecDeque::new());
        Ok(CoreQueue { core, settings, discipline, now, is_open: false, arrivals: 0, numbers })
    }

    /// Changes some of the settings.
    ///
    /// # Errors
    /// The setting that the core cannot have; then nothing changes.
    pub(crate) fn set(&mut self, change: impl Fn(&mut CoreSettings)) -> Result<(), String> {
        self.close();
        let mut settings = self.settings;
        change(&mut settings);
        // Of one instant's events a departure is the core's first. The traffic manager may have
        // a change before a departure that is due now, so the change has an earlier time.
        let before = |due: Time| Time::from_ps(due.as_ps().saturating_sub(1));
        let at = self.core.due().map_or(self.now, |due| self.now.min(before(due)));
        self.core.set(at, &settings)?;
        self.settings = settings;
        Ok(())
    }

    /// A packet arrives; true if the core queued it.
    pub(crate) fn offer(&mut self, at: Time, frame_bytes: u64, takes_marks: bool) -> bool {
        self.close();
        self.now = at;
        let number = self.arrivals;
        self.arrivals += 1;
        let is_queued = self.core.offer(at, frame_bytes, takes_marks);
        if is_queued {
            self.numbers.push_back(number);
        }
        is_queued
    }

    /// When the next packet leaves.
    pub(crate) fn due(&mut self) -> Option<Time> {
        self.close();
        self.core.due()
    }

    /// The packet that leaves now, and how many the core dropped before it.
    pub(crate) fn dequeue(&mut self, at: Time) -> Option<(CoreDequeued, usize)> {
        self.now = at;
        let dequeued = self.core.dequeue(at)?;
        self.is_open = true;
        assert_eq!(dequeued.at, at, "the core's departure is the port's");
        let before = self.numbers.iter().position(|&number| number == dequeued.number);
        let before = before.expect("first in, first out");
        self.numbers.drain(..=before);
        Some((dequeued, before))
    }

    /// Ends the dequeued packet. Returns start and end of its transmission, if it is sent.
    pub(crate) fn finish(&mut self, fate: Fate, frame_bytes: u64) -> (Time, Time) {
        self.is_open = false;
        self.core.finish(fate, frame_bytes)
    }

    /// A dequeued packet that was neither sent nor dropped went another way.
    fn close(&mut self) {
        if self.is_open {
            self.finish(Fate::Diverted, 0);
        }
    }

    /// The next row of the ledger.
    pub(crate) fn poll_row(&mut self) -> Option<CoreRow> {
        self.core.poll_row()
    }
}
