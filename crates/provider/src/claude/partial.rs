//! A reply folded from its deltas, for the case that nobody repeats it whole.
//!
//! The agent passes the model's own stream on, and repeats each block as a record of its own when
//! it is finished. Only what was not repeated is taken from here.

use quipu_event::Json;

use crate::said::{Given, Said, SaidBlock};
use crate::value::{Fields, json_inside};

/// The blocks of a reply as far as they have come.
#[derive(Default)]
pub(super) struct Partial {
    blocks: Vec<Growing>,
}

/// A block that grows.
#[derive(Default)]
struct Growing {
    index: u64,
    block_type: String,
    /// Text, thinking, or the JSON of a tool's input.
    text: String,
    signature: String,
    tool_id: String,
    tool_name: String,
    /// The input, or the whole foreign block, as it stood at its start.
    start: Json,
}

impl Partial {
    /// Takes `content_block_start`.
    pub(super) fn start_block(&mut self, event: &Fields<'_>) {
        let block = event.fields("content_block").unwrap_or_default();
        let block_type = block.string("type").unwrap_or_default();
        let start = match &*block_type {
            "tool_use" => block.json("input"),
            "text" | "thinking" | "redacted_thinking" => None,
            _ => event.json("content_block"),
        };
        self.blocks.push(Growing {
            index: event.count("index").unwrap_or(self.blocks.len() as u64),
            text: block.string("text").or_else(|| block.string("thinking")).unwrap_or_default(),
            signature: block
                .string("signature")
                .or_else(|| block.string("data"))
                .unwrap_or_default(),
            tool_id: block.string("id").unwrap_or_default(),
            tool_name: block.string("name").unwrap_or_default(),
            start: start.unwrap_or_default(),
            block_type,
        });
    }

    /// Takes `content_block_delta`.
    pub(super) fn grow(&mut self, event: &Fields<'_>) {
        let index = event.count("index");
        let Some(delta) = event.fields("delta") else { return };
        let is_meant = |block: &&mut Growing| index.is_none_or(|index| block.index == index);
        let Some(block) = self.blocks.iter_mut().rev().find(is_meant) else { return };
        for key in ["text", "thinking", "partial_json"] {
            if let Some(text) = delta.text(key) {
                block.text.push_str(&text);
            }
        }
        if let Some(signature) = delta.text("signature") {
            block.signature.push_str(&signature);
        }
    }

    /// Returns the blocks behind the first `whole` ones, which came as records of their own.
    pub(super) fn rest(self, whole: usize) -> impl Iterator<Item = SaidBlock<'static>> {
        self.blocks.into_iter().skip(whole).filter_map(Growing::fold)
    }
}

impl Growing {
    /// Makes the block of what has come; nothing if nothing has.
    fn fold(self) -> Option<SaidBlock<'static>> {
        let signature = Some(self.signature).filter(|signature| !signature.is_empty());
        let block = match &*self.block_type {
            "text" if self.text.is_empty() => return None,
            "text" => SaidBlock::Text(Said::Text(self.text)),
            "thinking" | "redacted_thinking" if self.text.is_empty() && signature.is_none() => {
                return None;
            }
            "thinking" | "redacted_thinking" => SaidBlock::Thinking {
                thinking: Said::Text(self.text),
                signature: signature.map(Said::Text),
            },
            "tool_use" => {
                let is_empty = self.text.is_empty();
                let input = if is_empty { self.start } else { json_inside(&self.text) };
                SaidBlock::ToolUse {
                    id: self.tool_id.into(),
                    name: self.tool_name.into(),
                    input: Given::Json(input),
                }
            }
            _ => SaidBlock::Other {
                block_type: self.block_type.into(),
                content: Given::Json(self.start),
            },
        };
        Some(block)
    }
}
