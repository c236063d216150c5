//! Where those sleep who wait, so that one call wakes them all.
//!
//! A condition variable would have each of the woken take its lock in turn before it may go on; here
//! nobody holds anything.

use crate::sync::{AtomicUsize, Ordering, Wake, fence};

/// What sleepers listen to.
pub(crate) struct Bell {
    /// Changes with every ring.
    rung: Wake,
    /// How many sleep, or are about to.
    sleepers: AtomicUsize,
}

impl Bell {
    pub(crate) fn new() -> Self {
        Bell { rung: Wake::new(), sleepers: AtomicUsize::new(0) }
    }

    /// Sleeps until `is_over`. Whoever makes it so rings afterwards.
    ///
    /// A sleeper is counted before its last look at what it waits for, and whoever rings has made the
    /// change before it counts sleepers, with a fence between: one of the two sees the other. A ring between the look and
    /// the sleep is heard, because the bell no longer stands as it stood before the look.
    pub(crate) fn sleep_until(&self, mut is_over: impl FnMut() -> bool) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        loop {
            let heard = self.rung.read();
            if is_over() {
                break;
            }
            self.rung.sleep_at(heard);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    /// Wakes everybody.
    pub(crate) fn ring_for_all(&self) {
        if self.is_heard() {
            self.rung.advance();
            self.rung.wake_all();
        }
    }

    /// Wakes one of the sleepers, if there are any.
    pub(crate) fn ring_for_one(&self) {
        if self.is_heard() {
            self.rung.advance();
            self.rung.wake_one();
        }
    }

    fn is_heard(&self) -> bool {
        self.sleepers.load(Ordering::SeqCst) > 0
    }
}
