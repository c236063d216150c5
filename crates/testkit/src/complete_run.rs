//! A run with an event of every type in it, in an order that makes sense.

use quipu_event::payload::{Message, Status, ToolCall, ToolResult, Usage};
use quipu_event::{Draft, Fidelity, Json, Kind, Origin, RunId};
use serde::Serialize;
use serde_json::json;

use crate::drafts::{
    assistant_text, run_completed, run_started, step_completed, step_started, user_text,
};

/// Returns a whole run, small and sound: every type at least once, raw and foreign lines too.
///
/// It calls the run `child`, which has to exist for the run to be sound.
pub fn complete_run(child: &RunId) -> Vec<Draft> {
    let call =
        |kind| draft(kind, &json!({ "name": "c", "kind": "call_workflow" })).at("c".into(), 0);
    let tool = ToolCall { name: "Read".into(), call_id: "1".into(), ..ToolCall::default() };
    let answer = ToolResult { name: "Read".into(), call_id: "1".into(), ..ToolResult::default() };
    let foreign = Origin::new("s.jsonl", 1, 2);
    vec![
        draft(Kind::RunCreated, &json!({ "name": "all", "kind": "workflow" })),
        run_started("all"),
        draft(Kind::ConfigLoaded, &json!({})),
        step_started("a"),
        draft(Kind::PromptRendered, &json!({})),
        draft(Kind::SkillIndexed, &json!({})),
        draft(Kind::SkillLoaded, &json!({})),
        draft(Kind::MemoryRecallStarted, &json!({})),
        draft(Kind::MemoryRecallCompleted, &json!({})),
        user_text("é\n\u{1f980}"),
        assistant_text("ok").by("subagent:1"),
        draft(Kind::MessageAssistant, &Message::assistant(vec![])).from_origin(foreign),
        draft(Kind::ToolCall, &tool),
        draft(Kind::FileRead, &json!({ "file": "f" })),
        draft(Kind::FileWritten, &json!({ "file": "f" })),
        draft(Kind::FileRejected, &json!({ "file": "f", "reason": "no" })),
        draft(Kind::ToolResult, &answer),
        draft(Kind::Usage, &Usage { output_tokens: Some(3), ..Usage::default() }),
        draft(Kind::Error, &json!({ "code": "E", "message": "m" })),
        draft(Kind::MemoryWriteRequested, &Json::null()),
        Draft::unknown(b"\xff", None, "not text"),
        Draft::unknown(b"{\"a\":1}", Some("a"), "no rule"),
        draft(Kind::System, &json!({ "subtype": "compaction" })),
        call(Kind::CallWorkflowStarted).calling(child.clone()),
        call(Kind::CallWorkflowCompleted).calling(child.clone()),
        draft(Kind::DeliverableCheckStarted, &json!({})),
        draft(Kind::DeliverableMissing, &json!({ "missing": ["x"] })),
        draft(Kind::DeliverableCheckCompleted, &json!({ "result": "incomplete" })),
        step_completed("a", Status::Succeeded),
        run_completed("all", Status::Succeeded),
    ]
}

/// Returns a tool call vouched for by the router.
pub fn tool_call(call_id: &str) -> Draft {
    let fidelity = Fidelity::Router;
    let call =
        ToolCall { name: "Read".into(), call_id: call_id.into(), fidelity, ..Default::default() };
    draft(Kind::ToolCall, &call)
}

/// Returns the answer to a tool call.
pub fn tool_result(call_id: &str) -> Draft {
    let fidelity = Fidelity::Router;
    let result =
        ToolResult { name: "Read".into(), call_id: call_id.into(), fidelity, ..Default::default() };
    draft(Kind::ToolResult, &result)
}

fn draft<T: Serialize>(kind: Kind, payload: &T) -> Draft {
    Draft::new(kind, payload).expect("flat payloads encode")
}
