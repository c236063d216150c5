//! Runs that make no sense: events of every type in any order, at any place and time.

use proptest::prelude::*;
use quipu_event::{Event, Kind};
use quipu_view::{FileTree, FileView};
use serde_json::{Map, Value, json};

use super::transcript::event;

/// Folds events with a view.
pub(crate) fn fold(mut view: impl FileView, events: &[Event]) -> FileTree {
    let mut tree = FileTree::default();
    events.iter().for_each(|event| view.add(event, &mut tree));
    view.finish(&mut tree);
    tree
}

pub(crate) fn any_run() -> impl Strategy<Value = Vec<Event>> {
    let place = (0..Kind::ALL.len(), 0..6_usize, 0..4_usize, 0..60_i64, 0..8_usize, 0..4_u64);
    proptest::collection::vec(place, 1..60).prop_map(|choices| {
        let numbered = choices.into_iter().enumerate();
        numbered.map(|(n, choice)| any_event(n as u64 + 1, choice)).collect()
    })
}

fn any_event(
    n: u64,
    (kind, path, source, second, shape, id): (usize, usize, usize, i64, usize, u64),
) -> Event {
    let kind = Kind::ALL[kind].as_str();
    let path = ["", "a", "a.b", "a[1].c", "d", "loop:1/x"][path];
    let mut line = Map::new();
    line.insert("type".into(), json!(kind));
    line.insert("path".into(), json!(path));
    let clock = format!("2026-01-01T00:00:{second:02}.5Z");
    line.insert("timestamp".into(), json!(clock));
    if let Some(source) = [None, None, Some("subagent:x"), Some("subagent:y/..")][source] {
        line.insert("source".into(), json!(source));
    }
    if kind.contains("call_workflow") {
        line.insert("child_run_id".into(), json!(format!("child{id}")));
    }
    line.insert("payload".into(), payload(kind, shape, id));
    event(n, line)
}

fn payload(kind: &str, shape: usize, id: u64) -> Value {
    let call_id = format!("call{id}");
    match (shape, kind) {
        (0, _) => Value::Null,
        (1, _) => json!({"name": 7, "blocks": "x"}),
        (_, "message.user") => json!({"role": "user", "blocks": [
            {"type": "text", "text": "do", "purpose": "prompt"},
            {"type": "tool_result", "tool_id": call_id, "tool_content": [{"text": "t"}]},
            {"type": "image", "content": {"a": 1}}]}),
        (2, "message.assistant") => {
            json!({"role": "assistant", "blocks": [], "message_id": id.to_string()})
        }
        (_, "message.assistant") => json!({"role": "assistant", "model": "gpt-5", "blocks": [
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "so"},
            {"type": "tool_use", "tool_name": "Read", "tool_id": call_id, "tool_input": [id]}]}),
        (_, "tool.call") => json!({"name": "Read", "call_id": call_id, "input": {"a": "\u{fffd}"}}),
        (_, "tool.result") => {
            json!({"name": "Read", "call_id": call_id, "output": "x", "duration_ms": 3000, "error": "e"})
        }
        (_, "usage") => json!({"input_tokens": id, "output_tokens": 2, "cost_usd": 0.5,
            "scope": if shape > 4 { "message" } else { "session" }}),
        (_, "system") => {
            let subtypes = ["note", "compaction", "subagent_started", "subagent_completed"];
            json!({"subtype": subtypes[shape % 4], "agent_id": "x", "tool_id": call_id})
        }
        (3, "step.started") => json!({"name": "s", "kind": "command",
            "blocks": [{"type": "command", "command": "ls"}]}),
        (_, "step.completed") => {
            json!({"name": "s", "kind": "agent", "status": "failed", "error": "no", "duration_ms": 70_000})
        }
        _ => json!({"name": "s", "kind": "agent", "agent": {"provider": "claude"}}),
    }
}
