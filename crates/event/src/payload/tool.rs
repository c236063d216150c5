//! One logical tool call: exactly one `tool.call`, at most one `tool.result`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block::Fidelity;
use crate::json::Json;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// How a tool call ended.
    ToolStatus {
        /// It ran to its end.
        Completed = "completed",
        /// It ran and failed, or could not be run.
        Failed = "failed",
        /// It was refused.
        Blocked = "blocked",
    }
}

/// Payload of `tool.call`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToolCall {
    /// Which tool.
    pub name: String,
    /// The call's id; its result and the model's `tool_use` block carry the same.
    pub call_id: String,
    /// The arguments.
    pub input: Json,
    /// Always `null`: the call has not been answered yet.
    pub output: Json,
    /// Who vouches for it.
    pub fidelity: Fidelity,
    /// Whose tool: `builtin`, `mcp:<server>` or `agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
}

/// Payload of `tool.result`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToolResult {
    /// Which tool.
    pub name: String,
    /// The call's id.
    pub call_id: String,
    /// The arguments, again.
    pub input: Json,
    /// What it answered. Text, or whatever structure the tool has.
    pub output: Json,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Who vouches for it.
    pub fidelity: Fidelity,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<ToolStatus>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

impl Default for ToolCall {
    fn default() -> Self {
        ToolCall {
            name: String::new(),
            call_id: String::new(),
            input: Json::null(),
            output: Json::null(),
            fidelity: Fidelity::AgentEmitted,
            provider: None,
        }
    }
}

impl Default for ToolResult {
    fn default() -> Self {
        ToolResult {
            name: String::new(),
            call_id: String::new(),
            input: Json::null(),
            output: Json::null(),
            error: None,
            fidelity: Fidelity::AgentEmitted,
            status: None,
            duration_ms: None,
        }
    }
}
