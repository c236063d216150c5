//! Lines as our own writer spells them: known keys in their order, no white space.
//!
//! Almost every line is one of these, and their order can be relied on to read them in a single
//! walk. Any other spelling is answered with nothing and left to the decoder in [`crate::line`]:
//! this file may be deleted and every line still means the same (a property test says so).

use crate::event::Event;
use crate::id::{RunId, StepPath};
use crate::json::Json;
use crate::kind::Kind;
use crate::time::Timestamp;

/// What [`peek`] sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peek<'a> {
    /// The line's number.
    pub seq: u64,
    /// Its type.
    pub kind: &'a str,
}

/// Returns a line's number and type without looking at what follows them.
///
/// Works only on lines that begin as [`encode_line`](crate::encode_line) writes them; answers
/// nothing for all others. What follows may be damaged.
pub fn peek(line: &[u8]) -> Option<Peek<'_>> {
    let mut walk = Walk { rest: line };
    walk.literal(b"{\"seq\":")?;
    let seq = walk.number()?;
    for key in [&b",\"run_id\":\""[..], b",\"parent_run_id\":\"", b",\"child_run_id\":\""] {
        if walk.literal(key).is_some() {
            walk.plain_text()?;
        }
    }
    walk.literal(b",\"type\":\"")?;
    Some(Peek { seq, kind: std::str::from_utf8(walk.plain_text()?).ok()? })
}

/// Decodes a line that has the known keys in their order, up to the payload and no further.
pub(crate) fn decode(line: &[u8]) -> Option<Event> {
    let text = std::str::from_utf8(line).ok()?;
    let mut walk = Walk { rest: line };
    walk.literal(b"{\"seq\":")?;
    let seq = walk.number()?;
    let run_id = walk.id(b",\"run_id\":\"")?.ok()?;
    let parent_run_id = walk.id(b",\"parent_run_id\":\"").transpose().ok()?;
    let child_run_id = walk.id(b",\"child_run_id\":\"").transpose().ok()?;
    let kind = Kind::from(walk.text_after(b",\"type\":\"")?);
    let path = StepPath::from(walk.text_after(b",\"path\":\"")?);
    walk.literal(b",\"iteration\":")?;
    let iteration = walk.number()?;
    let timestamp = Timestamp::parse(walk.text_after(b",\"timestamp\":\"")?).ok()?;
    walk.literal(b",\"payload\":")?;
    let payload = only_value(&text[line.len() - walk.rest.len()..])?;
    Some(Event {
        seq,
        run_id,
        parent_run_id,
        child_run_id,
        kind,
        path,
        iteration,
        timestamp,
        payload,
        source: None,
        origin: None,
        raw: None,
        extra: Vec::new(),
    })
}

/// Takes the JSON value at the beginning of `text`, if only a closing brace follows it.
fn only_value(text: &str) -> Option<Json> {
    let text = text.strip_suffix('\n').unwrap_or(text).strip_suffix('}')?;
    // A value that is followed by another key is no JSON value up to the last brace.
    let value: Json = serde_json::from_str(text).ok()?;
    (value.as_str().len() == text.len()).then_some(value)
}

/// A walk along a line; every step answers nothing if the line does not go that way.
struct Walk<'a> {
    rest: &'a [u8],
}

impl<'a> Walk<'a> {
    fn literal(&mut self, expected: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(expected)?;
        Some(())
    }

    /// A whole number as JSON spells it: no sign, no leading zero.
    fn number(&mut self) -> Option<u64> {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = self.rest.split_at(digits);
        if digits == 0 || (digits > 1 && number[0] == b'0') {
            return None;
        }
        // A fraction or an exponent would make it another number.
        if matches!(rest.first(), Some(b'.' | b'e' | b'E')) {
            return None;
        }
        self.rest = rest;
        number.iter().try_fold(0_u64, |value, digit| {
            value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        })
    }

    /// Text up to its closing quote, if nothing in it is escaped.
    fn plain_text(&mut self) -> Option<&'a [u8]> {
        let end =
            self.rest.iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < 0x20)?;
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest.strip_prefix(b"\"")?;
        Some(text)
    }

    fn text_after(&mut self, key: &[u8]) -> Option<&'a str> {
        self.literal(key)?;
        std::str::from_utf8(self.plain_text()?).ok()
    }

    /// The run id behind `key`: nothing without the key, an error where it is no plain id.
    fn id(&mut self, key: &[u8]) -> Option<Result<RunId, ()>> {
        self.literal(key)?;
        let text = self.plain_text().and_then(|text| std::str::from_utf8(text).ok());
        Some(text.and_then(|text| RunId::parse(text).ok()).ok_or(()))
    }
}
