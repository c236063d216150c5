//! How fast a run is played.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The slowest and the fastest pace that is still a pace.
const SLOWEST: f64 = 0.25;
const FASTEST: f64 = 1000.0;
/// The paces that keys go through.
const STEPS: [f64; 12] =
    [SLOWEST, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, FASTEST];

/// How fast a run is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pace {
    /// So many times as fast as it was.
    Times(f64),
    /// Without waiting.
    Unbounded,
}

impl Pace {
    /// Returns how much of a run passes while somebody watches for so long, in microseconds.
    pub(super) fn of_run(self, watching: Duration) -> i64 {
        match self {
            // Numbers too large for the type become its largest, which is far enough.
            Pace::Times(times) => (watching.as_secs_f64() * times * 1e6) as i64,
            Pace::Unbounded => i64::MAX,
        }
    }

    /// Returns how long so many microseconds of a run are watched.
    pub(super) fn of_watching(self, micros: i64) -> Duration {
        match self {
            Pace::Times(times) => {
                Duration::try_from_secs_f64(micros as f64 / 1e6 / times).unwrap_or(Duration::MAX)
            }
            Pace::Unbounded => Duration::ZERO,
        }
    }

    /// Returns the next higher pace.
    pub(super) fn faster(self) -> Self {
        let Pace::Times(times) = self else { return self };
        STEPS.into_iter().find(|step| *step > times).map_or(Pace::Unbounded, Pace::Times)
    }

    /// Returns the next lower pace.
    pub(super) fn slower(self) -> Self {
        match self {
            Pace::Times(times) => {
                let lower = STEPS.into_iter().rev().find(|step| *step < times);
                Pace::Times(lower.unwrap_or(SLOWEST))
            }
            Pace::Unbounded => Pace::Times(FASTEST),
        }
    }
}

impl FromStr for Pace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "max" {
            return Ok(Pace::Unbounded);
        }
        match text.strip_suffix(['x', '×']).unwrap_or(text).parse::<f64>() {
            Ok(times) if (SLOWEST..=FASTEST).contains(&times) => Ok(Pace::Times(times)),
            _ => Err(format!("expected a number from {SLOWEST} to {FASTEST}, or max")),
        }
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pace::Times(times) => write!(f, "{times}×"),
            Pace::Unbounded => f.write_str("max"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_a_number_within_bounds_or_max() {
        for (text, pace) in [("1", 1.0), ("0.25", 0.25), ("2.5x", 2.5), ("1000", 1000.0)] {
            assert_eq!(text.parse(), Ok(Pace::Times(pace)), "{text}");
        }
        assert_eq!("max".parse(), Ok(Pace::Unbounded));
        for text in ["", "0", "0.2", "-1", "1001", "NaN", "inf", "fast"] {
            assert!(text.parse::<Pace>().is_err(), "{text}");
        }
    }

    #[test]
    fn keys_go_through_all_paces_and_back() {
        let mut pace = Pace::Times(SLOWEST);
        let mut seen = vec![pace];
        while pace != Pace::Unbounded {
            pace = pace.faster();
            seen.push(pace);
        }
        assert_eq!(pace.faster(), Pace::Unbounded);
        while let Some(expected) = seen.pop() {
            assert_eq!(pace, expected);
            pace = pace.slower();
        }
        assert_eq!(pace, Pace::Times(SLOWEST));
        assert_eq!(Pace::Times(3.0).faster(), Pace::Times(5.0));
        assert_eq!(Pace::Times(3.0).slower(), Pace::Times(2.0));
    }
}
