//! Where a switch is: with its servers, behind a lock, or on a data path of its own, which takes
//! commands from a bounded channel between bursts of packets and never waits for a lock.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::controlled::{Controlled, Refusal};

/// What a data path does for a controller.
pub(crate) type Command = Box<dyn FnOnce(&mut Controlled) + Send>;

enum Where {
    Here(Box<Controlled>),
    /// On a data path that takes commands.
    Away(SyncSender<Command>),
}

/// Where a switch is.
pub(crate) struct Place {
    place: Mutex<Where>,
    resumed: Condvar,
}

impl Place {
    /// A switch that is here.
    pub(crate) fn new(switch: Controlled) -> Self {
        Place { place: Mutex::new(Where::Here(Box::new(switch))), resumed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Where> {
        // What panicked said so; the switch goes on.
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `operation` on the switch, wherever it is.
    pub(crate) fn with<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Controlled) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let commands = match &mut *self.lock() {
            Where::Here(switch) => return operation(switch),
            Where::Away(commands) => commands.clone(),
        };
        let (reply, answer) = sync_channel(1);
        let command: Command = Box::new(move |switch| {
            // Nobody waits any more when the asking thread is gone.
            let _ = reply.send(operation(switch));
        });
        let ended = || Refusal::new("failed-precondition", "the switch's data path has ended");
        commands.send(command).map_err(|_| ended())?;
        answer.recv().map_err(|_| ended())?
    }

    /// The packets' way in: waits while a switch that is here is paused.
    pub(crate) fn with_unpaused<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Controlled) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let mut place = self.lock();
        while matches!(&*place, Where::Here(switch) if switch.paused > 0) {
            place = self.resumed.wait(place).unwrap_or_else(PoisonError::into_inner);
        }
        if let Where::Here(switch) = &mut *place {
            return operation(switch);
        }
        drop(place);
        self.with(operation)
    }

    /// Those who wait for a pause to end look again.
    pub(crate) fn wake(&self) {
        self.resumed.notify_all();
    }

    /// Takes the switch to a data path that will take `commands`; `None` when it is on one.
    pub(crate) fn send_away(&self, commands: SyncSender<Command>) -> Option<Box<Controlled>> {
        let mut place = self.lock();
        match core::mem::replace(&mut *place, Where::Away(commands)) {
            Where::Here(switch) => Some(switch),
            away => {
                *place = away;
                None
            }
        }
    }

    /// Takes the switch back.
    pub(crate) fn bring_back(&self, switch: Box<Controlled>) {
        *self.lock() = Where::Here(switch);
    }
}
