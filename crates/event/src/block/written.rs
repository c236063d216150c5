//! How a block is written: its type, who vouches for it, and what it says.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::{BlockContent, ContentBlock, Fidelity};
use crate::encode::{Opening, serialize_with_opening};

impl Serialize for ContentBlock {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_with_opening(self, serializer)
    }
}

impl Opening for ContentBlock {
    fn serialize_opened<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(opening) = self.opening() else {
            return self.serialize_from_type(serializer, "{\"type\":");
        };
        let mut block = serializer.serialize_struct("ContentBlock", 6)?;
        self.content.serialize_fields(&mut block, Some(opening))?;
        optional(&mut block, "purpose", &self.purpose)?;
        block.end()
    }

    fn serialize_named<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize_from_type(serializer, "type")
    }
}

/// Spells all that stands before the value of the first field of a block.
macro_rules! opening {
    ($fidelity:literal, $block_type:literal, $first:literal) => {
        concat!(
            "{\"type\":\"",
            $block_type,
            "\",\"fidelity\":\"",
            $fidelity,
            "\",\"",
            $first,
            "\":"
        )
    };
    ($fidelity:literal, $content:expr) => {
        match $content {
            BlockContent::Text { .. } => opening!($fidelity, "text", "text"),
            BlockContent::Thinking { .. } => opening!($fidelity, "thinking", "thinking"),
            BlockContent::ToolUse { .. } => opening!($fidelity, "tool_use", "tool_name"),
            BlockContent::ToolResult { .. } => opening!($fidelity, "tool_result", "tool_id"),
            BlockContent::Command { .. } => opening!($fidelity, "command", "command"),
            BlockContent::Stream { .. } => opening!($fidelity, "stream", "chunk"),
            BlockContent::Other { .. } => return None,
        }
    };
}

impl ContentBlock {
    /// Serialises all of it, beginning with its type under the name `first`.
    fn serialize_from_type<S: Serializer>(
        &self,
        serializer: S,
        first: &'static str,
    ) -> Result<S::Ok, S::Error> {
        let mut block = serializer.serialize_struct("ContentBlock", 6)?;
        block.serialize_field(first, self.content.block_type())?;
        block.serialize_field("fidelity", &self.fidelity)?;
        self.content.serialize_fields(&mut block, None)?;
        optional(&mut block, "purpose", &self.purpose)?;
        block.end()
    }

    /// Returns how its text in a line begins, up to the value of its first field.
    fn opening(&self) -> Option<&'static str> {
        Some(match self.fidelity {
            Fidelity::AgentEmitted => opening!("agent_emitted", &self.content),
            Fidelity::Router => opening!("router", &self.content),
            Fidelity::Other(_) => return None,
        })
    }
}

impl BlockContent {
    /// Serialises its first field under `name`, instead of its own name if there is one, and the rest.
    fn serialize_fields<S: SerializeStruct>(
        &self,
        block: &mut S,
        name: Option<&'static str>,
    ) -> Result<(), S::Error> {
        let first = |own: &'static str| name.unwrap_or(own);
        match self {
            BlockContent::Text { text } => block.serialize_field(first("text"), text),
            BlockContent::Thinking { thinking, signature } => {
                block.serialize_field(first("thinking"), thinking)?;
                optional(block, "signature", signature)
            }
            BlockContent::ToolUse { tool_name, tool_id, tool_input } => {
                block.serialize_field(first("tool_name"), tool_name)?;
                block.serialize_field("tool_id", tool_id)?;
                block.serialize_field("tool_input", tool_input)
            }
            BlockContent::ToolResult { tool_id, tool_content, is_error } => {
                block.serialize_field(first("tool_id"), tool_id)?;
                block.serialize_field("tool_content", tool_content)?;
                optional(block, "is_error", is_error)
            }
            BlockContent::Command { command, exit_code, output } => {
                block.serialize_field(first("command"), command)?;
                optional(block, "exit_code", exit_code)?;
                optional(block, "output", output)
            }
            BlockContent::Stream { chunk } => block.serialize_field(first("chunk"), chunk),
            BlockContent::Other { content, .. } => optional(block, "content", content),
        }
    }
}

/// Serialises a field that is there.
pub(crate) fn optional<S: SerializeStruct, T: Serialize>(
    block: &mut S,
    key: &'static str,
    value: &Option<T>,
) -> Result<(), S::Error> {
    match value {
        Some(value) => block.serialize_field(key, value),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;
    use crate::{EncodeError, MAX_DEPTH, Purpose};

    fn contents() -> Vec<BlockContent> {
        let word = || "a \"word\"\n".to_owned();
        let json = || Json::parse("{\"a\":[1,{}]}").unwrap();
        vec![
            BlockContent::Text { text: word() },
            BlockContent::Thinking { thinking: word(), signature: None },
            BlockContent::Thinking { thinking: word(), signature: Some(word()) },
            BlockContent::ToolUse { tool_name: word(), tool_id: word(), tool_input: json() },
            BlockContent::ToolResult { tool_id: word(), tool_content: json(), is_error: None },
            BlockContent::ToolResult {
                tool_id: word(),
                tool_content: json(),
                is_error: Some(true),
            },
            BlockContent::Command { command: word(), exit_code: None, output: None },
            BlockContent::Command { command: word(), exit_code: Some(-1), output: Some(word()) },
            BlockContent::Stream { chunk: word() },
            BlockContent::Other { block_type: word(), content: Some(json()) },
            BlockContent::Other { block_type: word(), content: None },
        ]
    }

    #[test]
    fn every_block_is_written_as_any_serializer_writes_it() {
        let vouchers = [Fidelity::AgentEmitted, Fidelity::Router, Fidelity::from("an \"oracle\"")];
        for (fidelity, content) in
            vouchers.iter().flat_map(|fidelity| contents().into_iter().map(move |c| (fidelity, c)))
        {
            let bare = content.vouched_by(fidelity.clone());
            for block in [bare.clone(), bare.with_purpose(Purpose::Prompt)] {
                let expected = serde_json::to_string(&block).unwrap();
                assert_eq!(Json::encode(&block).unwrap().as_str(), expected);
                let value: serde_json::Value = serde_json::to_value(&block).unwrap();
                assert_eq!(value, serde_json::from_str::<serde_json::Value>(&expected).unwrap());
            }
        }
    }

    /// Lists within lists, and a block in the innermost.
    fn within(lists: usize) -> Result<Json, EncodeError> {
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Nested {
            Block(ContentBlock),
            List([Box<Nested>; 1]),
        }
        let block = Nested::Block(ContentBlock::text(Fidelity::Router, "x"));
        Json::encode(&(0..lists).fold(block, |inner, _| Nested::List([Box::new(inner)])))
    }

    #[test]
    fn a_block_is_a_level_of_nesting_however_it_is_written() {
        assert!(within(MAX_DEPTH - 1).is_ok());
        assert_eq!(within(MAX_DEPTH), Err(EncodeError::TooDeep));
    }
}
