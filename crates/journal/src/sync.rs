//! The pieces of concurrency that [`crate::combine`] is made of.
//!
//! They have a file of their own so that the interleaving test can put a model checker's pieces
//! in their place.

pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::atomic::{AtomicU8, Ordering};
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
pub(crate) use std::thread::yield_now;

/// How often a waiting producer looks again before it goes to sleep.
pub(crate) const LOOKS_BEFORE_SLEEP: u32 = 200;
/// How many of those looks it makes without giving up its core.
pub(crate) const LOOKS_BEFORE_YIELD: u32 = 30;
