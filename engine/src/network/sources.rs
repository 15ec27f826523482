//! The event sources. Sources due at the same instant act in the order of their numbers.

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

    pub fn count(self) -> usize {
        1 + self.switches + self.hosts
    }

    pub fn resolve(self, source: usize) -> Source {
        match source {
            Self::CONTROLLER => Source::Controller,
            s if s <= self.switches => Source::Switch(s - 1),
            s => Source::Host(s - 1 - self.switches),
        }
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
