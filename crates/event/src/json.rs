//! A JSON value kept as its own text.
//!
//! Payloads, tool inputs and unknown fields are passed on, not interpreted: as text they cost one
//! copy, and numbers, key order and duplicate keys survive to the byte. Look inside with
//! [`Json::decode`].

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::DeserializeOwned;
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::decode::decode_valid;
use crate::encode::{EncodeError, MAX_DEPTH, write_value};
use crate::escape::find_special;
use crate::surrogates::mend_surrogates;

/// The name under which `serde_json` lets text through unchanged; a test holds us to it.
pub(crate) const RAW_TOKEN: &str = "$serde_json::private::RawValue";

/// A JSON value as text, without a line feed in it.
///
/// Two values are equal when their texts are.
#[derive(Clone)]
pub struct Json {
    text: String,
    nesting: Nesting,
}

/// What is known of how deep a value nests.
#[derive(Clone, Copy, PartialEq)]
enum Nesting {
    /// No deeper than [`MAX_DEPTH`].
    Bounded,
    /// It was read as a part of something else. Reading keeps whatever is there; whoever wants to
    /// write it again has to look.
    Unchecked,
}

/// A text that cannot become a [`Json`].
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// The text is not JSON.
    #[error("not JSON")]
    Syntax(#[source] serde_json::Error),
    /// The value nests deeper than [`MAX_DEPTH`].
    #[error("value nests deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

impl Json {
    /// Returns `null`.
    pub fn null() -> Self {
        Json::trusted("null".into())
    }

    /// Takes text that this crate has made itself or has walked along: one value, without a line
    /// feed, that nests no deeper than [`MAX_DEPTH`].
    pub(crate) fn trusted(text: String) -> Self {
        Json { text, nesting: Nesting::Bounded }
    }

    /// Takes `text`, made from this value's own without nesting it any deeper.
    pub(crate) fn with_text(&self, text: String) -> Self {
        Json { text, nesting: self.nesting }
    }

    /// Encodes any serialisable value.
    ///
    /// Fails when the value nests deeper than [`MAX_DEPTH`] or has a key that is not text.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, EncodeError> {
        let mut text = String::with_capacity(512);
        write_value(&mut text, value)?;
        Ok(Json::trusted(text))
    }

    /// Takes JSON text from a producer: checks it and strips the white space around its parts.
    ///
    /// Half of a surrogate pair, which JSON can spell but text cannot hold, becomes U+FFFD; the
    /// caller can compare lengths no more than it can rely on white space. Keep the original
    /// beside it where it matters.
    ///
    /// Fails when the text is not JSON or nests deeper than [`MAX_DEPTH`].
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        let raw: &RawValue = serde_json::from_str(text).map_err(JsonError::Syntax)?;
        if nests_deeper_than(raw.get(), MAX_DEPTH) {
            return Err(JsonError::TooDeep);
        }
        Ok(Json::trusted(compact(raw.get())))
    }

    /// Takes over text that the caller knows to be one JSON value.
    ///
    /// Its nesting is looked at when it is written.
    pub fn from_valid(text: &str) -> Self {
        let text = if has_line_feed(text) { compact(text) } else { with_room(text) };
        Json { text, nesting: Nesting::Unchecked }
    }

    /// Makes a larger value of this one, in its own memory: `before` and `after` are put around it.
    ///
    /// All three together are JSON, and this value stands `depth` levels deep in it.
    pub(crate) fn within(
        self,
        before: &str,
        after: &str,
        depth: usize,
    ) -> Result<Self, EncodeError> {
        if nests_deeper_than(&self.text, MAX_DEPTH - depth) {
            return Err(EncodeError::TooDeep);
        }
        let mut text = self.text;
        text.reserve_exact(before.len() + after.len());
        text.insert_str(0, before);
        text.push_str(after);
        Ok(Json::trusted(text))
    }

    /// Tells whether it takes so much memory that it had better not be copied.
    pub(crate) fn is_large(&self) -> bool {
        self.text.len() > LARGE
    }

    /// Serialises text that the caller knows to be one JSON value, without taking it over first.
    pub fn serialize_valid<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct(RAW_TOKEN, 1)?;
        raw.serialize_field(RAW_TOKEN, text)?;
        raw.end()
    }

    /// Tells whether it nests deeper than `limit`.
    pub fn nests_deeper_than(&self, limit: usize) -> bool {
        nests_deeper_than(&self.text, limit)
    }

    /// Tells whether `text`, which the caller knows to be one JSON value, nests deeper than `limit`.
    pub fn text_nests_deeper_than(text: &str, limit: usize) -> bool {
        nests_deeper_than(text, limit)
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Tells whether this is `null`.
    pub fn is_null(&self) -> bool {
        self.text == "null"
    }

    /// Tells whether this is an object.
    pub fn is_object(&self) -> bool {
        self.text.starts_with('{')
    }

    /// Tells whether the value nests deeper than [`MAX_DEPTH`], so that it must not be written.
    ///
    /// Only a value that was read as a part of something else can; for all others the answer
    /// costs nothing.
    pub fn nests_too_deep(&self) -> bool {
        self.nesting == Nesting::Unchecked && nests_deeper_than(&self.text, MAX_DEPTH)
    }

    /// Decodes the value as `T`.
    ///
    /// Text with half a surrogate pair in it is decoded as if U+FFFD stood there.
    pub fn decode<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        if let Some(value) = decode_valid(&self.text) {
            return Ok(value);
        }
        serde_json::from_str(&self.text).or_else(|error| {
            if self.text.contains("\\u") {
                serde_json::from_str(&compact(&self.text)).map_err(|_| error)
            } else {
                Err(error)
            }
        })
    }
}

impl Default for Json {
    fn default() -> Self {
        Json::null()
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Json {}

impl Hash for Json {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Json::serialize_valid(&self.text, serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text: Box<str> = Box::<RawValue>::deserialize(deserializer)?.into();
        let text = if has_line_feed(&text) { compact(&text) } else { text.into_string() };
        Ok(Json { text, nesting: Nesting::Unchecked })
    }
}

impl schemars::JsonSchema for Json {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Json".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}

/// Texts that are longer than this are large.
pub(crate) const LARGE: usize = 64 * 1024;

/// Takes over `text`, a large one with room for what may be put around it.
fn with_room(text: &str) -> String {
    const ROOM: usize = 4 * 1024;
    let mut own = String::with_capacity(text.len() + if text.len() > LARGE { ROOM } else { 0 });
    own.push_str(text);
    own
}

/// Tells whether valid JSON `text` nests deeper than `limit`.
pub(crate) fn nests_deeper_than(text: &str, limit: usize) -> bool {
    if text.len() / 2 <= limit || text.starts_with('"') || openings(text.as_bytes()) <= limit {
        return false;
    }
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    for piece in Pieces::of(text) {
        match piece {
            Piece::Mark(b'[' | b'{') => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            Piece::Mark(b']' | b'}') => depth = depth.saturating_sub(1),
            Piece::Mark(_) | Piece::String(_) => {}
        }
    }
    deepest > limit
}

/// Counts opening brackets, those inside strings too: most values have few in all.
fn openings(bytes: &[u8]) -> usize {
    // The two differ in one bit; sums of so few fit a byte, which lets the machine add many at once.
    let count = |piece: &[u8]| piece.iter().map(|byte| u8::from(byte | 0x20 == b'{')).sum::<u8>();
    bytes.chunks(255).map(|piece| usize::from(count(piece))).sum()
}

/// Tells whether valid JSON `text` holds a line feed, which can only be white space in it.
pub(crate) fn has_line_feed(text: &str) -> bool {
    !text.starts_with('"') && text.as_bytes().contains(&b'\n')
}

/// Rewrites valid JSON `text` without white space and without halves of surrogate pairs.
pub(crate) fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in Pieces::of(text) {
        match piece {
            Piece::Mark(b' ' | b'\t' | b'\n' | b'\r') => {}
            Piece::Mark(byte) => out.push(byte as char),
            Piece::String(literal) => out.push_str(&mend_surrogates(literal)),
        }
    }
    out
}

/// The pieces of valid JSON text: string literals with their quotes, and single bytes between.
pub(crate) struct Pieces<'a> {
    text: &'a str,
    at: usize,
}

/// See [`Pieces`].
pub(crate) enum Piece<'a> {
    /// A byte outside any string.
    Mark(u8),
    /// A string literal as it stands, quotes included.
    String(&'a str),
}

impl<'a> Pieces<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Pieces { text, at: 0 }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let bytes = self.text.as_bytes();
        let first = *bytes.get(self.at)?;
        let start = self.at;
        self.at += 1;
        if first != b'"' {
            return Some(Piece::Mark(first));
        }
        while let Some(special) = find_special(bytes, self.at.min(bytes.len())) {
            self.at = special + if bytes[special] == b'\\' { 2 } else { 1 };
            if bytes[special] == b'"' {
                return Some(Piece::String(&self.text[start..self.at]));
            }
        }
        self.at = bytes.len();
        Some(Piece::String(&self.text[start..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_raw_token_is_the_one_serde_json_uses() {
        let json = Json::parse("[1, 2.50]").unwrap();
        assert_eq!(serde_json::to_string(&json).unwrap(), "[1,2.50]");
        assert_eq!(Json::encode(&json).unwrap().as_str(), "[1,2.50]");
    }

    #[test]
    fn what_is_printed_in_pieces_is_one_string() {
        struct Pieces;
        impl fmt::Display for Pieces {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                ["a\"", "\n", "é\\", ""].iter().try_for_each(|piece| f.write_str(piece))
            }
        }
        impl Serialize for Pieces {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        let expected = Json::encode(&["a\"\né\\"]).unwrap();
        assert_eq!(Json::encode(&[Pieces]).unwrap(), expected);
    }

    #[test]
    fn parsing_strips_white_space_outside_strings_only() {
        let json = Json::parse(" { \"a b\" :\n[ 1 ,\t\"c \\\" d\" ] }\r\n").unwrap();
        assert_eq!(json.as_str(), r#"{"a b":[1,"c \" d"]}"#);
    }

    #[test]
    fn half_a_surrogate_pair_becomes_the_replacement_character() {
        let cases = [
            (r#""\ud800""#, r#""\ufffd""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d\ud83d\ude00x""#, r#""\ufffd\ud83d\ude00x""#),
            (r#""\\ud800""#, r#""\\ud800""#),
            (r#""\ude00\u0041""#, r#""\ufffd\u0041""#),
        ];
        for (text, expected) in cases {
            let json = Json::parse(text).unwrap();
            assert_eq!(json.as_str(), expected);
            json.decode::<String>().unwrap();
        }
        let foreign: Json = serde_json::from_str(r#""a\udc00b""#).unwrap();
        assert_eq!(foreign.decode::<String>().unwrap(), "a\u{fffd}b");
    }

    #[test]
    fn nesting_is_bounded_where_values_meet() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(Json::parse(&nested(MAX_DEPTH)).is_ok());
        assert!(matches!(Json::parse(&nested(MAX_DEPTH + 1)), Err(JsonError::TooDeep)));
        let inner = Json::parse(&nested(MAX_DEPTH)).unwrap();
        assert_eq!(Json::encode(&[&inner]), Err(EncodeError::TooDeep));
        let harmless = format!("\"{}\"", "[".repeat(4 * MAX_DEPTH));
        assert!(Json::parse(&harmless).is_ok());
    }

    #[test]
    fn a_value_that_was_read_in_passing_knows_whether_it_may_be_written() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        let read = |text: &str| serde_json::from_str::<Json>(text).unwrap();
        assert!(!read(&nested(MAX_DEPTH)).nests_too_deep());
        assert!(read(&nested(MAX_DEPTH + 1)).nests_too_deep());
        let masked = read(&nested(MAX_DEPTH + 1).replace("[]", "[\"a\"]"));
        let masked = masked.rewrite_strings(|_, _| Some("b".to_owned())).unwrap();
        assert!(masked.nests_too_deep());
    }

    #[test]
    fn no_way_in_lets_a_line_feed_through() {
        let pretty = "{\n  \"a\": [1,\r\n 2]\n}";
        assert_eq!(Json::parse(pretty).unwrap().as_str(), r#"{"a":[1,2]}"#);
        assert_eq!(serde_json::from_str::<Json>(pretty).unwrap().as_str(), r#"{"a":[1,2]}"#);
        let foreign: Box<RawValue> = serde_json::from_str(pretty).unwrap();
        assert_eq!(Json::encode(&[foreign]).unwrap().as_str(), r#"[{"a":[1,2]}]"#);
    }

    fn any_value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            "(\\PC|[\\x00-\\x30]){0,12}".prop_map(Into::into),
        ];
        leaf.prop_recursive(5, 40, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                proptest::collection::vec(("\\PC{0,6}", inner), 0..6)
                    .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn encoding_prints_what_serde_json_prints(value in any_value()) {
            let expected = serde_json::to_string(&value).unwrap();
            let json = Json::encode(&value).unwrap();
            prop_assert_eq!(json.as_str(), &expected);
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            let parsed = Json::parse(&pretty).unwrap();
            prop_assert_eq!(parsed.as_str(), &expected);
        }
    }
}
