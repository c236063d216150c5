//! Claude's messages as they are.
//!
//! It only reads. What becomes of a block is decided elsewhere.

use std::borrow::Cow;

use crate::said::{Given, Said, SaidBlock};
use crate::value::Value;

/// The model that the agent names when it speaks for itself.
pub(super) const SYNTHETIC: &str = "<synthetic>";

/// Returns the blocks of a message's content, which may be a mere string.
pub(super) fn blocks(content: Value<'_>) -> Vec<SaidBlock<'_>> {
    match content.said() {
        Some(text) => vec![SaidBlock::Text(text)],
        None => content.items().into_iter().map(block).collect(),
    }
}

fn block(value: Value<'_>) -> SaidBlock<'_> {
    let fields = value.fields().unwrap_or_default();
    let block_type = fields.text("type").unwrap_or_else(|| "unknown".into());
    match &*block_type {
        "text" => SaidBlock::Text(fields.said("text").unwrap_or_default()),
        "thinking" => SaidBlock::Thinking {
            thinking: fields.said("thinking").unwrap_or_default(),
            signature: fields.said("signature").filter(|signature| !signature.is_empty()),
        },
        "redacted_thinking" => {
            SaidBlock::Thinking { thinking: Said::default(), signature: fields.said("data") }
        }
        "tool_use" => SaidBlock::ToolUse {
            id: fields.text("id").unwrap_or_default(),
            name: fields.text("name").unwrap_or_default(),
            input: fields.get("input").into(),
        },
        "tool_result" => SaidBlock::ToolResult {
            id: fields.text("tool_use_id").unwrap_or_default(),
            content: fields.get("content"),
            is_error: fields.flag("is_error").unwrap_or(false),
        },
        _ => SaidBlock::Other { block_type, content: Given::Value(value) },
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
