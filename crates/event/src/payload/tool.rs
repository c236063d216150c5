//! One logical tool call: exactly one `tool.call`, at most one `tool.result`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block::Fidelity;
use crate::encode::EncodeError;
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

impl ToolResult {
    /// Encodes the result as a payload.
    ///
    /// A large output is not copied for that: the payload is made around it.
    pub fn into_payload(self) -> Result<Json, EncodeError> {
        if !self.output.is_large() {
            return Json::encode(&self);
        }
        let ToolResult { name, call_id, input, output, error, fidelity, status, duration_ms } =
            self;
        let before = Json::encode(&Before { name, call_id, input })?;
        let after = Json::encode(&After { error, fidelity, status, duration_ms })?;
        let (before, after) = (before.as_str(), after.as_str());
        let before = format!("{},\"output\":", before.strip_suffix('}').unwrap_or(before));
        let after = format!(",{}", after.strip_prefix('{').unwrap_or(after));
        output.within(&before, &after, 1)
    }
}

/// What stands before the output in a payload of `tool.result`.
#[derive(Serialize)]
struct Before {
    name: String,
    call_id: String,
    input: Json,
}

/// What stands behind it.
#[derive(Serialize)]
struct After {
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    fidelity: Fidelity,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<ToolStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_DEPTH;

    #[test]
    fn a_result_is_encoded_alike_around_its_output_and_beside_it() {
        let full = ToolResult {
            name: "a \"tool\"".to_owned(),
            call_id: "c".to_owned(),
            input: Json::parse("{\"output\":null}").unwrap(),
            error: Some("no".to_owned()),
            status: Some(ToolStatus::Failed),
            duration_ms: Some(7),
            ..ToolResult::default()
        };
        for result in [full, ToolResult::default()] {
            for text in ["null".to_owned(), format!("\"{}\"", "a".repeat(100_000))] {
                let result = ToolResult { output: Json::from_valid(&text), ..result.clone() };
                assert_eq!(Json::encode(&result).unwrap(), result.into_payload().unwrap());
            }
        }
    }

    #[test]
    fn an_output_that_nests_too_deep_is_refused_however_large_it_is() {
        for padding in [1, 100_000] {
            let (open, close) = ("[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
            let text = format!("{open}\"{}\"{close}", "a".repeat(padding));
            let result = ToolResult { output: Json::from_valid(&text), ..ToolResult::default() };
            assert_eq!(result.into_payload(), Err(EncodeError::TooDeep));
        }
    }
}
