//! The disciplines' timers.

use super::{TrafficManager, learn};
use crate::discipline::QueueDiscipline;
use narrows_common::Time;

impl<P, D: QueueDiscipline<P>> TrafficManager<P, D> {
    /// Serves the timers up to `now` or the first port that is due, whichever is earlier.
    #[cold]
    pub(super) fn serve_timers(&mut self, now: Time) {
        let until = self.due.last().map_or(now, |&(at, _)| at.min(now));
        while let Some(at) = self.next_timer.filter(|&timer| timer <= until) {
            self.next_timer = None;
            for port in 0..self.ports.len() {
                for queue in 0..self.ports[port].queues.len() {
                    let discipline = &mut self.ports[port].queues[queue].discipline;
                    if discipline.next_timer().is_some_and(|timer| timer <= at) {
                        discipline.on_timer(at);
                    }
                    self.learn_timer(port, queue);
                }
            }
        }
    }

    /// Takes note of a queue's timer.
    pub(super) fn learn_timer(&mut self, port: usize, queue: usize) {
        learn(&mut self.next_timer, &self.ports[port].queues[queue].discipline);
    }
}
