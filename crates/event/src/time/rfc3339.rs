//! Every time that RFC 3339 allows, read, and those that UTC cannot spell, written.
//!
//! Years are 0000 to 9999 and offsets reach 23:59, so that a time near an edge of the calendar is, in UTC,
//! in a year that has no spelling. Such a time is written with the offset that brings it back.

use std::fmt::Write as _;

use super::civil::{DAY, date_of, days_of, number};

/// The first moment and the last microsecond that can be spelled, each with the widest offset.
pub(super) const FIRST: i64 = -62_167_219_200_000_000 - WIDEST;
pub(super) const LAST: i64 = 253_402_300_800_000_000 + WIDEST - 1;

const MINUTE: i64 = 60_000_000;
/// 23:59, the widest offset there is.
const WIDEST: i64 = DAY - MINUTE;

/// Reads microseconds since 1970 and the nanoseconds beyond them; answers nothing for any other text.
///
/// A leap second is the second before it, as most clocks have it. Digits finer than nanoseconds are
/// passed over.
pub(super) fn parse(text: &[u8]) -> Option<(i64, u16)> {
    let (date, rest) = text.split_at_checked(10)?;
    let (time, rest) = rest.split_at_checked(9)?;
    let (year, month, day) = (number(&date[..4])?, number(&date[5..7])?, number(&date[8..])?);
    let (hour, minute) = (number(&time[1..3])?, number(&time[4..6])?);
    let second = number(&time[7..])?;
    let marks = [date[4], date[7], time[0].to_ascii_uppercase(), time[3], time[6]];
    if marks != *b"--T::" || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    if !(1..=12).contains(&month) || date_of(days_of(year, month, day)) != (year, month, day) {
        return None;
    }
    let (micros, nanos, zone) = fraction(rest)?;
    let of_day = (hour * 60 + minute) * MINUTE + second.min(59) * 1_000_000 + micros;
    Some((days_of(year, month, day) * DAY + of_day - offset(zone)?, nanos))
}

/// Reads `.123456789…`, if there is one: microseconds, nanoseconds, and what follows.
fn fraction(rest: &[u8]) -> Option<(i64, u16, &[u8])> {
    let Some(fraction) = rest.strip_prefix(b".") else { return Some((0, 0, rest)) };
    let end = fraction.iter().position(|byte| !byte.is_ascii_digit())?;
    let (digits, zone) = fraction.split_at(end);
    if digits.is_empty() {
        return None;
    }
    let mut nine = [b'0'; 9];
    let kept = digits.len().min(9);
    nine[..kept].copy_from_slice(&digits[..kept]);
    Some((number(&nine[..6])?, u16::try_from(number(&nine[6..])?).ok()?, zone))
}

/// Reads `Z` or `+02:00` to the end of the text, in microseconds.
fn offset(zone: &[u8]) -> Option<i64> {
    let [sign, h1, h2, b':', m1, m2] = *zone else {
        return matches!(zone, b"Z" | b"z").then_some(0);
    };
    let (hours, minutes) = (number(&[h1, h2])?, number(&[m1, m2])?);
    let offset = (hours * 60 + minutes) * MINUTE;
    match sign {
        _ if hours > 23 || minutes > 59 => None,
        b'+' => Some(offset),
        b'-' => Some(-offset),
        _ => None,
    }
}

/// Spells a time whose year in UTC has no spelling. Answers nothing beyond [`FIRST`] and [`LAST`].
pub(super) fn spell_beyond_utc(micros: i64, nanos: u16) -> Option<String> {
    if !(FIRST..=LAST).contains(&micros) {
        return None;
    }
    let (offset, zone) = if micros < 0 { (WIDEST, "+23:59") } else { (-WIDEST, "-23:59") };
    let local = micros + offset;
    let (year, month, day) = date_of(local.div_euclid(DAY));
    let of_day = local.rem_euclid(DAY);
    let (hour, minute, second) =
        (of_day / 60 / MINUTE, of_day / MINUTE % 60, of_day / 1_000_000 % 60);
    let of_second = of_day % 1_000_000;
    let mut text =
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{of_second:06}");
    if nanos > 0 {
        // Writing to a `String` has no way to fail.
        let _ = write!(text, "{nanos:03}");
    }
    Some(text + zone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_read_here_is_what_the_date_library_reads(
            text in "[0-9]{4}-[01][0-9]-[0-3][0-9][Tt][0-2][0-9]:[0-5][0-9]:[0-6][0-9](\\.[0-9]{1,9})?([Zz]|[+-][01][0-9]:[0-5][0-9])",
        ) {
            let theirs = jiff::fmt::temporal::DateTimeParser::new().parse_timestamp(&text);
            match (parse(text.as_bytes()), theirs) {
                (Some((micros, nanos)), Ok(theirs)) => {
                    let ours = i128::from(micros) * 1000 + i128::from(nanos);
                    prop_assert_eq!(ours, theirs.as_nanosecond());
                }
                (None, Ok(_)) => prop_assert!(false, "only they read it"),
                // Their calendar ends a day earlier.
                (Some(_), Err(_)) => prop_assert!(text.starts_with("9999-12-3")),
                (None, Err(_)) => {}
            }
        }

        #[test]
        fn what_utc_cannot_spell_is_written_so_that_it_is_read_again(
            into in 0..WIDEST, nanos in 0..1000_u16,
        ) {
            for micros in [FIRST + into, LAST - into] {
                let text = spell_beyond_utc(micros, nanos).unwrap();
                prop_assert_eq!(parse(text.as_bytes()), Some((micros, nanos)), "{}", text);
            }
        }
    }
}
