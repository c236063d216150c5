//! Stretches of time, and moments within a day. All moments are shown in UTC, as they are stored.

use quipu_event::Timestamp;

/// Returns how long something took: `7ms`, `1.4s`, `2m05s`, `3h10m`, `4d07h`.
pub(crate) fn duration(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0 => format!("{millis}ms"),
        1..60 => format!("{seconds}.{}s", millis % 1000 / 100),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// Returns how long ago `then` was, in its largest unit: `12s`, `5m`, `3h`, `8d`.
pub(crate) fn age(now: Timestamp, then: Timestamp) -> String {
    let seconds = now.millis_since(then) / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Returns the day: `2026-06-08`.
pub(crate) fn day(moment: Timestamp) -> String {
    let text = moment.to_string();
    text.split_once('T').map_or(text.as_str(), |(day, _)| day).to_owned()
}

/// Returns the time of day in milliseconds: `10:14:42.123`.
pub(crate) fn time_of_day(moment: Timestamp) -> String {
    let text = moment.to_string();
    let time = text.split_once('T').map_or(text.as_str(), |(_, time)| time);
    time.chars().take("10:14:42.123".len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_told_in_their_two_largest_units() {
        let cases = [
            (0, "0ms"),
            (999, "999ms"),
            (1499, "1.4s"),
            (59_999, "59.9s"),
            (125_000, "2m05s"),
            (11_400_000, "3h10m"),
            (370_800_000, "4d07h"),
        ];
        for (millis, expected) in cases {
            assert_eq!(duration(millis), expected);
        }
    }

    #[test]
    fn ages_are_told_in_their_largest_unit() {
        let then = Timestamp::from_micros(0);
        let cases = [(-5, "0s"), (59, "59s"), (3599, "59m"), (86_399, "23h"), (200_000, "2d")];
        for (seconds, expected) in cases {
            assert_eq!(age(Timestamp::from_micros(seconds * 1_000_000), then), expected);
        }
    }

    #[test]
    fn a_moment_is_shown_in_utc() {
        let moment = Timestamp::parse("2026-06-08T10:14:42.123456789+02:00").unwrap();
        assert_eq!(day(moment), "2026-06-08");
        assert_eq!(time_of_day(moment), "08:14:42.123");
    }
}
