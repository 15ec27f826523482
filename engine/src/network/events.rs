//! Which event is due next, and which node handles it.

use narrows_common::Time;

use super::Network;
use super::border::order::{arrival_rank, source_rank};
use super::nodes::HostStack;
use super::sources::{Source, Sources};
use crate::error::EngineError;

impl Network {
    /// Sets the timer of every source in this process; called once, after the network is built.
    pub(crate) fn arm(&mut self) {
        if let Some(event) = self.control_events.first() {
            self.schedule.set_controller(event.at);
        }
        for index in 0..self.hosts.len() {
            if self.hosts.get(index).is_some() && self.has_host(index) {
                self.leave_host(Time::ZERO, index);
            }
        }
        let finite = self.flows.iter().filter(|flow| flow.config.app.is_finite());
        self.finite_flows = finite.filter(|flow| self.has_host(flow.from)).count();
    }

    /// When the next event is due.
    pub(crate) fn poll_timeout(&self) -> Time {
        let delivery = self.delivery.as_ref().map_or(Time::MAX, |delivery| delivery.at);
        self.first().0.min(delivery)
    }

    /// The first event due, and when. Of several due at once, arrivals come last.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> (Time, Source) {
        let first = self.first();
        if self.delivery.as_ref().is_some_and(|delivery| delivery.at <= first.0) {
            self.end_delivery();
            return self.first();
        }
        first
    }

    #[inline(always)]
    fn first(&self) -> (Time, Source) {
        let arrival = self.in_flight.poll_timeout();
        self.schedule.first(arrival).unwrap_or((arrival, Source::Arrival))
    }

    /// Handles everything due by `now`, each source at `now`.
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

    /// Lets one source act.
    ///
    /// # Errors
    /// If a controller's event fails.
    #[inline(always)]
    pub(crate) fn act(&mut self, now: Time, source: Source) -> Result<(), EngineError> {
        self.progress.events += 1;
        if self.border.is_some() && !matches!(source, Source::Arrival) {
            self.reach(now, source);
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

    /// The rank of the next event, which is at `now`.
    pub(super) fn rank_of(&mut self, now: Time, source: Source) -> u64 {
        let rank = match source {
            Source::Controller => source_rank(Sources::CONTROLLER),
            Source::Switch(index) => source_rank(self.sources.switch(index)),
            Source::Host(index) => source_rank(self.sources.host(index)),
            Source::Arrival => self.in_flight.next_direction().map_or(u64::MAX, arrival_rank),
        };
        self.border.as_ref().map_or(rank, |border| border.rank_at(now, rank))
    }

    /// A part's source acts at `now`.
    fn reach(&mut self, now: Time, source: Source) {
        let rank = self.rank_of(now, source);
        if let Some(border) = &mut self.border {
            border.reach(now, rank);
        }
    }
}
