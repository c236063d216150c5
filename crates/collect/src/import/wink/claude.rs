//! Blocks as Claude has them. Flow Studio's raw streams have the same.

use quipu_event::{BlockContent, ContentBlock, Fidelity};
use serde_json::Value;

use super::super::record::{json, owned, value};
use super::entry::other_block;

/// Returns the blocks of a message's content: a text, or a list.
pub(in super::super) fn blocks(content: &Value, fidelity: Fidelity) -> Vec<ContentBlock> {
    match content {
        Value::String(text) => vec![ContentBlock::text(fidelity, text.clone())],
        Value::Array(blocks) => blocks.iter().map(|one| block(one, fidelity.clone())).collect(),
        _ => Vec::new(),
    }
}

fn block(block: &Value, fidelity: Fidelity) -> ContentBlock {
    let word = |key: &str| owned(block, &[key]).unwrap_or_default();
    match block["type"].as_str() {
        Some("text") => ContentBlock::text(fidelity, word("text")),
        Some("thinking") => {
            let signature = owned(block, &["signature"]);
            BlockContent::Thinking { thinking: word("thinking"), signature }.vouched_by(fidelity)
        }
        Some("tool_use") => BlockContent::ToolUse {
            tool_name: word("name"),
            tool_id: word("id"),
            tool_input: json(value(block, &["input"])),
        }
        .vouched_by(fidelity),
        Some("tool_result") => BlockContent::ToolResult {
            tool_id: word("tool_use_id"),
            tool_content: json(value(block, &["content"])),
            is_error: block["is_error"].as_bool(),
        }
        .vouched_by(fidelity),
        _ => other_block(block, fidelity),
    }
}
