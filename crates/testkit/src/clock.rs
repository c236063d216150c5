//! Clocks that tests can rely on: one that moves only when it is looked at, and one that never does.

use std::sync::atomic::{AtomicI64, Ordering};

use quipu_event::Timestamp;
use quipu_journal::Clock;

const START: i64 = 1_767_323_045_000_000;

/// Starts at 2026-01-02T03:04:05Z and goes one millisecond further each time it is asked.
#[derive(Debug)]
pub struct SteppingClock {
    micros: AtomicI64,
}

impl Default for SteppingClock {
    fn default() -> Self {
        SteppingClock { micros: AtomicI64::new(START) }
    }
}

impl Clock for SteppingClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.micros.fetch_add(1000, Ordering::Relaxed))
    }
}

/// Always says 2026-01-02T03:04:05Z: for what is asked for the time as often as bytes happen to come.
#[derive(Clone, Copy, Debug, Default)]
pub struct StillClock;

impl Clock for StillClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(START)
    }
}
