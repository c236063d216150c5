//! Claude's blocks in our words.

use quipu_event::{BlockContent, ContentBlock, Fidelity};

use super::wire::Block;
use crate::value::Value;

/// Returns a block as it stands in a message.
pub(super) fn content_block(block: Block<'_>) -> ContentBlock {
    let json = |value: Option<Value<'_>>| value.map(Value::json).unwrap_or_default();
    let content = match block {
        Block::Text(text) => BlockContent::Text { text: text.into_owned() },
        Block::Thinking { thinking, signature } => BlockContent::Thinking {
            thinking: thinking.into_owned(),
            signature: signature.map(Into::into),
        },
        Block::ToolUse { id, name, input } => BlockContent::ToolUse {
            tool_name: name.into_owned(),
            tool_id: id.map(Into::into).unwrap_or_default(),
            tool_input: json(input),
        },
        Block::ToolResult { id, content, is_error } => BlockContent::ToolResult {
            tool_id: id.map(Into::into).unwrap_or_default(),
            tool_content: json(content),
            is_error: Some(is_error),
        },
        Block::Other { block_type, value } => {
            BlockContent::Other { block_type: block_type.into_owned(), content: Some(value.json()) }
        }
    };
    content.vouched_by(Fidelity::AgentEmitted)
}
