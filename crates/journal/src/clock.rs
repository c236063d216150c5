//! The clock that dates events. Passed in, so that tests decide what time it is.

use std::time::{SystemTime, UNIX_EPOCH};

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
            Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
            Err(before) => {
                i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |micros| -micros)
            }
        };
        Timestamp::from_micros(micros)
    }
}
