//! Packets that are a second copy for the same port.

use super::TrafficManager;
use narrows_common::Time;

impl<P, D> TrafficManager<P, D> {
    /// The packet of the latest [`TrafficManager::offer`], at `at`, is a duplicate: the rows of its
    /// arrival say so.
    #[cold]
    pub fn note_duplicate(&mut self, at: Time) {
        let rows = self.records.iter_mut().rev().take_while(|row| row.at == at);
        for row in rows.filter(|row| row.packet + 1 == self.numbered) {
            row.is_duplicate = true;
        }
    }
}
