//! Messages from ordinary threads to a loop with a real-time priority (`narrows_dpdk::Idle`).
//!
//! The receiver of a channel spins while a sender is in the middle of a message. A real-time loop
//! may have preempted that sender, which then cannot finish. Such a loop stalled until Linux took
//! the core from it, after up to 0.95 s. The receiver here never waits: while a sender holds the
//! lock it reports no message, and the loop looks again at its next turn.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

struct Shared<T> {
    /// `None` once the receiver is gone.
    messages: Mutex<Option<VecDeque<T>>>,
    /// The number of messages, readable without the lock.
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

/// The loop's end. Dropping it drops the waiting messages.
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

    /// Closes the mailbox and returns the waiting messages. May wait for a sender.
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
    fn messages_arrive_in_order_until_the_receiver_is_dropped() {
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
    fn the_receiver_does_not_wait_for_a_sender_with_the_lock() {
        let (sender, receiver) = mailbox();
        sender.send(0).unwrap();
        let held = sender.0.lock();
        assert_eq!(receiver.try_receive(), None);
        drop(held);
        assert_eq!(receiver.try_receive(), Some(0));
    }
}
