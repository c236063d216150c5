//! How long a node took.
//!
//! Attempts carry their own durations. What has no attempts, such as an iteration, lasted from the
//! first beginning to the last end of what is inside.

use quipu_event::Timestamp;

use super::{Attempt, Node};

impl Node {
    /// Returns when it began, as far as that was recorded.
    pub fn started(&self) -> Option<Timestamp> {
        Some(self.span()?.0)
    }

    /// Returns how long it took, all attempts together; nothing while it is open.
    pub fn duration_ms(&self) -> Option<u64> {
        self.status()?;
        if self.attempts.is_empty() {
            let (begin, end) = self.span()?;
            return Some(end.millis_since(begin));
        }
        self.attempts.iter().filter_map(|attempt| attempt.duration_ms).reduce(u64::saturating_add)
    }

    /// Returns the first beginning and the last end known, here or further in.
    fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let around =
            |a: (Timestamp, Timestamp), b: (Timestamp, Timestamp)| (a.0.min(b.0), a.1.max(b.1));
        let own = self.attempts.iter().filter_map(Attempt::span).reduce(around);
        own.or_else(|| self.children.iter().filter_map(Node::span).reduce(around))
    }
}

impl Attempt {
    fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let begin = self.started?;
        let millis = i64::try_from(self.duration_ms.unwrap_or(0)).unwrap_or(i64::MAX);
        let micros = begin.as_micros().saturating_add(millis.saturating_mul(1000));
        Some((begin, Timestamp::from_micros(micros)))
    }
}
