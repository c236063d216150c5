//! Lines as our own writer spells them: known keys in their order, no white space.
//!
//! Almost every line is one of these, and their order can be relied on to read them in a single
//! walk. Any other spelling is answered with nothing and left to the decoder in [`crate::line`]:
//! this file may be deleted and every line still means the same (a property test says so).

use crate::cursor::{Cursor, has_control_byte};
use crate::encode::MAX_DEPTH;
use crate::event::Event;
use crate::id::{RunId, StepPath};
use crate::json::Json;
use crate::kind::Kind;
use crate::raw::{Origin, Raw};
use crate::time::Timestamp;

const SEQ: &[u8] = b"{\"seq\":";
const RUN_ID: &[u8] = b",\"run_id\":\"";
const PARENT_RUN_ID: &[u8] = b",\"parent_run_id\":\"";
const CHILD_RUN_ID: &[u8] = b",\"child_run_id\":\"";
const TYPE: &[u8] = b",\"type\":\"";

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
    let mut cursor = Cursor::new(line);
    cursor.literal(SEQ)?;
    let seq = cursor.whole_number()?;
    for key in [RUN_ID, PARENT_RUN_ID, CHILD_RUN_ID] {
        if cursor.literal(key).is_some() {
            plain_bytes(line, &mut cursor)?;
        }
    }
    cursor.literal(TYPE)?;
    let kind = plain_bytes(line, &mut cursor)?;
    let is_clean = !has_control_byte(&line[..cursor.at()]);
    Some(Peek { seq, kind: std::str::from_utf8(kind).ok().filter(|_| is_clean)? })
}

/// Passes the rest of a string in which nothing is escaped.
fn plain_bytes<'a>(line: &'a [u8], cursor: &mut Cursor<'_>) -> Option<&'a [u8]> {
    let literal = cursor.string_inside()?;
    if literal.is_escaped { None } else { line.get(literal.inside) }
}

/// Decodes a line that has the known keys in their order, and no other.
pub(crate) fn decode(line: &[u8]) -> Option<Event> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    if has_control_byte(line) {
        return None;
    }
    let text = simdutf8::basic::from_utf8(line).ok()?;
    let mut walk = Walk { text, cursor: Cursor::new(line) };
    walk.cursor.literal(SEQ)?;
    let event = Event {
        seq: walk.cursor.whole_number()?,
        run_id: RunId::parse(walk.text_after(RUN_ID)?).ok()?,
        parent_run_id: walk
            .if_there(PARENT_RUN_ID, |walk| RunId::parse(walk.plain_text()?).ok())?,
        child_run_id: walk.if_there(CHILD_RUN_ID, |walk| RunId::parse(walk.plain_text()?).ok())?,
        kind: Kind::from(walk.text_after(TYPE)?),
        path: StepPath::from(walk.text_after(b",\"path\":\"")?),
        iteration: walk.number_after(b",\"iteration\":")?,
        timestamp: Timestamp::parse(walk.text_after(b",\"timestamp\":\"")?).ok()?,
        payload: walk.value_after(b",\"payload\":")?,
        source: walk.if_there(b",\"source\":\"", |walk| walk.plain_text().map(Box::from))?,
        origin: walk.if_there(b",\"origin\":", Walk::origin)?,
        raw: walk.raw()?,
        extra: Vec::new(),
    };
    walk.cursor.literal(b"}")?;
    walk.cursor.peek().is_none().then_some(event)
}

/// A walk along a line; every step answers nothing if the line does not go that way.
struct Walk<'a> {
    text: &'a str,
    cursor: Cursor<'a>,
}

impl<'a> Walk<'a> {
    /// Takes what follows `key`, if that is the next key.
    fn if_there<T>(
        &mut self,
        key: &[u8],
        take: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<Option<T>> {
        if self.cursor.literal(key).is_some() { take(self).map(Some) } else { Some(None) }
    }

    /// Text up to its closing quote, if nothing in it is escaped.
    fn plain_text(&mut self) -> Option<&'a str> {
        let literal = self.cursor.string_inside()?;
        if literal.is_escaped { None } else { self.text.get(literal.inside) }
    }

    fn text_after(&mut self, key: &[u8]) -> Option<&'a str> {
        self.cursor.literal(key)?;
        self.plain_text()
    }

    fn number_after(&mut self, key: &[u8]) -> Option<u64> {
        self.cursor.literal(key)?;
        self.cursor.whole_number()
    }

    fn value_after(&mut self, key: &[u8]) -> Option<Json> {
        self.cursor.literal(key)?;
        self.value()
    }

    /// A value, without white space before it.
    fn value(&mut self) -> Option<Json> {
        let start = self.cursor.at();
        if self.cursor.peek()? == b' ' {
            return None;
        }
        self.cursor.value(MAX_DEPTH)?;
        Some(Json::trusted(self.text.get(start..self.cursor.at())?.to_owned()))
    }

    /// An origin of another shape is left to those who know what to do with it.
    fn origin(&mut self) -> Option<Box<Origin>> {
        self.value()?.decode().ok()
    }

    /// The record that the event was made from, if there is one.
    fn raw(&mut self) -> Option<Option<Raw>> {
        match self.if_there(b",\"raw\":", Walk::value)? {
            Some(text) => Some(Some(Raw::Text(text))),
            None => Some(self.if_there(b",\"raw_b64\":", Walk::value)?.map(Raw::Base64)),
        }
    }
}
