//! The line about the playing, and the keys below it. Text only: where it stands is not its business.

use std::time::Duration;

use quipu_event::Timestamp;

use super::keys::HELP;
use super::pace::Pace;
use super::tale::Place;
use crate::format::span::{duration, time_of_day};
use crate::format::style;
use crate::format::visible::visible;

/// Shorter waits need not be told.
const SHORT: Duration = Duration::from_secs(3);

/// Where the playing of a run is.
pub(super) struct State<'a> {
    pub(super) place: &'a Place,
    pub(super) last_seq: u64,
    /// When the run began, when it ended, and its clock now, in microseconds.
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) clock: i64,
    pub(super) pace: Pace,
    pub(super) is_paused: bool,
    pub(super) coming: Coming,
    /// The number that is being typed.
    pub(super) number: Option<u64>,
    pub(super) has_keys: bool,
}

/// What comes next.
pub(super) enum Coming {
    /// An event, after so long.
    In(Duration),
    /// An event, at once or when the run goes on.
    Soon,
    /// Whatever will be written.
    Unknown,
    Nothing,
}

impl State<'_> {
    /// Returns the line. What matters most stands first: narrow terminals cut it.
    pub(super) fn row(&self) -> String {
        let (bold, dim, busy) = (style::BOLD, style::DIM, style::BUSY);
        let place = self.place;
        let sign = if self.is_paused { "⏸ paused" } else { "▶" };
        let mut parts = Vec::new();
        parts.extend(self.number.map(|number| format!("go to {number}")));
        parts.push(format!("{}/{}", place.seq, self.last_seq.max(place.seq)));
        let last = self.last.max(self.clock);
        parts.push(format!("{} of {}", self.passed(self.clock), self.passed(last)));
        parts.push(self.pace.to_string());
        match self.coming {
            Coming::In(wait) if wait > SHORT => {
                let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                parts.push(format!("next event in {}", duration(millis / 1000 * 1000)));
            }
            Coming::In(_) | Coming::Soon => {}
            Coming::Unknown => parts.push("waiting for more".to_owned()),
            Coming::Nothing => parts.push("the end".to_owned()),
        }
        parts.push(time_of_day(Timestamp::from_micros(self.clock)).chars().take(8).collect());
        if !place.kind.is_empty() {
            parts.push(visible(&place.kind).into_owned());
        }
        parts.extend(self.has_keys.then(|| "? keys".to_owned()));
        let parts = parts.join(&format!(" {dim}·{dim:#} "));
        format!("{busy}{bold}{sign}{bold:#}{busy:#} {parts}")
    }

    fn passed(&self, at: i64) -> String {
        let micros = u64::try_from(at.saturating_sub(self.first)).unwrap_or_default();
        duration(micros / 1000)
    }
}

/// Returns a row for each key.
pub(super) fn help_rows() -> Vec<String> {
    let (bold, dim) = (style::BOLD, style::DIM);
    let row = |(keys, what): &(&str, &str)| format!("  {bold}{keys:<6}{bold:#} {dim}{what}{dim:#}");
    HELP.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use anstream::adapter::strip_str;

    #[test]
    fn the_line_says_where_the_run_is_and_what_comes() {
        let place = Place { seq: 12, kind: "tool.\u{1b}call".into(), ..Place::default() };
        let state = |is_paused, coming| State {
            place: &place,
            last_seq: 340,
            first: 1_000_000,
            last: 66_000_000,
            clock: 4_200_000,
            pace: Pace::Times(2.0),
            is_paused,
            coming,
            number: is_paused.then_some(7),
            has_keys: !is_paused,
        };
        let text = |state: State<'_>| strip_str(&state.row()).to_string();
        assert_eq!(
            text(state(false, Coming::In(Duration::from_millis(725_900)))),
            "▶ 12/340 · 3.2s of 1m05s · 2× · next event in 12m05s · 00:00:04 · tool.␛call · ? keys"
        );
        assert_eq!(
            text(state(true, Coming::Nothing)),
            "⏸ paused go to 7 · 12/340 · 3.2s of 1m05s · 2× · the end · 00:00:04 · tool.␛call"
        );
        assert!(!text(state(false, Coming::In(SHORT))).contains("next"));
        assert!(text(state(false, Coming::Unknown)).contains("waiting for more"));
    }
}
