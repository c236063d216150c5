//! The pieces of concurrency that [`crate::combine`] is made of.
//!
//! They have a file of their own so that the interleaving test can put a model checker's pieces
//! in their place.

pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
pub(crate) use std::thread::yield_now;

/// How often somebody looks again before it does something else.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    /// One who holds the door, before it goes on without those who came last time.
    pub(crate) for_company: u32,
    /// One who waits, before it takes the lead from the one who led last.
    pub(crate) for_leader: u32,
    /// Either, before each further look gives up the core to another thread.
    pub(crate) before_yield: u32,
    /// One who waits, before it goes to sleep.
    pub(crate) before_sleep: u32,
}

impl Patience {
    /// For when what is behind the door takes about as long as coming there.
    pub(crate) const SHORT: Patience =
        Patience { for_company: 0, for_leader: 1, before_yield: 1, before_sleep: 100 };
    /// For when what is behind the door takes long.
    pub(crate) const LONG: Patience =
        Patience { for_company: 200, for_leader: 20, before_yield: 20, before_sleep: 100 };
}

/// Returns a number that no other thread alive has.
pub(crate) fn me() -> usize {
    thread_local! {
        static PLACE: u8 = const { 0 };
    }
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}
