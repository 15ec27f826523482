//! Rates and queue limits of ports.

use crate::config::ConfigError;
use crate::switch::Switch;
use crate::tm::QueueLimit;
use narrows_common::{Rate, Time};

/// What can be changed of a port while packets go through it. gNMI's `Set`, a scenario's event
/// and a controller's command all end here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlOperation {
    /// Sets the rate of a port; the packet in transmission ends as it began.
    SetRate {
        /// Which port.
        port: u16,
        /// Above zero.
        rate: Rate,
    },
    /// Sets the limit of each of a port's queues; packets that wait already stay.
    SetQueueLimit {
        /// Which port.
        port: u16,
        /// The limit of each queue.
        limit: QueueLimit,
    },
}

impl Switch {
    /// Carries an operation out at `now`, after all that is due by then.
    ///
    /// # Errors
    /// When there is no such port, or the rate is zero.
    pub fn control(&mut self, now: Time, operation: ControlOperation) -> Result<(), ConfigError> {
        self.handle_timeout(now);
        match operation {
            ControlOperation::SetRate { port, rate } => {
                let found = self.port(port)?;
                if rate.as_bps() == 0 {
                    return Err(ConfigError::ZeroRate(port));
                }
                self.model.tm.set_rate(found, rate);
            }
            ControlOperation::SetQueueLimit { port, limit } => {
                let found = self.port(port)?;
                self.model.tm.set_limit(found, limit);
            }
        }
        Ok(())
    }
}
