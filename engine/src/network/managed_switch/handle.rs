//! Where a switch is: with its servers, behind a lock, or on a data path of its own, which takes
//! commands from a mailbox between bursts of packets and never waits for a lock.

use std::sync::mpsc::sync_channel;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::mailbox::MailboxSender;
use crate::network::managed_switch::pipelines::Pipelines;
use crate::network::managed_switch::{ManagedSwitch, Refusal};

/// What a data path does for a controller.
pub type Command = Box<dyn FnOnce(&mut Pipelines<'_>) + Send>;

enum Where {
    /// By pipelines.
    Here(Vec<ManagedSwitch>),
    /// On a data path that takes commands.
    Away(MailboxSender<Command>),
}

fn all(pipelines: &mut [ManagedSwitch]) -> Pipelines<'_> {
    Pipelines::new(pipelines)
}

/// Where a switch is.
pub struct SwitchHandle {
    place: Mutex<Where>,
    resumed: Condvar,
}

impl SwitchHandle {
    /// A switch that is here.
    pub fn new(pipelines: Vec<ManagedSwitch>) -> Self {
        SwitchHandle { place: Mutex::new(Where::Here(pipelines)), resumed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Where> {
        // What panicked said so; the switch goes on.
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `operation` on the switch, wherever it is.
    pub fn with<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Pipelines<'_>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let commands = match &mut *self.lock() {
            Where::Here(pipelines) => return operation(&mut all(pipelines)),
            Where::Away(commands) => commands.clone(),
        };
        let (reply, answer) = sync_channel(1);
        let command: Command = Box::new(move |pipelines| {
            // Nobody waits any more when the asking thread is gone.
            let _ = reply.send(operation(pipelines));
        });
        let ended = || Refusal::new("failed-precondition", "the switch's data path has ended");
        commands.put(command).map_err(|_| ended())?;
        answer.recv().map_err(|_| ended())?
    }

    /// The packets' way in: waits while a switch that is here is paused.
    pub fn with_unpaused<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Pipelines<'_>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let mut place = self.lock();
        while matches!(&*place, Where::Here(pipelines) if pipelines[0].paused > 0) {
            place = self.resumed.wait(place).unwrap_or_else(PoisonError::into_inner);
        }
        if let Where::Here(pipelines) = &mut *place {
            return operation(&mut all(pipelines));
        }
        drop(place);
        self.with(operation)
    }

    /// Those who wait for a pause to end look again.
    pub fn wake(&self) {
        self.resumed.notify_all();
    }

    /// Takes the switch's pipelines to a data path that will take `commands`; `None` when they are on
    /// one.
    pub fn send_away(&self, commands: MailboxSender<Command>) -> Option<Vec<ManagedSwitch>> {
        let mut place = self.lock();
        match core::mem::replace(&mut *place, Where::Away(commands)) {
            Where::Here(pipelines) => Some(pipelines),
            away => {
                *place = away;
                None
            }
        }
    }

    /// Takes the switch's pipelines back.
    pub fn bring_back(&self, pipelines: Vec<ManagedSwitch>) {
        *self.lock() = Where::Here(pipelines);
    }
}
