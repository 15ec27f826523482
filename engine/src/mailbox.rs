//! What ordinary threads leave for a loop that runs before them (`narrows_dpdk::Idle`).
//!
//! A channel's receiver waits, turning round, for a sender that is amid a message. Such a loop may
//! just have taken the core from that sender, who then never gets to the end of it: the loop stood
//! still until Linux took the core from it in turn, after up to 0.95 s. Here it never waits for
//! anybody, but comes back at its next turn, and sleeps in between.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

struct Shared<T> {
    /// `None` once the inbox is gone.
    letters: Mutex<Option<VecDeque<T>>>,
    /// How many there are, for a look without the lock.
    count: AtomicUsize,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, Option<VecDeque<T>>> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The senders' side.
pub struct MailboxSender<T>(Arc<Shared<T>>);

impl<T> Clone for MailboxSender<T> {
    fn clone(&self) -> Self {
        MailboxSender(Arc::clone(&self.0))
    }
}

impl<T> MailboxSender<T> {
    /// Leaves a letter; gives it back when nobody will read it any more.
    pub fn put(&self, letter: T) -> Result<(), T> {
        let mut letters = self.0.lock();
        let Some(waiting) = &mut *letters else { return Err(letter) };
        waiting.push_back(letter);
        self.0.count.store(waiting.len(), Ordering::Release);
        Ok(())
    }
}

/// The loop's side. What waits when it is dropped is dropped.
pub struct MailboxReceiver<T>(Arc<Shared<T>>);

impl<T> MailboxReceiver<T> {
    /// The oldest letter; `None` also while a sender is at the box.
    pub fn try_take(&self) -> Option<T> {
        if self.0.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut letters = match self.0.letters.try_lock() {
            Ok(letters) => letters,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let waiting = letters.as_mut()?;
        let letter = waiting.pop_front();
        self.0.count.store(waiting.len(), Ordering::Release);
        letter
    }

    /// Closes the box: all that waits. May wait for a sender.
    pub fn close(self) -> VecDeque<T> {
        self.0.lock().take().unwrap_or_default()
    }
}

impl<T> Drop for MailboxReceiver<T> {
    fn drop(&mut self) {
        self.0.lock().take();
    }
}

/// An empty box.
pub fn mailbox<T>() -> (MailboxSender<T>, MailboxReceiver<T>) {
    let letters = Mutex::new(Some(VecDeque::new()));
    let shared = Arc::new(Shared { letters, count: AtomicUsize::new(0) });
    (MailboxSender(Arc::clone(&shared)), MailboxReceiver(shared))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_come_in_order_and_none_is_left_for_a_reader_who_is_gone() {
        let (post, inbox) = mailbox();
        assert_eq!(inbox.try_take(), None);
        for letter in 0..4 {
            post.clone().put(letter).unwrap();
        }
        assert_eq!((inbox.try_take(), inbox.try_take()), (Some(0), Some(1)));
        assert_eq!(inbox.close(), [2, 3]);
        assert_eq!(post.put(4), Err(4));
    }

    #[test]
    fn a_sender_who_is_amid_a_letter_is_not_waited_for() {
        let (post, inbox) = mailbox();
        post.put(0).unwrap();
        let amid = post.0.lock();
        assert_eq!(inbox.try_take(), None);
        drop(amid);
        assert_eq!(inbox.try_take(), Some(0));
    }
}
