//! The exact bytes of a foreign record, beside the event made from it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::escape::{write_string, write_string_body};
use crate::json::Json;

/// The exact bytes of a foreign record.
///
/// Kept as the JSON string that stands in the line and decoded only when asked for: most readers
/// never look, and the bytes are often the larger half of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Raw {
    /// The record was UTF-8; stands under `raw`.
    Text(Json),
    /// The record was not; stands under `raw_b64`, in base 64.
    Base64(Json),
}

impl Raw {
    /// Keeps `record`.
    pub fn of(record: &[u8]) -> Self {
        let mut literal = String::new();
        match simdutf8::basic::from_utf8(record) {
            Ok(text) => {
                write_string(&mut literal, text);
                Raw::Text(Json::trusted(literal))
            }
            Err(_) => {
                write_string(&mut literal, &STANDARD.encode(record));
                Raw::Base64(Json::trusted(literal))
            }
        }
    }

    /// Keeps `record` behind what is kept already, with a line feed between them.
    ///
    /// This is for an event that was made from several records.
    pub fn extend(&mut self, record: &[u8]) {
        if let (Raw::Text(literal), Ok(text)) = (&mut *self, simdutf8::basic::from_utf8(record)) {
            let mut joined = std::mem::take(literal).into_text();
            joined.pop();
            joined.push_str("\\n");
            write_string_body(&mut joined, text);
            joined.push('"');
            *literal = Json::trusted(joined);
            return;
        }
        let mut bytes = self.bytes().unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend_from_slice(record);
        *self = Raw::of(&bytes);
    }

    /// Returns the record, or nothing if a foreign writer left something else under the key.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Raw::Text(literal) => literal.decode().ok().map(String::into_bytes),
            Raw::Base64(literal) => STANDARD.decode(literal.decode::<String>().ok()?).ok(),
        }
    }

    /// Returns the key and the JSON string under which it stands in a line.
    pub fn field(&self) -> (&'static str, &Json) {
        match self {
            Raw::Text(literal) => ("raw", literal),
            Raw::Base64(literal) => ("raw_b64", literal),
        }
    }
}

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
    /// When we recorded it, as opposed to when it happened. Filled in by the recorder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<crate::time::Timestamp>,
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
}
