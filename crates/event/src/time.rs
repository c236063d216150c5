//! The time of an event: RFC 3339, UTC, `Z`, microseconds.
//!
//! This file converts and prints; it never looks at a clock. The recorder does that.

mod civil;
mod rfc3339;

pub(crate) use civil::SPELLED;

use std::fmt::{self, Write as _};

use jiff::fmt::temporal::{DateTimeParser, DateTimePrinter};
use serde::{Deserialize, Serialize};

/// A moment, printed in UTC with microseconds.
///
/// Other writers' offsets are accepted and converted. A moment that carries finer digits than
/// microseconds keeps nanoseconds, so that what is read is not rounded on a re-encode. One that UTC has
/// no year for, because its offset took it over an edge of the calendar, is printed with an offset.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp {
    /// Microseconds since 1970, rounded down.
    micros: i64,
    /// Nanoseconds beyond them, less than 1000.
    nanos: u16,
}

/// A text that is no RFC 3339 time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a time: expected RFC 3339, such as 2026-06-08T10:14:42.123456Z")]
pub struct TimestampError {
    /// The text, cut to its first 80 characters.
    pub text: String,
}

// RFC 3339 is read here. The date library is for what others write beside it: a time without
// separators, a named zone behind the offset, and years before 0, which its own spelling has a sign for.
static PARSER: DateTimeParser = DateTimeParser::new();
static MICROS: DateTimePrinter = DateTimePrinter::new().precision(Some(6));
static NANOS: DateTimePrinter = DateTimePrinter::new().precision(Some(9));

impl Timestamp {
    /// Makes a timestamp from microseconds since 1970, clamped to the years -9999 to 9999.
    pub fn from_micros(micros: i64) -> Self {
        let first = jiff::Timestamp::MIN.as_microsecond();
        Timestamp { micros: micros.clamp(first, rfc3339::LAST), nanos: 0 }
    }

    /// Returns microseconds since 1970.
    pub fn as_micros(self) -> i64 {
        self.micros
    }

    /// Returns the whole milliseconds from `earlier` to this moment, 0 when it is not earlier.
    pub fn millis_since(self, earlier: Timestamp) -> u64 {
        u64::try_from((self.as_micros() - earlier.as_micros()) / 1000).unwrap_or(0)
    }

    /// Reads an RFC 3339 time with any offset.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        let bytes = text.as_bytes();
        if let Some(micros) = civil::parse(bytes) {
            return Ok(Timestamp { micros, nanos: 0 });
        }
        if let Some((micros, nanos)) = rfc3339::parse(bytes) {
            return Ok(Timestamp { micros, nanos });
        }
        PARSER
            .parse_timestamp(text)
            .map(Timestamp::from)
            .map_err(|_| TimestampError { text: text.chars().take(80).collect() })
    }

    /// Returns the timestamp as it stands in a line, if it is one of whole microseconds in a year
    /// of four digits.
    pub(crate) fn spelled(self) -> Option<[u8; SPELLED]> {
        if self.nanos == 0 { civil::spell(self.micros) } else { None }
    }

    /// Appends the timestamp to `out` as it stands in a line.
    pub fn write_to(self, out: &mut String) {
        let Timestamp { micros, nanos } = self;
        let spelled = civil::spell(micros);
        if let Some(text) = spelled.as_ref().and_then(|text| str::from_utf8(text).ok()) {
            out.push_str(text);
            if nanos > 0 {
                out.truncate(out.len() - 1);
                // Writing to a `String` has no way to fail.
                let _ = write!(out, "{nanos:03}Z");
            }
            return;
        }
        if let Some(text) = rfc3339::spell_beyond_utc(micros, nanos) {
            out.push_str(&text);
            return;
        }
        let nanoseconds = i128::from(micros) * 1000 + i128::from(nanos);
        let moment = jiff::Timestamp::from_nanosecond(nanoseconds)
            .expect("a year before 0 came from the date library, or was clamped to what it holds");
        let printer = if nanos == 0 { &MICROS } else { &NANOS };
        // Writing to a `String` has no way to fail.
        let _ = printer.print_timestamp(&moment, out);
    }
}

impl From<jiff::Timestamp> for Timestamp {
    fn from(moment: jiff::Timestamp) -> Self {
        // A microsecond is rounded down, also before 1970.
        let micros = moment.as_nanosecond().div_euclid(1000);
        let nanos = moment.as_nanosecond().rem_euclid(1000);
        Timestamp {
            micros: i64::try_from(micros).expect("microseconds of 20,000 years fit"),
            nanos: u16::try_from(nanos).expect("a remainder of 1000 is below it"),
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(27);
        self.write_to(&mut text);
        f.pad(&text)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Timestamp::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}
