//! One event as a line that AWF's strict decoder takes.

use quipu_event::payload::{Message, Status, StepCompleted, ToolStatus};
use quipu_event::{
    BlockContent, ContentBlock, Event, Fidelity, Json, Kind, MAX_DEPTH, Payload, Purpose, RunId,
};

use super::wire::{self, Block, Line, encode};
use crate::reading::read;

/// AWF counts iterations in a signed number.
const LARGEST: u64 = i64::MAX as u64;

/// Returns `event` as line `seq`.
pub(super) fn line(seq: u64, event: &Event) -> Json {
    encode(&Line {
        seq,
        run_id: event.run_id.as_str(),
        parent_run_id: event.parent_run_id.as_ref().map(RunId::as_str),
        child_run_id: event.child_run_id.as_ref().map(RunId::as_str),
        kind: event.kind.as_str(),
        path: event.path.as_str(),
        iteration: event.iteration.min(LARGEST),
        timestamp: event.timestamp,
        payload: payload(event),
    })
}

/// Returns why something did not succeed: its status has no place in AWF's lines.
pub(super) fn reason(status: Option<&Status>, error: Option<String>) -> String {
    let error = error.unwrap_or_default();
    match status {
        Some(status) if error.is_empty() && (status.is_failure() || !status.is_known()) => {
            status.to_string()
        }
        _ => error,
    }
}

fn payload(event: &Event) -> Option<wire::Payload> {
    Some(match read(event).payload {
        Payload::RunStarted(run) => step(run.name, run.kind.to_string()),
        Payload::RunCompleted(run) => wire::Payload::Step {
            name: run.name,
            kind: run.kind.to_string(),
            error: reason(run.status.as_ref(), run.error),
            result: any(run.result.unwrap_or_else(Json::null)),
        },
        Payload::StepStarted(started) => step(started.name, started.kind),
        Payload::StepCompleted(completed) => {
            let StepCompleted { name, kind, status, error, result, .. } = *completed;
            let result = any(result.unwrap_or_else(Json::null));
            wire::Payload::Step { name, kind, error: reason(status.as_ref(), error), result }
        }
        Payload::Message(message) => said(&event.kind, message),
        Payload::ToolCall(call) => wire::Payload::Tool {
            name: call.name,
            call_id: call.call_id,
            input: any(call.input),
            output: Json::null(),
            error: String::new(),
            fidelity: vouched(&call.fidelity),
        },
        Payload::ToolResult(result) => {
            let error = match (&result.status, result.error) {
                (_, Some(error)) if !error.is_empty() => error,
                (Some(ToolStatus::Completed) | None, _) => String::new(),
                (Some(status), _) => status.to_string(),
            };
            wire::Payload::Tool {
                name: result.name,
                call_id: result.call_id,
                input: any(result.input),
                output: any(result.output),
                error,
                fidelity: vouched(&result.fidelity),
            }
        }
        _ => return None,
    })
}

fn step(name: String, kind: String) -> wire::Payload {
    wire::Payload::Step { name, kind, error: String::new(), result: Json::null() }
}

fn said(kind: &Kind, message: Message) -> wire::Payload {
    let role = if *kind == Kind::MessageUser { "user" } else { "assistant" };
    let mut blocks = message.blocks;
    // AWF tells the standing instructions from the request by their place alone: behind it.
    blocks.sort_by_key(|block| block.purpose == Some(Purpose::SystemPrompt));
    wire::Payload::Message { role, blocks: blocks.into_iter().filter_map(block).collect() }
}

/// Returns a block as AWF writes it; nothing for one that it does not know.
fn block(ContentBlock { fidelity, content, .. }: ContentBlock) -> Option<Block> {
    let blank = Block { fidelity: vouched(&fidelity), ..Block::default() };
    Some(match content {
        BlockContent::Text { text } => Block { kind: "text", text, ..blank },
        BlockContent::Thinking { thinking, .. } => Block { kind: "thinking", thinking, ..blank },
        BlockContent::ToolUse { tool_name, tool_id, tool_input } => {
            Block { kind: "tool_use", tool_name, tool_id, tool_input: given(tool_input), ..blank }
        }
        BlockContent::ToolResult { tool_id, tool_content, .. } => {
            Block { kind: "tool_result", tool_id, tool_content: given(tool_content), ..blank }
        }
        BlockContent::Command { command, .. } => Block { kind: "command", command, ..blank },
        BlockContent::Stream { chunk } => Block { kind: "stream", chunk, ..blank },
        BlockContent::Other { .. } => return None,
    })
}

fn given(value: Json) -> Option<Json> {
    Some(any(value)).filter(|value| !value.is_null())
}

/// What nests deeper than readers go is told as text.
fn any(value: Json) -> Json {
    if value.nests_deeper_than(MAX_DEPTH) { encode(&value.as_str()) } else { value }
}

fn vouched(fidelity: &Fidelity) -> &'static str {
    match fidelity {
        Fidelity::Router => "router",
        _ => "agent_emitted",
    }
}
