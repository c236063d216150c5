//! Numbers and moments as people read them, written without making a text of each.

use std::fmt::Write;

use quipu_event::Timestamp;

/// Appends a number with its thousands set apart: `1,234,567`.
pub(crate) fn full(out: &mut String, number: u64) {
    let begin = out.len();
    // Writing to a `String` has no way to fail.
    let _ = write!(out, "{number}");
    let mut at = out.len();
    while at > begin + 3 {
        at -= 3;
        out.insert(at, ',');
    }
}

/// Appends `1 thing` or `n things`.
pub(crate) fn counted(out: &mut String, number: u64, thing: &str) {
    full(out, number);
    out.push(' ');
    out.push_str(thing);
    if number != 1 {
        out.push('s');
    }
}

/// Appends a size: `812 B`, `12.3 kB`, `4.5 GB`.
pub(crate) fn bytes(out: &mut String, size: u64) {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB")];
    let _ = match UNITS.iter().find(|(unit, _)| size >= *unit) {
        Some((unit, name)) => write!(out, "{}.{} {name}", size / unit, size % unit * 10 / unit),
        None => write!(out, "{size} B"),
    };
}

/// Appends how long something took: `7 ms`, `1.4 s`, `2 min 5 s`, `3 h 10 min`.
pub(crate) fn duration(out: &mut String, millis: u64) {
    let seconds = millis / 1000;
    let _ = match seconds {
        0 => write!(out, "{millis} ms"),
        1..60 => write!(out, "{seconds}.{} s", millis % 1000 / 100),
        60..3600 => write!(out, "{} min {} s", seconds / 60, seconds % 60),
        _ => write!(out, "{} h {} min", seconds / 3600, seconds % 3600 / 60),
    };
}

/// Appends a moment: `2026-06-08 10:14:42 UTC`.
pub(crate) fn moment(out: &mut String, moment: Timestamp) {
    let begin = out.len();
    moment.write_to(out);
    if let Some(at) = out[begin..].find('T') {
        out.replace_range(begin + at..begin + at + 1, " ");
    }
    if let Some(at) = out[begin..].find(['.', 'Z']) {
        out.truncate(begin + at);
    }
    out.push_str(" UTC");
}

/// Appends the time of day: `10:14:42`.
pub(crate) fn clock(out: &mut String, moment: Timestamp) {
    let seconds = moment.as_micros().div_euclid(1_000_000).rem_euclid(86_400);
    let parts = [seconds / 3600, seconds / 60 % 60, seconds % 60];
    for (at, part) in parts.into_iter().enumerate() {
        if at > 0 {
            out.push(':');
        }
        for digit in [part / 10, part % 10] {
            out.push(char::from(b'0' + u8::try_from(digit).unwrap_or(0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut String)) -> String {
        let mut out = "x".to_owned();
        write(&mut out);
        out.split_off(1)
    }

    #[test]
    fn figures_are_easy_to_read() {
        for (number, expected) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")]
        {
            assert_eq!(written(|out| full(out, number)), expected);
        }
        for (size, expected) in [(999, "999 B"), (12_345, "12.3 kB"), (4_500_000, "4.5 MB")] {
            assert_eq!(written(|out| bytes(out, size)), expected);
        }
        for (millis, expected) in
            [(7, "7 ms"), (1499, "1.4 s"), (125_000, "2 min 5 s"), (11_400_000, "3 h 10 min")]
        {
            assert_eq!(written(|out| duration(out, millis)), expected);
        }
    }

    #[test]
    fn moments_are_in_utc() {
        let time = Timestamp::parse("2026-06-08T12:14:42.5+02:00").unwrap();
        assert_eq!(written(|out| moment(out, time)), "2026-06-08 10:14:42 UTC");
        assert_eq!(written(|out| clock(out, time)), "10:14:42");
        let early = Timestamp::from_micros(-1);
        assert_eq!(written(|out| clock(out, early)), "23:59:59");
    }
}
