//! What a foreign record says, on its way into a payload without a copy in between.
//!
//! A text stands in the record as a JSON string, and is going to stand in the payload as one. To
//! decode it, keep it and encode it again would hold a long one three times: as foreign bytes, as
//! text and as payload. Here it stays where it is until it is written. How the bytes come out does
//! not depend on that: a payload is escaped in our way, whatever the record's way was.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use memchr::memchr;
use quipu_event::payload::ToolResult;
use quipu_event::{Fidelity, Json, Purpose};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::unescape::unescape_to;
use crate::value::Value;

/// A text that somebody said.
#[derive(Clone, Debug)]
pub(crate) enum Said<'a> {
    /// The JSON string that stands in the record, quotes included.
    Literal(&'a str),
    /// A text that was put together from several records.
    Text(String),
}

impl<'a> Said<'a> {
    /// Returns the text.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            Said::Literal(literal) => Value::of_literal(literal).text().unwrap_or_default(),
            Said::Text(text) => Cow::Borrowed(text),
        }
    }

    /// Tells whether it says nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many bytes it takes in a payload at most.
    fn len(&self) -> usize {
        match self {
            // Nobody's escapes are shorter than ours.
            Said::Literal(literal) => inside(literal).len(),
            Said::Text(text) => text.len(),
        }
    }
}

impl Default for Said<'_> {
    fn default() -> Self {
        Said::Literal("\"\"")
    }
}

impl Hash for Said<'_> {
    /// Takes what is going to be written: equal for equal texts, however a record escapes them.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut pieces = EvenPieces { state, piece: Vec::new() };
        match self {
            Said::Literal(literal) if is_escaped_our_way(inside(literal)) => {
                pieces.take(inside(literal).as_bytes());
            }
            Said::Literal(literal) => {
                decode_in_pieces(inside(literal), |piece| pieces.take_text(piece));
            }
            Said::Text(text) => pieces.take_text(text),
        }
        let rest = std::mem::take(&mut pieces.piece);
        rest.hash(state);
    }
}

impl Serialize for Said<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Said::Text(text) => serializer.serialize_str(text),
            Said::Literal(literal) if is_escaped_our_way(inside(literal)) => {
                Json::serialize_valid(literal, serializer)
            }
            Said::Literal(literal) => serializer.collect_str(&Decoded(inside(literal))),
        }
    }
}

/// A JSON value that somebody gave.
#[derive(Clone, Debug)]
pub(crate) enum Given<'a> {
    /// The value as it stands in the record.
    Value(Value<'a>),
    /// A value that was put together, or none.
    Json(Json),
}

impl Given<'_> {
    /// Takes the value over.
    pub(crate) fn into_json(self) -> Json {
        match self {
            Given::Value(value) => value.json(),
            Given::Json(json) => json,
        }
    }

    /// Returns its JSON as it stands.
    pub(crate) fn source(&self) -> &str {
        match self {
            Given::Value(value) => value.source(),
            Given::Json(json) => json.as_str(),
        }
    }
}

impl<'a> From<Option<Value<'a>>> for Given<'a> {
    fn from(value: Option<Value<'a>>) -> Self {
        value.map_or_else(|| Given::Json(Json::null()), Given::Value)
    }
}

impl Serialize for Given<'_> {
    /// Writes what [`Value::json`] would take over.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Given::Json(json) => json.serialize(serializer),
            Given::Value(value) if value.nests_too_deep() => {
                serializer.serialize_str(value.source())
            }
            Given::Value(value) => Json::serialize_valid(value.source(), serializer),
        }
    }
}

/// A block of a message; [`quipu_event::ContentBlock`] is the same, taken over.
#[derive(Clone, Debug)]
pub(crate) enum SaidBlock<'a> {
    Text(Said<'a>),
    Thinking { thinking: Said<'a>, signature: Option<Said<'a>> },
    ToolUse { id: Cow<'a, str>, name: Cow<'a, str>, input: Given<'a> },
    ToolResult { id: Cow<'a, str>, content: Option<Value<'a>>, is_error: bool },
    Other { block_type: Cow<'a, str>, content: Given<'a> },
}

impl SaidBlock<'_> {
    /// Returns the block type as it stands in a line.
    pub(crate) fn block_type(&self) -> &str {
        match self {
            SaidBlock::Text(_) => "text",
            SaidBlock::Thinking { .. } => "thinking",
            SaidBlock::ToolUse { .. } => "tool_use",
            SaidBlock::ToolResult { .. } => "tool_result",
            SaidBlock::Other { block_type, .. } => block_type,
        }
    }

    /// Returns how many bytes to make room for at once, so that a large block is not moved.
    pub(crate) fn room(&self) -> usize {
        /// Smaller ones may be moved.
        const LARGE: usize = 16 * 1024;
        const KEYS: usize = 1024;
        let len = match self {
            SaidBlock::Text(text) => text.len(),
            SaidBlock::Thinking { thinking, signature } => {
                thinking.len() + signature.as_ref().map_or(0, Said::len)
            }
            SaidBlock::ToolUse { input, .. } => input.source().len(),
            SaidBlock::ToolResult { content, .. } => {
                content.map_or(0, |content| content.source().len())
            }
            SaidBlock::Other { content, .. } => content.source().len(),
        };
        if len > LARGE { len + KEYS } else { 0 }
    }

    fn write_content<S: SerializeStruct>(&self, block: &mut S) -> Result<(), S::Error> {
        match self {
            SaidBlock::Text(text) => block.serialize_field("text", text),
            SaidBlock::Thinking { thinking, signature } => {
                block.serialize_field("thinking", thinking)?;
                match signature {
                    Some(signature) => block.serialize_field("signature", signature),
                    None => Ok(()),
                }
            }
            SaidBlock::ToolUse { id, name, input } => {
                block.serialize_field("tool_name", name)?;
                block.serialize_field("tool_id", id)?;
                block.serialize_field("tool_input", input)
            }
            SaidBlock::ToolResult { id, content, is_error } => {
                block.serialize_field("tool_id", id)?;
                block.serialize_field("tool_content", &Given::from(*content))?;
                block.serialize_field("is_error", is_error)
            }
            SaidBlock::Other { content, .. } => block.serialize_field("content", content),
        }
    }
}

/// A block as it is written, and what it is for.
pub(crate) struct Spoken<'a>(pub(crate) &'a SaidBlock<'a>, pub(crate) Option<Purpose>);

impl Serialize for Spoken<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Spoken(said, purpose) = self;
        let mut block = serializer.serialize_struct("ContentBlock", 6)?;
        block.serialize_field("type", said.block_type())?;
        block.serialize_field("fidelity", &Fidelity::AgentEmitted)?;
        said.write_content(&mut block)?;
        if let Some(purpose) = purpose {
            block.serialize_field("purpose", purpose)?;
        }
        block.end()
    }
}

/// A tool's result whose output still stands in the record.
pub(crate) struct Answered<'a> {
    /// Everything but the output.
    pub(crate) result: &'a ToolResult,
    /// The output.
    pub(crate) output: &'a Given<'a>,
}

impl Serialize for Answered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ToolResult { name, call_id, input, output: _, error, fidelity, status, duration_ms } =
            self.result;
        let mut result = serializer.serialize_struct("ToolResult", 8)?;
        result.serialize_field("name", name)?;
        result.serialize_field("call_id", call_id)?;
        result.serialize_field("input", input)?;
        result.serialize_field("output", self.output)?;
        if let Some(error) = error {
            result.serialize_field("error", error)?;
        }
        result.serialize_field("fidelity", fidelity)?;
        if let Some(status) = status {
            result.serialize_field("status", status)?;
        }
        if let Some(duration_ms) = duration_ms {
            result.serialize_field("duration_ms", duration_ms)?;
        }
        result.end()
    }
}

/// Prints the text that the inside of a JSON string stands for.
struct Decoded<'a>(&'a str);

impl fmt::Display for Decoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut written = Ok(());
        decode_in_pieces(self.0, |piece| written = written.and_then(|()| f.write_str(piece)));
        written
    }
}

/// So much of a text is decoded at a time.
const PIECE: usize = 8 * 1024;

/// Hands on the text that the inside of a JSON string stands for.
fn decode_in_pieces(inside: &str, mut take: impl FnMut(&str)) {
    let mut piece = String::with_capacity(inside.len().min(PIECE) + 16);
    // There may be an escape every few characters; to hand on each would cost a call each.
    unescape_to(inside, |part| {
        for part in pieces(part, PIECE) {
            if piece.len() + part.len() > PIECE {
                take(&piece);
                piece.clear();
            }
            piece.push_str(part);
        }
    });
    take(&piece);
}

/// Hashes bytes in pieces of one size, however they come.
struct EvenPieces<'h, H> {
    state: &'h mut H,
    piece: Vec<u8>,
}

impl<H: Hasher> EvenPieces<'_, H> {
    fn take_text(&mut self, text: &str) {
        // A string does not nest.
        self.take(inside(Json::encode(text).unwrap_or_default().as_str()).as_bytes());
    }

    fn take(&mut self, mut bytes: &[u8]) {
        while self.piece.len() + bytes.len() >= PIECE {
            let (now, rest) = bytes.split_at(PIECE - self.piece.len());
            if self.piece.is_empty() {
                self.state.write(now);
            } else {
                self.piece.extend_from_slice(now);
                self.state.write(&self.piece);
                self.piece.clear();
            }
            bytes = rest;
        }
        self.piece.extend_from_slice(bytes);
    }
}

/// Divides a text where characters end.
fn pieces(mut text: &str, longest: usize) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (piece, rest) = text.split_at(text.floor_char_boundary(longest));
        text = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

fn inside(literal: &str) -> &str {
    literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default()
}

/// Tells whether encoding the text that a JSON string stands for would give the same string.
fn is_escaped_our_way(inside: &str) -> bool {
    let mut rest = inside.as_bytes();
    while let Some(backslash) = memchr(b'\\', rest) {
        rest = match &rest[backslash + 1..] {
            [b'"' | b'\\' | b'n' | b't' | b'r' | b'b' | b'f', rest @ ..] => rest,
            [b'u', b'0', b'0', b'0', b'0'..=b'7' | b'b' | b'e' | b'f', rest @ ..]
            | [b'u', b'0', b'0', b'1', b'0'..=b'9' | b'a'..=b'f', rest @ ..] => rest,
            _ => return false,
        };
    }
    true
}

#[cfg(test)]
mod tests;
