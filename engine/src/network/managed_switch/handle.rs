//! Where a switch is: with its servers, behind a lock, or on a data path of its own, which takes
//! commands from a mailbox between bursts of packets and never waits for a lock.

use std::sync::mpsc::sync_channel;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::mailbox::Post;
use crate::network::managed_switch::pipelines::Pipes;
use crate::network::managed_switch::{Controlled, Refusal};

/// What a data path does for a controller.
pub type Command = Box<dyn FnOnce(&mut Pipes<'_>) + Send>;

enum Where {
    /// By pipes.
    Here(Vec<Controlled>),
    /// On a data path that takes commands.
    Away(Post<Command>),
}

fn all(pipes: &mut [Controlled]) -> Pipes<'_> {
    Pipes::new(pipes)
}

/// Where a switch is.
pub struct Place {
    place: Mutex<Where>,
    resumed: Condvar,
}

impl Place {
    /// A switch that is here.
    pub fn new(pipes: Vec<Controlled>) -> Self {
        Place { place: Mutex::new(Where::Here(pipes)), resumed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Where> {
        // What panicked said so; the switch goes on.
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `operation` on the switch, wherever it is.
    pub fn with<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Pipes<'_>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let commands = match &mut *self.lock() {
            Where::Here(pipes) => return operation(&mut all(pipes)),
            Where::Away(commands) => commands.clone(),
        };
        let (reply, answer) = sync_channel(1);
        let command: Command = Box::new(move |pipes| {
            // Nobody waits any more when the asking thread is gone.
            let _ = reply.send(operation(pipes));
        });
        let ended = || Refusal::new("failed-precondition", "the switch's data path has ended");
        commands.put(command).map_err(|_| ended())?;
        answer.recv().map_err(|_| ended())?
    }

    /// The packets' way in: waits while a switch that is here is paused.
    pub fn with_unpaused<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Pipes<'_>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let mut place = self.lock();
        while matches!(&*place, Where::Here(pipes) if pipes[0].paused > 0) {
            place = self.resumed.wait(place).unwrap_or_else(PoisonError::into_inner);
        }
        if let Where::Here(pipes) = &mut *place {
            return operation(&mut all(pipes));
        }
        drop(place);
        self.with(operation)
    }

    /// Those who wait for a pause to end look again.
    pub fn wake(&self) {
        self.resumed.notify_all();
    }

    /// Takes the switch's pipes to a data path that will take `commands`; `None` when they are on
    /// one.
    pub fn send_away(&self, commands: Post<Command>) -> Option<Vec<Controlled>> {
        let mut place = self.lock();
        match core::mem::replace(&mut *place, Where::Away(commands)) {
            Where::Here(pipes) => Some(pipes),
            away => {
                *place = away;
                None
            }
        }
    }

    /// Takes the switch's pipes back.
    pub fn bring_back(&self, pipes: Vec<Controlled>) {
        *self.lock() = Where::Here(pipes);
    }
}
