//! The time of an event: RFC 3339, UTC, `Z`, microseconds.
//!
//! This file converts and prints; it never looks at a clock. The recorder does that.

mod civil;

pub(crate) use civil::SPELLED;

use std::fmt;

use jiff::fmt::temporal::{DateTimeParser, DateTimePrinter};
use serde::{Deserialize, Serialize};

/// A moment, printed in UTC with microseconds.
///
/// Other writers' offsets are accepted and converted. A moment that carries finer digits than
/// microseconds keeps them, so that nothing read is rounded on a re-encode.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(jiff::Timestamp);

/// A text that is no RFC 3339 time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a time: expected RFC 3339, such as 2026-06-08T10:14:42.123456Z")]
pub struct TimestampError {
    /// The text, cut to its first 80 characters.
    pub text: String,
}

static PARSER: DateTimeParser = DateTimeParser::new();
static MICROS: DateTimePrinter = DateTimePrinter::new().precision(Some(6));
static NANOS: DateTimePrinter = DateTimePrinter::new().precision(Some(9));

impl Timestamp {
    /// Makes a timestamp from microseconds since 1970, clamped to the years -9999 to 9999.
    pub fn from_micros(micros: i64) -> Self {
        let edge = if micros < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
        Timestamp(jiff::Timestamp::from_microsecond(micros).unwrap_or(edge))
    }

    /// Returns microseconds since 1970.
    pub fn as_micros(self) -> i64 {
        self.0.as_microsecond()
    }

    /// Returns the whole milliseconds from `earlier` to this moment, 0 when it is not earlier.
    pub fn millis_since(self, earlier: Timestamp) -> u64 {
        u64::try_from((self.as_micros() - earlier.as_micros()) / 1000).unwrap_or(0)
    }

    /// Reads an RFC 3339 time with any offset.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        if let Some(micros) = civil::parse(text.as_bytes()) {
            return Ok(Timestamp::from_micros(micros));
        }
        PARSER
            .parse_timestamp(text)
            .map(Timestamp)
            .map_err(|_| TimestampError { text: text.chars().take(80).collect() })
    }

    /// Returns the timestamp as it stands in a line, if it is one of whole microseconds in a year
    /// of four digits.
    pub(crate) fn spelled(self) -> Option<[u8; SPELLED]> {
        if self.0.subsec_nanosecond() % 1000 == 0 { civil::spell(self.as_micros()) } else { None }
    }

    /// Appends the timestamp to `out` as it stands in a line.
    pub fn write_to(self, out: &mut String) {
        let spelled = self.spelled();
        if let Some(text) = spelled.as_ref().and_then(|text| str::from_utf8(text).ok()) {
            return out.push_str(text);
        }
        let printer = if self.0.as_nanosecond() % 1000 == 0 { &MICROS } else { &NANOS };
        // Writing to a `String` has no way to fail.
        let _ = printer.print_timestamp(&self.0, out);
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
