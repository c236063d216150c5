//! Content blocks: the typed pieces of a message, in the order in which they were said.

mod written;

pub(crate) use written::optional;

use std::borrow::Cow;

use serde::Deserialize;

use crate::json::{Json, LARGE};
use crate::vocabulary::vocabulary;

vocabulary! {
    /// Who vouches for a block or a tool event.
    Fidelity {
        /// It passed our own router or engine: ground truth.
        Router = "router",
        /// The agent says so.
        AgentEmitted = "agent_emitted",
    }
}

vocabulary! {
    /// What a text said to an agent is for.
    Purpose {
        /// Standing instructions.
        SystemPrompt = "system_prompt",
        /// The request itself.
        Prompt = "prompt",
    }
}

/// One piece of a message or step.
///
/// Decoding keeps the fields of the six known types. An unknown block type keeps its name here
/// and everything else in the event's payload, which stays as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct ContentBlock {
    /// Who vouches for it.
    pub fidelity: Fidelity,
    /// What it is for; only on what is said to an agent.
    pub purpose: Option<Purpose>,
    /// What it says.
    pub content: BlockContent,
}

/// What a block says, by its type.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockContent {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// Reasoning that the agent showed.
    Thinking {
        /// The reasoning.
        thinking: String,
        /// The provider's seal on it.
        signature: Option<String>,
    },
    /// The model asks for a tool.
    ToolUse {
        /// Which tool.
        tool_name: String,
        /// The call's id, equal to `call_id` of its `tool.call`.
        tool_id: String,
        /// The arguments.
        tool_input: Json,
    },
    /// What a tool answered, as the model was told.
    ToolResult {
        /// The call's id.
        tool_id: String,
        /// The answer.
        tool_content: Json,
        /// Whether the tool failed, if the agent said either way.
        is_error: Option<bool>,
    },
    /// A shell command.
    Command {
        /// The command as it was run.
        command: String,
        /// Its exit code, once known.
        exit_code: Option<i64>,
        /// Its output, once known.
        output: Option<String>,
    },
    /// A piece of a stream, when partial recording is asked for.
    Stream {
        /// The piece.
        chunk: String,
    },
    /// A type that is not in this list: an image, a document, or a type from the future.
    Other {
        /// Its name.
        block_type: String,
        /// The foreign block as it stood.
        content: Option<Json>,
    },
}

impl ContentBlock {
    /// Makes a text block.
    pub fn text(fidelity: Fidelity, text: impl Into<String>) -> Self {
        BlockContent::Text { text: text.into() }.vouched_by(fidelity)
    }

    /// Makes a thinking block without a signature.
    pub fn thinking(fidelity: Fidelity, thinking: impl Into<String>) -> Self {
        BlockContent::Thinking { thinking: thinking.into(), signature: None }.vouched_by(fidelity)
    }

    /// Makes a command block whose outcome is not known yet.
    pub fn command(command: impl Into<String>) -> Self {
        BlockContent::Command { command: command.into(), exit_code: None, output: None }
            .vouched_by(Fidelity::Router)
    }

    /// Tells whether its text takes so much memory that it had better not be copied.
    pub(crate) fn is_large(&self) -> bool {
        match &self.content {
            BlockContent::Text { text: said } | BlockContent::Thinking { thinking: said, .. } => {
                said.len() > LARGE
            }
            _ => false,
        }
    }

    /// Returns its text, and the key under which that stands.
    pub(crate) fn said_mut(&mut self) -> Option<(&'static str, &mut String)> {
        match &mut self.content {
            BlockContent::Text { text } => Some(("text", text)),
            BlockContent::Thinking { thinking, .. } => Some(("thinking", thinking)),
            _ => None,
        }
    }

    /// Says what the block is for.
    pub fn with_purpose(mut self, purpose: Purpose) -> Self {
        self.purpose = Some(purpose);
        self
    }
}

impl BlockContent {
    /// Makes a block of this content.
    pub fn vouched_by(self, fidelity: Fidelity) -> ContentBlock {
        ContentBlock { fidelity, purpose: None, content: self }
    }

    /// Returns the block type as it stands in a line.
    pub fn block_type(&self) -> &str {
        match self {
            BlockContent::Text { .. } => "text",
            BlockContent::Thinking { .. } => "thinking",
            BlockContent::ToolUse { .. } => "tool_use",
            BlockContent::ToolResult { .. } => "tool_result",
            BlockContent::Command { .. } => "command",
            BlockContent::Stream { .. } => "stream",
            BlockContent::Other { block_type, .. } => block_type,
        }
    }
}

/// All fields a block may have, whatever its type: one pass decodes any of them.
#[derive(Deserialize)]
struct AnyBlock<'a> {
    #[serde(rename = "type", borrow)]
    block_type: Cow<'a, str>,
    fidelity: Option<Fidelity>,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    tool_name: Option<String>,
    tool_id: Option<String>,
    tool_input: Option<Json>,
    tool_content: Option<Json>,
    is_error: Option<bool>,
    command: Option<String>,
    exit_code: Option<i64>,
    output: Option<String>,
    chunk: Option<String>,
    content: Option<Json>,
    purpose: Option<Purpose>,
}

impl From<AnyBlock<'_>> for ContentBlock {
    fn from(any: AnyBlock<'_>) -> Self {
        let content = match &*any.block_type {
            "text" => BlockContent::Text { text: any.text.unwrap_or_default() },
            "thinking" => BlockContent::Thinking {
                thinking: any.thinking.unwrap_or_default(),
                signature: any.signature,
            },
            "tool_use" => BlockContent::ToolUse {
                tool_name: any.tool_name.unwrap_or_default(),
                tool_id: any.tool_id.unwrap_or_default(),
                tool_input: any.tool_input.unwrap_or_default(),
            },
            "tool_result" => BlockContent::ToolResult {
                tool_id: any.tool_id.unwrap_or_default(),
                tool_content: any.tool_content.unwrap_or_default(),
                is_error: any.is_error,
            },
            "command" => BlockContent::Command {
                command: any.command.unwrap_or_default(),
                exit_code: any.exit_code,
                output: any.output,
            },
            "stream" => BlockContent::Stream { chunk: any.chunk.unwrap_or_default() },
            _ => BlockContent::Other {
                block_type: any.block_type.into_owned(),
                content: any.content,
            },
        };
        ContentBlock {
            fidelity: any.fidelity.unwrap_or(Fidelity::AgentEmitted),
            purpose: any.purpose,
            content,
        }
    }
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        AnyBlock::deserialize(deserializer).map(Into::into)
    }
}

impl schemars::JsonSchema for ContentBlock {
    fn schema_name() -> Cow<'static, str> {
        "ContentBlock".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let fidelity = generator.subschema_for::<Fidelity>();
        let purpose = generator.subschema_for::<Purpose>();
        let text = |meaning: &str| serde_json::json!({ "type": "string", "description": meaning });
        schemars::json_schema!({
            "description": "One piece of a message or step. Which fields it has depends on its type.",
            "type": "object",
            "required": ["type", "fidelity"],
            "properties": {
                "type": text("`text`, `thinking`, `tool_use`, `tool_result`, `command` or `stream`."),
                "fidelity": fidelity,
                "text": text("Of `text`: the text."),
                "thinking": text("Of `thinking`: the reasoning that the agent showed."),
                "signature": text("Of `thinking`: the provider's seal on it, if there is one."),
                "tool_name": text("Of `tool_use`: which tool."),
                "tool_id": text("Of `tool_use` and `tool_result`: the call's id, equal to `call_id` of its `tool.call`."),
                "tool_input": { "description": "Of `tool_use`: the arguments." },
                "tool_content": { "description": "Of `tool_result`: the answer, as the model was told." },
                "is_error": { "type": "boolean", "description": "Of `tool_result`: whether the tool failed, if the agent said." },
                "command": text("Of `command`: the command as it was run."),
                "exit_code": { "type": "integer", "description": "Of `command`: its exit code, once known." },
                "output": text("Of `command`: its output, once known."),
                "chunk": text("Of `stream`: a piece of a stream, when partial recording is asked for."),
                "content": { "description": "Of any other type, such as `image`: the foreign block as it stood." },
                "purpose": purpose,
            },
        })
    }
}
