//! Claude's messages as they are.
//!
//! It only reads. What becomes of a block is decided elsewhere.

use std::borrow::Cow;

use crate::value::Value;

/// The model that the agent names when it speaks for itself.
pub(super) const SYNTHETIC: &str = "<synthetic>";

/// One block of a message.
pub(super) enum Block<'a> {
    Text(Cow<'a, str>),
    Thinking { thinking: Cow<'a, str>, signature: Option<Cow<'a, str>> },
    ToolUse { id: Option<Cow<'a, str>>, name: Cow<'a, str>, input: Option<Value<'a>> },
    ToolResult { id: Option<Cow<'a, str>>, content: Option<Value<'a>>, is_error: bool },
    Other { block_type: Cow<'a, str>, value: Value<'a> },
}

/// Returns the blocks of a message's content, which may be a mere string.
pub(super) fn blocks(content: Value<'_>) -> Vec<Block<'_>> {
    match content.text() {
        Some(text) => vec![Block::Text(text)],
        None => content.items().into_iter().map(block).collect(),
    }
}

fn block(value: Value<'_>) -> Block<'_> {
    let fields = value.fields().unwrap_or_default();
    let block_type = fields.text("type").unwrap_or_else(|| "unknown".into());
    match &*block_type {
        "text" => Block::Text(fields.text("text").unwrap_or_default()),
        "thinking" => Block::Thinking {
            thinking: fields.text("thinking").unwrap_or_default(),
            signature: fields.text("signature").filter(|signature| !signature.is_empty()),
        },
        "redacted_thinking" => {
            Block::Thinking { thinking: Cow::default(), signature: fields.text("data") }
        }
        "tool_use" => Block::ToolUse {
            id: fields.text("id"),
            name: fields.text("name").unwrap_or_default(),
            input: fields.get("input"),
        },
        "tool_result" => Block::ToolResult {
            id: fields.text("tool_use_id"),
            content: fields.get("content"),
            is_error: fields.flag("is_error").unwrap_or(false),
        },
        _ => Block::Other { block_type, value },
    }
}

/// Returns the text of a tool's answer: it is a string or a list of blocks.
pub(super) fn answer_text(content: Value<'_>) -> Option<Cow<'_, str>> {
    content.text().or_else(|| content.items().first()?.fields()?.text("text"))
}

/// Returns the first line of `text`, cut to a length that one can read at a glance.
pub(super) fn short(text: &str) -> String {
    const LONGEST: usize = 200;
    let text = text.trim_start().strip_prefix("<tool_use_error>").unwrap_or(text);
    let line = text.trim().lines().next().unwrap_or_default();
    let line = line.strip_suffix("</tool_use_error>").unwrap_or(line);
    cut(line, LONGEST)
}

/// Returns what a hook that failed complained of, cut to a length that a fact may have.
pub(super) fn complaint(text: Option<Cow<'_, str>>) -> Option<String> {
    const LONGEST: usize = 300;
    text.map(|text| cut(text.trim(), LONGEST)).filter(|text| !text.is_empty())
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
