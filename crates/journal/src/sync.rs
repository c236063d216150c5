//! The pieces of concurrency that [`crate::combine`] and [`crate::bell`] are made of.
//!
//! They have a file of their own so that the interleaving test can put a model checker's pieces
//! in their place.

pub(crate) use std::hint::spin_loop;
use std::sync::atomic::AtomicU32;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
pub(crate) use std::sync::{Mutex, MutexGuard, TryLockError};
pub(crate) use std::thread::yield_now;

/// How often somebody looks again before it does something else.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    /// One who holds the door, before it goes on without those who came last time.
    pub(crate) for_company: u32,
    /// One who waits, before it takes the lead from the one who led last.
    pub(crate) for_leader: u32,
    /// Either, before it gives up the core to another thread for each further look.
    pub(crate) before_yield: u32,
    /// One who waits, before it goes to sleep.
    pub(crate) before_sleep: u32,
}

impl Patience {
    /// For when what is behind the door takes about as long as coming there.
    pub(crate) const SHORT: Patience =
        Patience { for_company: 0, for_leader: 3, before_yield: 0, before_sleep: 100 };
    /// For when what is behind the door takes long.
    pub(crate) const LONG: Patience =
        Patience { for_company: 100, for_leader: 2, before_yield: 2, before_sleep: 12 };
}

/// A number that one can sleep at until somebody wakes.
pub(crate) struct Wake(AtomicU32);

impl Wake {
    pub(crate) fn new() -> Self {
        Wake(AtomicU32::new(0))
    }

    pub(crate) fn read(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }

    pub(crate) fn advance(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// Sleeps unless the number is no longer `seen`; may wake for no reason.
    pub(crate) fn sleep_at(&self, seen: u32) {
        atomic_wait::wait(&self.0, seen);
    }

    pub(crate) fn wake_all(&self) {
        atomic_wait::wake_all(&self.0);
    }

    pub(crate) fn wake_one(&self) {
        atomic_wait::wake_one(&self.0);
    }
}

/// Returns a number that no other thread alive has.
pub(crate) fn me() -> usize {
    thread_local! {
        static PLACE: u8 = const { 0 };
    }
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}
