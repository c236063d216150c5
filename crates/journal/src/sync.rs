//! The pieces of concurrency that [`crate::combine`] is made of.
//!
//! They have a file of their own so that the interleaving test can put a model checker's pieces
//! in their place.

pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
pub(crate) use std::thread::yield_now;

/// How often one who holds the door looks for company before it goes on: less than a microsecond.
pub(crate) const LOOKS_FOR_COMPANY: u32 = 20;
/// How often one who waits looks again before it gives up its core to another producer.
pub(crate) const LOOKS_BEFORE_YIELD: u32 = 1;
/// How often one who waits looks again before it goes to sleep.
pub(crate) const LOOKS_BEFORE_SLEEP: u32 = 100;

/// Returns a number that no other thread alive has.
pub(crate) fn me() -> usize {
    thread_local! {
        static PLACE: u8 = const { 0 };
    }
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}
