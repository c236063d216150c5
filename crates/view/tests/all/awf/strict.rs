//! A decoder that refuses what AWF does not know: types, blocks, fields, and fields of other types.

use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the shape is asked for")]
struct Line {
    seq: u64,
    run_id: String,
    parent_run_id: Option<String>,
    child_run_id: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    path: String,
    iteration: i64,
    timestamp: String,
    payload: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the shape is asked for")]
struct Step {
    name: String,
    kind: String,
    error: Option<String>,
    result: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the shape is asked for")]
struct Message {
    role: Role,
    blocks: Vec<Block>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the shape is asked for")]
struct Tool {
    name: String,
    call_id: String,
    input: Value,
    output: Value,
    error: Option<String>,
    fidelity: Fidelity,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Fidelity {
    Router,
    AgentEmitted,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the shape is asked for")]
struct Block {
    #[serde(rename = "type")]
    kind: BlockKind,
    fidelity: Fidelity,
    text: Option<String>,
    thinking: Option<String>,
    tool_name: Option<String>,
    tool_id: Option<String>,
    tool_input: Option<Value>,
    tool_content: Option<Value>,
    command: Option<String>,
    chunk: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum BlockKind {
    Text,
    Thinking,
    ToolUse,
    ToolResult,
    Command,
    Stream,
}

pub(crate) fn decode(text: &str) -> Result<Value, String> {
    let line: Line = serde_json::from_str(text).map_err(|error| error.to_string())?;
    quipu_event::Timestamp::parse(&line.timestamp).map_err(|error| error.to_string())?;
    let payload = line.payload;
    let kind = line.kind.as_str();
    let decoded = match kind {
        "run.started" | "run.completed" if payload.is_null() => Ok(()),
        _ if !super::TEN.contains(&kind) => return Err(format!("{kind} is not known")),
        "message.user" | "message.assistant" => shape::<Message>(payload),
        "tool.call" | "tool.result" => shape::<Tool>(payload),
        _ => shape::<Step>(payload),
    };
    decoded.map_err(|error| error.to_string())?;
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn shape<T: for<'de> Deserialize<'de>>(payload: Value) -> serde_json::Result<()> {
    serde_json::from_value::<T>(payload).map(drop)
}
