//! What is due next, and who acts then.

use narrows_common::{Time, Wheel};

use super::Network;
use super::nodes::HostStack;
use super::sources::{Source, Sources};
use crate::error::EngineError;

impl Network {
    /// Sets the timer of every source that is in this process; called once, when all is built.
    pub(crate) fn arm(&mut self) {
        self.schedule = Wheel::new(self.sources.count());
        if let Some(event) = self.control_events.first() {
            self.schedule.set(Sources::CONTROLLER, event.at);
        }
        for index in 0..self.hosts.len() {
            if self.has_host(index) {
                self.leave_host(Time::ZERO, index);
            }
        }
        let finite = self.flows.iter().filter(|flow| flow.config.app.is_finite());
        self.finite_flows = finite.filter(|flow| self.has_host(flow.from)).count();
    }

    /// When something is due next.
    pub(crate) fn poll_timeout(&self) -> Time {
        self.next().0
    }

    /// What is due first, and when; of several due at once the arrivals come last.
    pub(crate) fn next(&self) -> (Time, Source) {
        let arrival = self.in_flight.poll_timeout();
        match self.schedule.first() {
            Some((at, source)) if at <= arrival => (at, self.sources.resolve(source)),
            _ => (arrival, Source::Arrival),
        }
    }

    /// Does all that was due by `now`, each source at `now`.
    ///
    /// # Errors
    /// If a controller's event fails.
    pub(crate) fn handle_timeout(&mut self, now: Time) -> Result<(), EngineError> {
        loop {
            let (due, source) = self.next();
            if due > now {
                return Ok(());
            }
            self.act(now, source)?;
        }
    }

    /// Lets a source act.
    ///
    /// # Errors
    /// If a controller's event fails.
    #[inline(always)]
    pub(crate) fn act(&mut self, now: Time, source: Source) -> Result<(), EngineError> {
        self.progress.events += 1;
        if !matches!(source, Source::Arrival) {
            self.schedule.reach();
        }
        match source {
            Source::Controller => self.handle_control_events(now)?,
            Source::Switch(index) => {
                self.switches[index].switch.handle_timeout(now);
                self.leave_switch(index);
            }
            Source::Host(index) => {
                if let HostStack::Narrows(host) = &mut self.hosts[index].stack {
                    host.handle_timeout(now);
                }
                self.leave_host(now, index);
            }
            Source::Arrival => self.arrive(now),
        }
        Ok(())
    }
}
