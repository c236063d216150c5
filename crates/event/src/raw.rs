//! The exact bytes of a foreign record, beside the event made from it.

use std::io;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::escape::{write_string, write_string_body};
use crate::json::Json;

/// The exact bytes of a foreign record.
///
/// What a producer hands in is kept as it is and becomes a JSON string when its line is written;
/// what was read stays the JSON string that stands in the line and is decoded when asked for. Most
/// readers never look, and the bytes are often the larger half of a line.
#[derive(Clone, Debug)]
pub enum Raw {
    /// The record itself; whoever read it may share it.
    Bytes(Arc<Vec<u8>>),
    /// The record was UTF-8; stands under `raw`.
    Text(Json),
    /// The record was not; stands under `raw_b64`, in base 64.
    Base64(Json),
}

/// So much of a record is escaped at a time where it is written piece by piece.
const PIECE: usize = 64 * 1024;
/// Records that are longer than this grow only by as much as is needed, and a little.
const LARGE: usize = 1024 * 1024;

impl Raw {
    /// Keeps `record`.
    pub fn of(record: &[u8]) -> Self {
        Raw::Bytes(Arc::new(record.to_vec()))
    }

    /// Keeps `record` behind what is kept already, with a line feed between them.
    ///
    /// This is for an event that was made from several records.
    pub fn extend(&mut self, record: &[u8]) {
        let mut bytes = match std::mem::replace(self, Raw::Bytes(Arc::default())) {
            Raw::Bytes(bytes) => Arc::unwrap_or_clone(bytes),
            literal => literal.bytes().unwrap_or_default(),
        };
        let room = record.len() + 1;
        if bytes.len() > LARGE && bytes.capacity() - bytes.len() < room {
            // To double a large record for the sake of a small one would waste most of it.
            bytes.reserve_exact(room + bytes.len() / 8);
        }
        bytes.reserve(room);
        bytes.push(b'\n');
        bytes.extend_from_slice(record);
        *self = Raw::Bytes(Arc::new(bytes));
    }

    /// Returns the record, or nothing if a foreign writer left something else under the key.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Raw::Bytes(bytes) => Some(bytes.to_vec()),
            Raw::Text(literal) => literal.decode().ok().map(String::into_bytes),
            Raw::Base64(literal) => STANDARD.decode(literal.decode::<String>().ok()?).ok(),
        }
    }

    /// Returns about how many bytes it takes in a line. Growing step by step would take twice that.
    pub(crate) fn room(&self) -> usize {
        match self {
            Raw::Bytes(bytes) => bytes.len() + bytes.len() / 4,
            Raw::Text(literal) | Raw::Base64(literal) => literal.as_str().len() + 16,
        }
    }

    /// Tells whether it stands under `raw` and not under `raw_b64`.
    pub fn is_text(&self) -> bool {
        match self {
            Raw::Bytes(bytes) => simdutf8::basic::from_utf8(bytes).is_ok(),
            Raw::Text(_) => true,
            Raw::Base64(_) => false,
        }
    }

    /// Tells whether a foreign writer left something under the key that nests too deep for a line.
    pub fn nests_too_deep(&self) -> bool {
        match self {
            Raw::Bytes(_) => false,
            Raw::Text(literal) | Raw::Base64(literal) => literal.nests_too_deep(),
        }
    }

    /// Appends the key and the JSON string under which it stands in a line, behind a comma.
    pub(crate) fn write_field(&self, out: &mut String) {
        match self.standing() {
            Standing::Text(text) => {
                out.push_str(TEXT_KEY);
                write_string(out, text);
            }
            Standing::Binary(bytes) => {
                out.push_str(BASE64_KEY);
                write_string(out, &STANDARD.encode(bytes));
            }
            Standing::Literal(key, literal) => {
                out.push_str(key);
                out.push_str(literal.as_str());
            }
        }
    }

    /// Writes the same to `out`, piece by piece.
    pub(crate) fn write_field_to(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let Standing::Text(text) = self.standing() else {
            let mut field = String::new();
            self.write_field(&mut field);
            return out.write_all(field.as_bytes());
        };
        let mut piece = String::with_capacity(text.len().min(PIECE) * 5 / 4 + 16);
        piece.push_str(TEXT_KEY);
        piece.push('"');
        for part in pieces(text) {
            write_string_body(&mut piece, part);
            out.write_all(piece.as_bytes())?;
            piece.clear();
        }
        piece.push('"');
        out.write_all(piece.as_bytes())
    }

    fn standing(&self) -> Standing<'_> {
        match self {
            Raw::Bytes(bytes) => match simdutf8::basic::from_utf8(bytes) {
                Ok(text) => Standing::Text(text),
                Err(_) => Standing::Binary(bytes),
            },
            Raw::Text(literal) => Standing::Literal(TEXT_KEY, literal),
            Raw::Base64(literal) => Standing::Literal(BASE64_KEY, literal),
        }
    }
}

const TEXT_KEY: &str = ",\"raw\":";
const BASE64_KEY: &str = ",\"raw_b64\":";

/// How a record is going to stand in a line.
enum Standing<'a> {
    Text(&'a str),
    Binary(&'a [u8]),
    Literal(&'static str, &'a Json),
}

/// Divides a text where characters end.
fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (piece, rest) = text.split_at(text.floor_char_boundary(PIECE));
        text = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

impl PartialEq for Raw {
    /// Compares what is kept, not how.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Raw::Text(one), Raw::Text(other)) | (Raw::Base64(one), Raw::Base64(other)) => {
                one == other
            }
            _ => self.is_text() == other.is_text() && self.bytes() == other.bytes(),
        }
    }
}

impl Eq for Raw {}

/// Which bytes of which foreign file an event was made from.
///
/// It makes collecting exactly-once: what a journal holds says where to go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("additionalProperties" = true))]
pub struct Origin {
    /// The foreign file.
    pub file: String,
    /// Where the record begins in it.
    pub offset: u64,
    /// How long the record is.
    pub len: u64,
    /// How far the file had been read when the event was made, if more of it could have made the
    /// event another one. Whoever reads the file again stops there too, and makes the same events.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default)]
    pub until: Option<u64>,
    /// When we recorded it, as opposed to when it happened. Filled in by the recorder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<crate::time::Timestamp>,
}

impl Origin {
    /// Names `len` bytes of `file`.
    pub fn new(file: impl Into<String>, offset: u64, len: u64) -> Self {
        Origin { file: file.into(), offset, len, until: None, recorded_at: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_records_are_kept_with_a_line_feed_between_them() {
        let cases: [(&[u8], &[u8]); 4] = [
            (b"{\"a\":1}", b"{\"b\":\"\\n\"}"),
            (b"", b"x"),
            (&[0xff], b"x"),
            (b"x", &[0xff, b'\n']),
        ];
        for (first, second) in cases {
            let mut raw = Raw::of(first);
            raw.extend(second);
            assert_eq!(raw.bytes().unwrap(), [first, b"\n", second].concat());
            assert_eq!(raw, Raw::of(&raw.bytes().unwrap()));
        }
    }

    #[test]
    fn it_is_written_alike_in_one_go_and_piece_by_piece() {
        let long = "é\"\n".repeat(PIECE);
        for record in [b"".as_slice(), b"{\"a\":1}", &[0xff, 0], long.as_bytes()] {
            let raw = Raw::of(record);
            let (mut whole, mut pieces) = (String::new(), Vec::new());
            raw.write_field(&mut whole);
            raw.write_field_to(&mut pieces).unwrap();
            assert_eq!(whole.as_bytes(), pieces);
        }
    }

    #[test]
    fn what_was_read_back_equals_what_was_handed_in() {
        let text = Raw::Text(Json::parse("\"a\\u000ab\"").unwrap());
        assert_eq!(text, Raw::of(b"a\nb"));
        assert_ne!(text, Raw::of(b"a\n"));
        let base64 = Raw::Base64(Json::parse("\"/wA=\"").unwrap());
        assert_eq!(base64, Raw::of(&[0xff, 0]));
        assert_ne!(base64, Raw::of(b"/wA="));
    }
}
