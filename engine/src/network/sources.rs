//! The event sources and their timers. Sources due at the same instant act in the order of their
//! numbers.

use narrows_common::{Time, Timers};

/// The number of sources of each kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources {
    pub switches: usize,
    pub hosts: usize,
}

impl Sources {
    /// The controller's events.
    pub const CONTROLLER: usize = 0;

    pub fn switch(self, index: usize) -> usize {
        1 + index
    }

    pub fn host(self, index: usize) -> usize {
        1 + self.switches + index
    }
}

/// The source that acts next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Controller,
    Switch(usize),
    Host(usize),
    /// The receiver of the next packet in flight.
    Arrival,
}

/// One timer for each source but the arrivals. Those of the switches, which most packets set, are
/// apart from those of the hosts: a few are found faster than many.
#[derive(Debug)]
pub(crate) struct Schedule {
    /// The controller's, then one for each switch.
    switches: Timers,
    hosts: Timers,
}

impl Schedule {
    /// All timers, stopped.
    pub fn new(sources: Sources) -> Self {
        Schedule { switches: Timers::new(1 + sources.switches), hosts: Timers::new(sources.hosts) }
    }

    pub fn set_controller(&mut self, at: Time) {
        self.switches.set(0, at);
    }

    #[inline]
    pub fn set_switch(&mut self, index: usize, at: Time) {
        self.switches.set(1 + index, at);
    }

    #[inline]
    pub fn set_host(&mut self, index: usize, at: Time) {
        self.hosts.set(index, at);
    }

    /// The first source due by `latest`, and when.
    #[inline]
    pub fn first(&self, latest: Time) -> Option<(Time, Source)> {
        let due = |timers: &Timers| timers.first().filter(|&(at, _)| at <= latest);
        match (due(&self.switches), due(&self.hosts)) {
            (Some((at, number)), host) if host.is_none_or(|(host_at, _)| at <= host_at) => {
                let switch = number.checked_sub(1);
                Some((at, switch.map_or(Source::Controller, Source::Switch)))
            }
            (_, host) => host.map(|(at, index)| (at, Source::Host(index))),
        }
    }

    /// The host whose timer is first.
    #[inline]
    pub fn first_host(&self) -> Option<usize> {
        self.hosts.first().map(|(_, index)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_due_at_once_act_in_the_order_of_their_numbers() {
        let mut schedule = Schedule::new(Sources { switches: 2, hosts: 20 });
        let at = Time::from_ps(1 << 30);
        schedule.set_host(3, at);
        schedule.set_host(0, Time::from_ps(1 << 31));
        schedule.set_host(1, at);
        schedule.set_switch(1, at);
        schedule.set_switch(0, at);
        schedule.set_controller(at);
        let mut acted = Vec::new();
        while let Some((_, source)) = schedule.first(at) {
            match source {
                Source::Controller => schedule.set_controller(Time::MAX),
                Source::Switch(index) => schedule.set_switch(index, Time::MAX),
                Source::Host(index) => schedule.set_host(index, Time::MAX),
                Source::Arrival => unreachable!("arrivals have no timer"),
            }
            acted.push(format!("{source:?}"));
        }
        let expected = ["Controller", "Switch(0)", "Switch(1)", "Host(1)", "Host(3)"];
        assert_eq!(acted, expected);
    }
}
