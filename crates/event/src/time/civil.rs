//! The one spelling of a time that our own writer uses, read and written without detours.
//!
//! `2026-06-08T10:14:42.123456Z`: 27 bytes, years 0000 to 9999. Everything else is left to
//! [`super::rfc3339`]. The date library decides what is right: property tests compare with it.

use std::cell::Cell;

use crate::digits::six;

pub(super) const DAY: i64 = 86_400_000_000;
/// So many bytes the one spelling has.
pub(crate) const SPELLED: usize = 27;

thread_local! {
    /// The second spelled last, at its first microsecond: most events share their second with the
    /// one before.
    static LAST: Cell<(i64, [u8; SPELLED])> = const { Cell::new((i64::MIN, [0; SPELLED])) };
}

/// Spells microseconds since 1970. Answers nothing for years that need more than four digits.
pub(super) fn spell(micros: i64) -> Option<[u8; SPELLED]> {
    let (second, of_second) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let (last, mut spelled) = LAST.get();
    if second != last {
        spelled = spell_second(second)?;
        LAST.set((second, spelled));
    }
    spelled[20..26].copy_from_slice(&six(of_second.unsigned_abs()));
    Some(spelled)
}

/// Spells the first microsecond of a second.
fn spell_second(second: i64) -> Option<[u8; SPELLED]> {
    let (days, of_day) = (second.div_euclid(86_400), second.rem_euclid(86_400));
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.000000Z");
    if year < 0 { None } else { text.as_bytes().try_into().ok() }
}

/// Reads microseconds since 1970 from the one spelling; answers nothing for any other.
pub(super) fn parse(text: &[u8]) -> Option<i64> {
    let text: &[u8; 27] = text.try_into().ok()?;
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (26, b'Z')];
    if marks.iter().any(|&(at, mark)| text[at] != mark) {
        return None;
    }
    let (year, month, day) = (number(&text[0..4])?, number(&text[5..7])?, number(&text[8..10])?);
    let (hour, minute) = (number(&text[11..13])?, number(&text[14..16])?);
    let (second, micros) = (number(&text[17..19])?, number(&text[20..26])?);
    // Leap seconds are left to the reader of all spellings.
    if hour > 23 || minute > 59 || second > 59 || !(1..=12).contains(&month) {
        return None;
    }
    if !(1..=days_in(year, month)).contains(&day) {
        return None;
    }
    Some(
        days_of(year, month, day) * DAY + ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros,
    )
}

/// The proleptic Gregorian date of a day counted from 1970-01-01.
///
/// Counted in eras of 400 years that begin on a first of March, so that the leap day comes last.
pub(super) fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// How many days a month has.
fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The inverse of [`date_of`].
pub(super) fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let month_from_march = (month + 9) % 12;
    let of_year = (153 * month_from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year - 719_468
}

pub(super) fn number(text: &[u8]) -> Option<i64> {
    text.iter().try_fold(0, |value, byte| {
        byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn times_are_written_and_read_as_the_date_library_does(
            micros in -62_167_219_200_000_000_i64..253_370_764_800_000_000,
        ) {
            let ours = spell(micros).unwrap();
            let theirs = jiff::Timestamp::from_microsecond(micros).unwrap();
            prop_assert_eq!(str::from_utf8(&ours).unwrap(), format!("{theirs:.6}"));
            prop_assert_eq!(parse(&ours), Some(micros));
        }

        #[test]
        fn what_is_read_here_is_what_the_date_library_reads(
            text in "[0-9]{4}-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]\\.[0-9]{6}Z",
        ) {
            if let Some(micros) = parse(text.as_bytes()) {
                // Their calendar ends a day earlier.
                if let Ok(theirs) = text.parse::<jiff::Timestamp>() {
                    prop_assert_eq!(micros, theirs.as_microsecond());
                } else {
                    prop_assert!(text.starts_with("9999-12-3"));
                }
            }
        }
    }
}
