//! A moment in the past, as people say it.

use std::str::FromStr;
use std::time::{Duration, SystemTime};

use quipu_event::Timestamp;

/// A moment in the past.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since(pub(crate) SystemTime);

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            format!(
                "{text:?} is no time: expected 7d, 12h, 30m, 90s, 2026-11-01 or an RFC 3339 time"
            )
        };
        if let Some(ago) = span(text) {
            return SystemTime::now().checked_sub(ago).map(Since).ok_or_else(expected);
        }
        let day = text.len() == 10;
        let whole = if day { format!("{text}T00:00:00Z") } else { text.to_owned() };
        let time = Timestamp::parse(&whole).map_err(|_| expected())?;
        let since = u64::try_from(time.as_micros()).map_err(|_| expected())?;
        Ok(Since(SystemTime::UNIX_EPOCH + Duration::from_micros(since)))
    }
}

/// Reads `7d`, `12h`, `30m` or `90s`.
pub(crate) fn span(text: &str) -> Option<Duration> {
    let seconds = match text.chars().last()? {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return None,
    };
    let count: u64 = text[..text.len() - 1].parse().ok()?;
    count.checked_mul(seconds).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_span_a_day_or_a_moment() {
        for text in ["7d", "12h", "30m", "90s", "2w", "2026-11-01", "2026-11-01T08:00:00+02:00"] {
            assert!(text.parse::<Since>().is_ok(), "{text}");
        }
        for text in ["", "d", "-1d", "1x", "yesterday", "2026-13-01", "99999999999999999999d"] {
            assert!(text.parse::<Since>().is_err(), "{text}");
        }
    }
}
