//! Changes rates, queue limits and disciplines of ports.

use crate::config::ConfigError;
use crate::switch::Switch;
use narrows_common::{Rate, Time};
use narrows_queueing::{DisciplineConfig, PortError, QueueLimit, QueueShare};

/// A change to a port that carries packets. gNMI's `Set`, a scenario's event and a controller's
/// command all become one of these.
#[derive(Clone, Debug, PartialEq)]
pub enum ControlOperation {
    /// Sets a port's rate. The transmission in progress keeps its rate.
    SetRate {
        /// The port's number.
        port: u16,
        /// The new rate, above zero.
        rate: Rate,
    },
    /// Sets the limit of each of a port's queues. Queued packets stay.
    SetQueueLimit {
        /// The port's number.
        port: u16,
        /// The limit of each queue.
        limit: QueueLimit,
    },
    /// Replaces the discipline of each of a port's queues. Queued packets stay.
    SetDiscipline {
        /// The port's number.
        port: u16,
        /// The discipline of each queue.
        discipline: DisciplineConfig,
    },
    /// Sets the weight or the rate of one of a port's queues.
    SetShare {
        /// The port's number.
        port: u16,
        /// The queue, and what changes.
        share: QueueShare,
    },
}

impl Switch {
    /// Executes an operation at `now`, after everything due by then.
    ///
    /// # Errors
    /// If the port does not exist, the rate is zero, or the port cannot have the setting.
    pub fn control(&mut self, now: Time, operation: &ControlOperation) -> Result<(), ConfigError> {
        self.handle_timeout(now);
        match operation {
            &ControlOperation::SetRate { port, rate } => {
                let found = self.port(port)?;
                if rate.as_bps() == 0 {
                    return Err(PortError::ZeroRate(port).into());
                }
                self.model.tm.set_rate(found, rate)?;
            }
            &ControlOperation::SetQueueLimit { port, limit } => {
                let found = self.port(port)?;
                self.model.tm.set_limit(found, limit)?;
            }
            ControlOperation::SetDiscipline { port, discipline } => {
                let found = self.port(*port)?;
                self.model.tm.set_discipline(now, found, discipline)?;
                self.model.discard_dropped();
            }
            &ControlOperation::SetShare { port, share } => {
                let found = self.port(port)?;
                self.model.tm.set_share(found, share)?;
            }
        }
        Ok(())
    }
}
