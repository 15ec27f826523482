//! Messages from ordinary threads to a loop with a real-time priority (`narrows_dpdk::Idle`).
//!
//! The receiver of a channel spins while a sender is in the middle of a message. A real-time loop
//! may just have taken the core from that sender, which then cannot finish: the loop stood still
//! until Linux took the core from it, after up to 0.95 s. The receiver here never waits: while a
//! sender holds the lock there is no message, and the loop looks again at its next turn.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

struct Shared<T> {
    /// `None` once the receiver is gone.
    messages: Mutex<Option<VecDeque<T>>>,
    /// How many messages there are, to be read without the lock.
    count: AtomicUsize,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, Option<VecDeque<T>>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The senders' end.
pub struct MailboxSender<T>(Arc<Shared<T>>);

impl<T> Clone for MailboxSender<T> {
    fn clone(&self) -> Self {
        MailboxSender(Arc::clone(&self.0))
    }
}

impl<T> MailboxSender<T> {
    /// Sends a message; gives it back when the receiver is gone.
    pub fn send(&self, message: T) -> Result<(), T> {
        let mut messages = self.0.lock();
        let Some(waiting) = &mut *messages else { return Err(message) };
        waiting.push_back(message);
        self.0.count.store(waiting.len(), Ordering::Release);
        Ok(())
    }
}

/// The loop's end. Messages that wait when it is dropped are dropped.
pub struct MailboxReceiver<T>(Arc<Shared<T>>);

impl<T> MailboxReceiver<T> {
    /// The oldest message; `None` also while a sender holds the lock.
    pub fn try_receive(&self) -> Option<T> {
        if self.0.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut messages = match self.0.messages.try_lock() {
            Ok(messages) => messages,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let waiting = messages.as_mut()?;
        let message = waiting.pop_front();
        self.0.count.store(waiting.len(), Ordering::Release);
        message
    }

    /// Closes the mailbox and returns the messages that wait. May wait for a sender.
    pub fn close(self) -> VecDeque<T> {
        self.0.lock().take().unwrap_or_default()
    }
}

impl<T> Drop for MailboxReceiver<T> {
    fn drop(&mut self) {
        self.0.lock().take();
    }
}

/// An empty mailbox.
pub fn mailbox<T>() -> (MailboxSender<T>, MailboxReceiver<T>) {
    let messages = Mutex::new(Some(VecDeque::new()));
    let shared = Arc::new(Shared { messages, count: AtomicUsize::new(0) });
    (MailboxSender(Arc::clone(&shared)), MailboxReceiver(shared))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_in_order_and_none_is_sent_to_a_receiver_that_is_gone() {
        let (sender, receiver) = mailbox();
        assert_eq!(receiver.try_receive(), None);
        for message in 0..4 {
            sender.clone().send(message).unwrap();
        }
        assert_eq!((receiver.try_receive(), receiver.try_receive()), (Some(0), Some(1)));
        assert_eq!(receiver.close(), [2, 3]);
        assert_eq!(sender.send(4), Err(4));
    }

    #[test]
    fn a_sender_that_holds_the_lock_is_not_waited_for() {
        let (sender, receiver) = mailbox();
        sender.send(0).unwrap();
        let held = sender.0.lock();
        assert_eq!(receiver.try_receive(), None);
        drop(held);
        assert_eq!(receiver.try_receive(), Some(0));
    }
}
