//! Items that are tool calls: what is asked for, and what came of it.

use quipu_event::Json;
use quipu_event::payload::{ToolCall, ToolResult, ToolStatus};
use serde_json::json;

use super::agents::Agents;
use super::item::{Item, ToolKind};
use super::thread::Thread;
use crate::calls::Seen;
use crate::outbox::{Outbox, Stamp};

/// How far an item has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codex) enum Stage {
    Started,
    Updated,
    Completed,
}

/// Takes an item that is a tool call.
pub(in crate::codex) fn take_tool(
    thread: &mut Thread,
    agents: &mut Agents,
    out: &mut Outbox<'_>,
    stamp: &Stamp,
    (kind, item, stage): (ToolKind, &Item<'_>, Stage),
) {
    let call = call(kind, item);
    let seen = match stage {
        Stage::Started if kind == ToolKind::WebSearch && !has_query(item) => {
            thread.voice.await_call(out, stamp, call)
        }
        Stage::Started => thread.voice.call(out, stamp, call),
        Stage::Updated => {
            thread.voice.output(out, stamp, &item.id, "");
            return;
        }
        Stage::Completed => {
            let result = result(kind, item);
            let is_refused = result.status == Some(ToolStatus::Blocked);
            let seen = thread.voice.result(out, stamp, call, result);
            if is_refused {
                thread.refuse(out, stamp, &item.id, None);
            }
            seen
        }
    };
    if seen == Seen::Again {
        out.system(stamp, "repeated", json!({ "tool_id": item.id }));
    }
    if kind == ToolKind::Collab && stage == Stage::Completed {
        take_agents(agents, out, stamp, item);
    }
}

/// Tells of the agents that a call has begun or found ended.
fn take_agents(agents: &mut Agents, out: &mut Outbox<'_>, stamp: &Stamp, item: &Item<'_>) {
    if matches!(item.fields.text("tool").as_deref(), Some("spawn_agent" | "spawnAgent")) {
        let receivers = item.get("receiver_thread_ids", "receiverThreadIds");
        for agent in receivers.map(|agents| agents.items()).unwrap_or_default() {
            if let Some(agent) = agent.text() {
                agents.start(out, stamp, &agent, Some(&item.id), None);
            }
        }
    }
    if let Some(states) = item.get("agents_states", "agentsStates") {
        agents.take_states(out, stamp, &item.id, states);
    }
}

fn has_query(item: &Item<'_>) -> bool {
    item.fields.text("query").is_some_and(|query| !query.is_empty())
}

fn call(kind: ToolKind, item: &Item<'_>) -> ToolCall {
    let (name, input) = match kind {
        ToolKind::Command => ("command_execution".to_owned(), input(item, &["command", "cwd"])),
        ToolKind::FileChange => ("file_change".to_owned(), input(item, &["changes"])),
        ToolKind::Mcp | ToolKind::Dynamic => (tool_name(item), arguments(item)),
        ToolKind::Collab => (snake_case(&tool_name(item)), collab_input(item)),
        ToolKind::WebSearch => ("web_search".to_owned(), input(item, &["query", "action"])),
        ToolKind::ImageView => ("image_view".to_owned(), input(item, &["path"])),
        ToolKind::ImageGeneration => {
            ("image_generation".to_owned(), input(item, &["revisedPrompt", "revised_prompt"]))
        }
        ToolKind::Sleep => ("sleep".to_owned(), input(item, &["durationMs", "duration_ms"])),
    };
    let provider = match item.fields.text("server") {
        Some(server) if kind == ToolKind::Mcp => format!("mcp:{server}"),
        _ => "agent".to_owned(),
    };
    let call_id = item.id.clone();
    ToolCall { name, call_id, input, provider: Some(provider), ..ToolCall::default() }
}

fn result(kind: ToolKind, item: &Item<'_>) -> ToolResult {
    let (status, error) = outcome(kind, item);
    ToolResult {
        call_id: item.id.clone(),
        input: match kind {
            // Only at their end do these say all that was asked for.
            ToolKind::WebSearch | ToolKind::FileChange => call(kind, item).input,
            _ => Json::null(),
        },
        output: output(kind, item).unwrap_or_default(),
        status: Some(status),
        error,
        duration_ms: item.get("duration_ms", "durationMs").and_then(|value| value.count()),
        ..ToolResult::default()
    }
}

fn output(kind: ToolKind, item: &Item<'_>) -> Option<Json> {
    match kind {
        ToolKind::Command => item.get("aggregated_output", "aggregatedOutput"),
        ToolKind::Mcp => {
            let result = item.fields.get("result")?;
            result.fields().and_then(|result| result.get("content")).or(Some(result))
        }
        ToolKind::Dynamic => item.get("content_items", "contentItems"),
        ToolKind::Collab => item.get("agents_states", "agentsStates"),
        ToolKind::WebSearch => item.fields.get("results").or_else(|| item.fields.get("action")),
        ToolKind::ImageGeneration => item.get("saved_path", "savedPath"),
        // Nothing but their status is told.
        ToolKind::FileChange | ToolKind::ImageView | ToolKind::Sleep => None,
    }
    .map(|value| value.json())
}

fn outcome(kind: ToolKind, item: &Item<'_>) -> (ToolStatus, Option<String>) {
    let message = item.fields.fields("error").and_then(|error| error.string("message"));
    let message = message.or_else(|| item.fields.string("error"));
    match item.fields.text("status").as_deref() {
        Some("declined") => (ToolStatus::Blocked, message.or_else(|| Some("declined".to_owned()))),
        Some("failed" | "error" | "interrupted") => {
            let exit = item.get("exit_code", "exitCode").and_then(|code| code.integer());
            let exit = exit.filter(|_| kind == ToolKind::Command);
            (ToolStatus::Failed, message.or_else(|| exit.map(|code| format!("exit code {code}"))))
        }
        _ if message.is_some() || item.fields.flag("success") == Some(false) => {
            (ToolStatus::Failed, message)
        }
        _ => (ToolStatus::Completed, None),
    }
}

fn tool_name(item: &Item<'_>) -> String {
    item.fields.string("tool").unwrap_or_else(|| "tool".to_owned())
}

fn arguments(item: &Item<'_>) -> Json {
    item.fields.json("arguments").unwrap_or_default()
}

fn input(item: &Item<'_>, keys: &[&str]) -> Json {
    object(keys.iter().filter_map(|key| Some((*key, item.fields.json(key)?))))
}

fn collab_input(item: &Item<'_>) -> Json {
    let keys =
        [("prompt", "prompt"), ("model", "model"), ("receiver_thread_ids", "receiverThreadIds")];
    let value = |(snake, camel): (&'static str, &'static str)| {
        let value = item.get(snake, camel)?;
        (!matches!(value.source(), "\"\"" | "[]")).then(|| (snake, value.json()))
    };
    object(keys.into_iter().filter_map(value))
}

/// Makes an object of foreign values as they stand.
pub(super) fn object<'k>(members: impl Iterator<Item = (&'k str, Json)>) -> Json {
    let members: std::collections::BTreeMap<_, _> = members.collect();
    Json::encode(&members).unwrap_or_default()
}

/// `spawnAgent` and `spawn_agent` are one tool.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
