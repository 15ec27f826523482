//! A handle to a switch, shared by its controllers.
//!
//! The switch is either in the handle, behind a lock, or on a data path. A data path takes commands
//! from a mailbox between bursts of packets and never waits for a lock.

use std::sync::mpsc::sync_channel;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use narrows_switch::Switch;

use super::ManagedSwitch;
use super::pipelines::Pipelines;
use super::refusal::Refusal;
use crate::mailbox::MailboxSender;

/// An operation that a data path executes for a controller.
pub type Command = Box<dyn FnOnce(&mut Pipelines<'_>) + Send>;

enum Location {
    /// In the handle: the switch's pipelines.
    Handle(Vec<ManagedSwitch>),
    /// On a data path that takes commands.
    DataPath(MailboxSender<Command>),
}

fn all(pipelines: &mut [ManagedSwitch]) -> Pipelines<'_> {
    Pipelines::new(pipelines)
}

/// A switch, wherever it is.
pub struct SwitchHandle {
    location: Mutex<Location>,
    resumed: Condvar,
}

impl SwitchHandle {
    /// A switch in the handle.
    pub fn new(pipelines: Vec<ManagedSwitch>) -> Self {
        SwitchHandle { location: Mutex::new(Location::Handle(pipelines)), resumed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Location> {
        // The panic was already reported; the switch continues.
        self.location.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `operation` on the switch, wherever it is.
    pub fn with<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Pipelines<'_>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let commands = match &mut *self.lock() {
            Location::Handle(pipelines) => return operation(&mut all(pipelines)),
            Location::DataPath(commands) => commands.clone(),
        };
        let (reply, answer) = sync_channel(1);
        let command: Command = Box::new(move |pipelines| {
            // The thread that asked may have ended.
            let _ = reply.send(operation(pipelines));
        });
        let ended = || Refusal::new("failed-precondition", "the switch's data path has ended");
        commands.send(command).map_err(|_| ended())?;
        answer.recv().map_err(|_| ended())?
    }

    /// Like `with`, for packets: waits while a switch in the handle is paused.
    pub fn with_unpaused<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Pipelines<'_>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let mut location = self.lock();
        while matches!(&*location, Location::Handle(pipelines) if pipelines[0].paused > 0) {
            location = self.resumed.wait(location).unwrap_or_else(PoisonError::into_inner);
        }
        if let Location::Handle(pipelines) = &mut *location {
            return operation(&mut all(pipelines));
        }
        drop(location);
        self.with(operation)
    }

    /// Wakes the threads that wait for the end of a pause.
    pub fn notify_resumed(&self) {
        self.resumed.notify_all();
    }

    /// True while the switch is on a data path.
    pub fn is_on_data_path(&self) -> bool {
        matches!(&*self.lock(), Location::DataPath(_))
    }

    /// Moves the switch's pipelines to a data path that takes `commands`, with their programs
    /// compiled; `None` if a data path has them already.
    pub fn move_to_data_path(
        &self,
        commands: MailboxSender<Command>,
    ) -> Option<Vec<ManagedSwitch>> {
        let mut location = self.lock();
        match core::mem::replace(&mut *location, Location::DataPath(commands)) {
            Location::Handle(mut pipelines) => {
                let switches = pipelines.iter_mut().filter_map(|one| one.switch.as_mut());
                switches.for_each(Switch::compile);
                Some(pipelines)
            }
            on_data_path => {
                *location = on_data_path;
                None
            }
        }
    }

    /// Takes the switch's pipelines back.
    pub fn take_back(&self, pipelines: Vec<ManagedSwitch>) {
        *self.lock() = Location::Handle(pipelines);
    }
}
