//! One foreign record, and how its parts are looked at without believing them.

use quipu_event::{Json, Timestamp};
use serde_json::Value;

/// One line of a foreign file, or a whole document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    /// The file, as it is called within the run.
    pub(super) file: &'a str,
    /// The line, from 1; nothing for a whole document.
    pub(super) line: Option<u64>,
    /// Where it begins.
    pub(super) offset: u64,
    /// Its bytes, without the line feed.
    pub(super) bytes: &'a [u8],
}

impl<'a> Record<'a> {
    /// Takes a whole file as one record.
    pub(super) fn document(file: &'a str, bytes: &'a [u8]) -> Self {
        Record { file, line: None, offset: 0, bytes }
    }

    /// Returns what it says, if it is a JSON object.
    pub(super) fn object(&self) -> Option<Value> {
        serde_json::from_slice(self.bytes).ok().filter(Value::is_object)
    }
}

/// Divides a file into its lines, at byte 0x0A and nowhere else. Empty lines say nothing.
pub(super) fn lines<'a>(file: &'a str, bytes: &'a [u8]) -> impl Iterator<Item = Record<'a>> {
    let mut offset = 0;
    let pieces = bytes.split_inclusive(|&byte| byte == b'\n').enumerate();
    pieces.filter_map(move |(at, piece)| {
        let begin = offset;
        offset += piece.len() as u64;
        let bytes = piece.strip_suffix(b"\n").unwrap_or(piece);
        let line = Some(at as u64 + 1);
        (!bytes.is_empty()).then_some(Record { file, line, offset: begin, bytes })
    })
}

/// Reads a time as other writers leave it: with two zones, or with none.
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let read = |text: &str| Timestamp::parse(text).ok();
    read(text)
        .or_else(|| read(text.strip_suffix('Z')?))
        .or_else(|| read(&format!("{text}Z")))
        .or_else(|| read(&format!("{}Z", text.replacen(' ', "T", 1))))
}

/// Returns the time under `key`.
pub(super) fn time(value: &Value, key: &str) -> Option<Timestamp> {
    value.get(key)?.as_str().and_then(moment)
}

/// Returns the text under the first of `keys` that has one that is not empty.
pub(super) fn text<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| value.get(key)?.as_str().filter(|text| !text.is_empty()))
}

/// Returns the same as a text of its own.
pub(super) fn owned(value: &Value, keys: &[&str]) -> Option<String> {
    text(value, keys).map(str::to_owned)
}

/// Returns the whole number under the first of `keys` that has one.
pub(super) fn number(value: &Value, keys: &[&str]) -> Option<u64> {
    keys.iter().find_map(|key| {
        let found = value.get(key)?;
        found.as_u64().or_else(|| found.as_f64().filter(|n| *n >= 0.0).map(|n| n as u64))
    })
}

/// Returns the value under the first of `keys` that is not null.
pub(super) fn value<'a>(whole: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().find_map(|key| whole.get(key).filter(|found| !found.is_null()))
}

/// Returns a part as JSON; one that nests too deep becomes its own text.
pub(super) fn json(part: Option<&Value>) -> Json {
    let Some(part) = part else { return Json::null() };
    Json::encode(part).or_else(|_| Json::encode(&part.to_string())).unwrap_or_else(|_| Json::null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_their_places() {
        let found: Vec<_> = lines("f", b"a\n\nbc\xe2\x80\xa8\nd")
            .map(|record| (record.line.unwrap(), record.offset, record.bytes.len()))
            .collect();
        assert_eq!(found, [(1, 0, 1), (3, 3, 5), (4, 9, 1)]);
    }

    #[test]
    fn times_of_other_writers_are_read() {
        let expected = Timestamp::parse("2025-12-09T09:38:51.058956Z").unwrap();
        for text in [
            "2025-12-09T09:38:51.058956+00:00Z",
            "2025-12-09T09:38:51.058956+00:00",
            "2025-12-09T09:38:51.058956",
            "2025-12-09 10:38:51.058956+01:00",
        ] {
            assert_eq!(moment(text), Some(expected), "{text}");
        }
        for text in ["", "Z", "yesterday", "2025-13-09T09:38:51Z"] {
            assert_eq!(moment(text), None, "{text}");
        }
    }
}
