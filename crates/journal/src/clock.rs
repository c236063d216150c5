//! The clock that dates events. Passed in, so that tests decide what time it is.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use quipu_event::Timestamp;

/// Something that knows what time it is.
///
/// It is asked while a producer holds the recorder's door, so it must neither panic nor wait.
pub trait Clock: Send + Sync {
    /// Returns the present moment.
    fn now(&self) -> Timestamp;
}

/// The machine's own clock, in whole microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let micros = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => micros(since),
            Err(before) => -micros(before.duration()),
        };
        Timestamp::from_micros(micros)
    }
}

/// Whole microseconds, as many as a clock of seconds in 64 bits can count.
fn micros(duration: Duration) -> i64 {
    let seconds = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    seconds.saturating_mul(1_000_000).saturating_add(duration.subsec_micros().into())
}
