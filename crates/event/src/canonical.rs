//! Lines as our own writer spells them: known keys in their order, no white space.
//!
//! Almost every line is one of these, and their order can be relied on to read them in a single
//! walk. Any other spelling is answered with nothing and left to the decoder in [`crate::line`]:
//! this file may be deleted and every line still means the same (a property test says so).

use crate::cursor::{Cursor, has_control_byte};
use crate::event::Event;
use crate::id::{RunId, StepPath};
use crate::kind::Kind;
use crate::raw::{Origin, Raw};
use crate::time::Timestamp;
use crate::walk::Walk;

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

/// What a line is likely to say again because the line before it did.
///
/// It is compared, and not checked and copied anew.
#[derive(Clone, Debug, Default)]
pub(crate) struct Before {
    run_id: Option<RunId>,
    path: StepPath,
}

/// Decodes a line that has the known keys in their order, and no other.
pub(crate) fn decode(line: &[u8], before: &mut Before) -> Option<Event> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    if has_control_byte(line) {
        return None;
    }
    let mut walk = Walk::along(simdutf8::basic::from_utf8(line).ok()?);
    let event = Event {
        seq: walk.after(SEQ, Walk::whole_number)?,
        run_id: walk.after(RUN_ID, |walk| before.run_id(walk))?,
        parent_run_id: walk.if_there(PARENT_RUN_ID, run_id)?,
        child_run_id: walk.if_there(CHILD_RUN_ID, run_id)?,
        kind: walk.after(TYPE, |walk| walk.plain_text().map(Kind::from))?,
        path: walk.after(b",\"path\":\"", |walk| before.path(walk))?,
        iteration: walk.after(b",\"iteration\":", Walk::whole_number)?,
        timestamp: walk.after(b",\"timestamp\":\"", timestamp)?,
        payload: walk.after(b",\"payload\":", Walk::value)?,
        source: walk.if_there(b",\"source\":\"", |walk| walk.plain_text().map(Box::from))?,
        origin: walk.if_there(b",\"origin\":", origin)?,
        raw: raw(&mut walk)?,
        extra: Vec::new(),
    };
    walk.end(b"}")?;
    Some(event)
}

impl Before {
    fn run_id(&mut self, walk: &mut Walk<'_>) -> Option<RunId> {
        if let Some(same) = &self.run_id
            && walk.same_text(same.as_str()).is_some()
        {
            return Some(same.clone());
        }
        Some(self.run_id.insert(run_id(walk)?).clone())
    }

    fn path(&mut self, walk: &mut Walk<'_>) -> Option<StepPath> {
        if walk.same_text(self.path.as_str()).is_none() {
            self.path = StepPath::from(walk.plain_text()?);
        }
        Some(self.path.clone())
    }
}

fn run_id(walk: &mut Walk<'_>) -> Option<RunId> {
    RunId::parse(walk.plain_text()?).ok()
}

fn timestamp(walk: &mut Walk<'_>) -> Option<Timestamp> {
    Timestamp::parse(walk.plain_text()?).ok()
}

/// An origin of another shape is left to those who know what to do with it.
fn origin(walk: &mut Walk<'_>) -> Option<Box<Origin>> {
    walk.value()?.decode().ok()
}

/// The record that the event was made from, if there is one.
fn raw(walk: &mut Walk<'_>) -> Option<Option<Raw>> {
    match walk.if_there(b",\"raw\":", Walk::value)? {
        Some(text) => Some(Some(Raw::Text(text))),
        None => Some(walk.if_there(b",\"raw_b64\":", Walk::value)?.map(Raw::Base64)),
    }
}
