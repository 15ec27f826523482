//! What one part has sent to another, until that takes it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Parcel;

/// A mailbox, in cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Mailbox {
    parcel: Mutex<Parcel>,
    /// Written under the lock. A look at it leaves the cache line with the sender.
    is_full: AtomicBool,
}

impl Mailbox {
    /// Puts in a parcel, after those before it; leaves it empty.
    pub fn put(&self, parcel: &mut Parcel) {
        let mut inside = self.lock();
        inside.append(parcel);
        self.is_full.store(true, Ordering::Release);
    }

    /// Exchanges what is there for an empty parcel. Returns whether there was anything.
    pub fn take(&self, empty: &mut Parcel) -> bool {
        if !self.is_full.load(Ordering::Acquire) {
            return false;
        }
        let mut inside = self.lock();
        std::mem::swap(&mut *inside, empty);
        self.is_full.store(false, Ordering::Release);
        true
    }

    fn lock(&self) -> MutexGuard<'_, Parcel> {
        self.parcel.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
