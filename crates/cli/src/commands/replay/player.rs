//! When the next event of a run is due. Pure: whoever asks says what time it is.
//!
//! The clock of the run is a straight line from its last anchor: an event that was shown, a jump, a
//! change of speed. An event that is shown late does not delay those after it.

use std::time::Duration;

use super::pace::Pace;

/// Plays a run: how its time follows from the time of whoever watches.
#[derive(Clone, Debug)]
pub(super) struct Player {
    pace: Pace,
    longest: Option<Duration>,
    is_paused: bool,
    /// A moment of the run, in microseconds,
    run: i64,
    /// and when it was that moment for whoever watches.
    watched: Duration,
}

/// When something is to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Now,
    In(Duration),
    /// When the run goes on.
    Paused,
}

impl Player {
    /// Begins at the moment `run`. `longest`: how long is waited at most for an event.
    pub(super) fn new(pace: Pace, longest: Option<Duration>, run: i64) -> Self {
        Player { pace, longest, is_paused: false, run, watched: Duration::ZERO }
    }

    pub(super) fn pace(&self) -> Pace {
        self.pace
    }

    pub(super) fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Says when an event that happened at `at` is to be shown.
    pub(super) fn due(&self, now: Duration, at: i64) -> Due {
        if self.is_paused {
            return Due::Paused;
        }
        match self.deadline(at).checked_sub(now) {
            Some(left) if !left.is_zero() => Due::In(left),
            _ => Due::Now,
        }
    }

    /// Returns the clock of the run, which waits for the next event.
    pub(super) fn clock(&self, now: Duration, next: Option<i64>) -> i64 {
        let Some(next) = next.filter(|_| !self.is_paused) else { return self.run };
        let passed = self.pace.of_run(now.saturating_sub(self.watched));
        self.run.saturating_add(passed).min(next).max(self.run)
    }

    /// Takes note that an event that was due has been shown.
    pub(super) fn shown(&mut self, at: i64) {
        self.watched = self.deadline(at);
        self.run = self.run.max(at);
    }

    /// Takes note that the run is at another moment, whatever was due.
    pub(super) fn jumped(&mut self, now: Duration, at: i64) {
        (self.run, self.watched) = (at, now);
    }

    /// Pauses, or goes on.
    pub(super) fn set_paused(&mut self, is_paused: bool, now: Duration, next: Option<i64>) {
        self.anchor(now, next);
        self.is_paused = is_paused;
    }

    /// Goes on at another pace.
    pub(super) fn set_pace(&mut self, pace: Pace, now: Duration, next: Option<i64>) {
        self.anchor(now, next);
        self.pace = pace;
    }

    fn anchor(&mut self, now: Duration, next: Option<i64>) {
        (self.run, self.watched) = (self.clock(now, next), now);
    }

    fn deadline(&self, at: i64) -> Duration {
        let wait = self.pace.of_watching(at.saturating_sub(self.run).max(0));
        let wait = self.longest.map_or(wait, |longest| wait.min(longest));
        self.watched.saturating_add(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    fn player(pace: Pace, longest: Option<u64>) -> Player {
        Player::new(pace, longest.map(seconds), 100 * SECOND)
    }

    #[test]
    fn an_event_is_due_when_its_time_has_passed_at_the_pace_asked_for() {
        for (pace, wait) in [(0.25, 40), (1.0, 10), (2.0, 5), (10.0, 1)] {
            let player = player(Pace::Times(pace), None);
            let at = 110 * SECOND;
            assert_eq!(player.due(seconds(0), at), Due::In(seconds(wait)), "{pace}");
            assert_eq!(player.due(seconds(wait), at), Due::Now, "{pace}");
            assert_eq!(player.due(seconds(99), at), Due::Now, "{pace}");
        }
        assert_eq!(player(Pace::Unbounded, None).due(seconds(0), i64::MAX), Due::Now);
    }

    #[test]
    fn an_event_shown_late_does_not_delay_those_after_it() {
        let mut player = player(Pace::Times(1.0), None);
        player.shown(110 * SECOND);
        assert_eq!(player.due(seconds(14), 115 * SECOND), Due::In(seconds(1)));
    }

    #[test]
    fn silence_is_shortened_only_where_that_is_asked_for() {
        let mut short = player(Pace::Times(1.0), Some(3));
        assert_eq!(short.due(seconds(0), 9_000 * SECOND), Due::In(seconds(3)));
        assert_eq!(short.due(seconds(0), 102 * SECOND), Due::In(seconds(2)));
        short.shown(9_000 * SECOND);
        assert_eq!(short.clock(seconds(4), Some(9_010 * SECOND)), 9_001 * SECOND);
        let real = player(Pace::Times(1.0), None);
        assert_eq!(real.due(seconds(0), 9_000 * SECOND), Due::In(seconds(8_900)));
    }

    #[test]
    fn the_clock_stands_still_in_a_pause_and_never_passes_an_event() {
        let mut player = player(Pace::Times(2.0), None);
        let next = Some(120 * SECOND);
        assert_eq!(player.clock(seconds(3), next), 106 * SECOND);
        assert_eq!(player.clock(seconds(99), next), 120 * SECOND);
        player.set_paused(true, seconds(3), next);
        assert_eq!(player.due(seconds(50), 0), Due::Paused);
        assert_eq!(player.clock(seconds(50), next), 106 * SECOND);
        player.set_paused(false, seconds(50), next);
        assert_eq!(player.due(seconds(50), 120 * SECOND), Due::In(seconds(7)));
        player.set_pace(Pace::Times(1.0), seconds(52), next);
        assert_eq!(player.due(seconds(52), 120 * SECOND), Due::In(seconds(10)));
    }

    #[test]
    fn a_jump_goes_on_from_where_it_leads() {
        let mut player = player(Pace::Times(1.0), None);
        player.jumped(seconds(7), 50 * SECOND);
        assert_eq!(player.due(seconds(7), 51 * SECOND), Due::In(seconds(1)));
        // An event that is older than one before it happens with it.
        assert_eq!(player.due(seconds(7), 3 * SECOND), Due::Now);
    }
}
