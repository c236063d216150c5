//! How long a plugin that failed is left alone.

use std::time::Duration;

use tokio::time::Instant;

/// The pause after the first failure. It doubles with each one after that.
const FIRST: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(30);

/// The failures of a plugin since it last did well.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
    until: Option<Instant>,
}

/// A pause before a plugin is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pause {
    /// Which restart follows, since the plugin last did well.
    pub(super) attempt: u32,
    /// When it is over.
    pub(super) until: Instant,
}

impl Backoff {
    /// Takes note of a failure.
    pub(super) fn failed(&mut self) {
        self.until = Some(Instant::now() + pause_after(self.failures));
        self.failures = self.failures.saturating_add(1);
    }

    /// Takes note of a call that went well.
    pub(super) fn went_well(&mut self) {
        *self = Backoff::default();
    }

    /// Returns the pause that a start has to wait for; one that is over if there was a failure.
    pub(super) fn pause(&self) -> Option<Pause> {
        self.until.map(|until| Pause { attempt: self.failures, until })
    }
}

/// Returns the pause after a failure that so many came before.
fn pause_after(earlier: u32) -> Duration {
    FIRST.saturating_mul(2_u32.saturating_pow(earlier)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_doubles_up_to_its_longest() {
        let pauses = (0..12).map(|earlier| pause_after(earlier).as_millis());
        let expected = [100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000, 30000];
        assert_eq!(pauses.collect::<Vec<_>>(), expected);
        assert_eq!(pause_after(u32::MAX), LONGEST);
    }

    #[test]
    fn a_good_call_makes_failures_forgotten() {
        let mut backoff = Backoff::default();
        assert_eq!(backoff.pause(), None);
        backoff.failed();
        backoff.failed();
        assert_eq!(backoff.pause().map(|pause| pause.attempt), Some(2));
        backoff.went_well();
        assert_eq!(backoff.pause(), None);
    }
}
