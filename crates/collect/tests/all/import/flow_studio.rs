//! Flow Studio run directories.

use std::path::PathBuf;

use quipu_event::Kind;
use serde_json::{Value, json};

use super::{Desk, files_in, outline, payloads, rebuilt};

fn event(second: u64, kind: &str, step: Option<&str>, payload: Value) -> String {
    let event = json!({
        "run_id": "run-7", "ts": format!("2025-12-09T09:38:{second:02}.5+00:00Z"), "kind": kind,
        "flow_key": "build", "step_id": step, "agent_key": null, "payload": payload,
    });
    event.to_string() + "\n"
}

fn receipt(step: &str, tokens: Value) -> String {
    let receipt = json!({
        "engine": "claude-step", "mode": "stub", "model": "claude-stub", "step_id": step,
        "flow_key": "build", "run_id": "run-7", "agent_key": "coder", "status": "succeeded",
        "started_at": "2025-12-09T09:38:05+00:00Z", "completed_at": "2025-12-09T09:38:06+00:00Z",
        "duration_ms": 9, "tokens": tokens,
    });
    serde_json::to_string_pretty(&receipt).unwrap()
}

/// A flow whose step runs twice, and a step that the log does not know.
pub(crate) fn put_run(desk: &Desk) -> PathBuf {
    let log = event(1, "run_created", None, json!({ "flows": ["build"] }))
        + &event(2, "run_started", None, json!({ "mode": "stepwise" }))
        + &event(3, "step_start", Some("code"), json!({ "engine": "claude-step", "role": "x" }))
        + &event(3, "tool_start", Some("code"), json!({ "tool": "Read", "input": "a" }))
        + &event(
            3,
            "tool_end",
            Some("code"),
            json!({ "tool": "Read", "success": true, "output": "b" }),
        )
        + &event(4, "step_end", Some("code"), json!({ "status": "failed", "error": "no" }))
        + &event(4, "route_decision", Some("code"), json!({ "to_step": "code", "reason": "loop" }))
        + &event(5, "step_start", Some("code"), json!({ "engine": "claude-step" }))
        + &event(5, "tool_start", Some("code"), json!({ "tool": "Read", "input": "a" }))
        + &event(6, "step_end", Some("code"), json!({ "status": "succeeded", "duration_ms": 12 }))
        + "{\"event\": \"run:paused\", \"timestamp\": \"2025-12-09T09:38:06Z\"}\n"
        + &event(8, "run_completed", None, json!({ "status": "succeeded" }));
    desk.put("run/events.jsonl", log);
    let transcript = r#"{"timestamp": "2025-12-09T09:38:05+00:00Z", "role": "system", "content": "You code."}
{"timestamp": "2025-12-09T09:38:05+00:00Z", "role": "user", "content": "Code \u2192 x"}
{"timestamp": "2025-12-09T09:38:05+00:00Z", "type": "tool_use", "tool": "Read", "input": {"p": "a"}}
{"timestamp": "2025-12-09T09:38:05+00:00Z", "type": "tool_result", "tool": "Read", "success": false, "output": "gone"}
{"timestamp": "2025-12-09T09:38:05+00:00Z", "type": "result", "usage": {"prompt": 10, "completion": 5, "total": 15}}

{"timestamp": "2025-12-09T09:38:06+00:00Z", "role": "assistant", "content": "Done.", "type": "message"}"#;
    desk.put("run/build/llm/code-a-coder-claude.jsonl", transcript);
    desk.put(
        "run/build/receipts/code-a-coder.json",
        receipt("code", json!({ "prompt": 10, "completion": 5, "total": 15 })),
    );
    desk.put(
        "run/build/llm/docs-writer-gemini.jsonl",
        r#"{"timestamp":"2025-12-09T09:38:07Z","type":"assistant","message":{"role":"assistant","id":"m1","content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}
{"timestamp":"2025-12-09T09:38:07Z","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}
{"timestamp":"2025-12-09T09:38:07Z","type":"result","usage":{"input_tokens":3,"output_tokens":4}}
"#,
    );
    desk.put("run/build/receipts/prompt_receipt_code.json", "{\"prompt_hash\": \"ab\"}");
    desk.put("run/meta.json", r#"{"id": "run-7", "spec": {"flow_keys": ["build"]}, "status": "succeeded", "sdlc_status": "ok", "completed_at": "2025-12-09T09:38:09+00:00Z"}"#);
    desk.put("run/run_state.json", "{\n  \"status\": \"pending\"\n}\n");
    desk.path("run")
}

#[test]
fn steps_have_their_attempts_and_the_last_one_its_files() {
    let desk = Desk::new();
    let outcome = desk.import_one(&put_run(&desk));
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    assert_eq!(outcome.run_id.as_str(), "run-7");
    let events = desk.events(&outcome.run_id);
    let expected = [
        "run.created",
        "run.started",
        "step.started build",
        "step.started build.code",
        "tool.call build.code",
        "tool.result build.code",
        "step.completed build.code",
        "system build.code",
        "step.started build.code",
        "system build.code",
        "message.user build.code",
        "message.user build.code",
        "tool.call build.code",
        "tool.result build.code",
        "system build.code",
        "message.assistant build.code",
        "system",
        "system build.code",
        "usage build.code",
        "step.completed build.code",
        "system",
        "step.started build.docs",
        "message.assistant build.docs",
        "tool.call build.docs",
        "tool.result build.docs",
        "system build.docs",
        "usage build.docs",
        "step.completed build.docs",
        "step.completed build",
        "run.completed",
    ];
    assert_eq!(outline(&events), expected);
    let started = &payloads(&events, Kind::RunStarted)[0];
    assert_eq!(started["labels"]["stub"], "true");
    let starts = payloads(&events, Kind::StepStarted);
    assert_eq!((&starts[1]["attempt"], &starts[2]["attempt"]), (&1.into(), &2.into()));
    assert_eq!(starts[1]["agent"]["provider"], "claude");
    let last = events.iter().rfind(|event| event.path.as_str() == "build.code").unwrap();
    assert_eq!((last.kind.clone(), last.iteration), (Kind::StepCompleted, 1));
    let blocks = &payloads(&events, Kind::MessageUser)[0]["blocks"];
    assert_eq!(blocks[0]["purpose"], "system_prompt");
}

#[test]
fn tokens_are_counted_once_whatever_says_them() {
    let desk = Desk::new();
    let outcome = desk.import_one(&put_run(&desk));
    let events = desk.events(&outcome.run_id);
    // The receipt counts where there is one; the stream's own end where there is none.
    let end = &payloads(&events, Kind::RunCompleted)[0];
    assert_eq!(end["usage"], json!({ "input_tokens": 13, "output_tokens": 9 }));
    assert_eq!(payloads(&events, Kind::Usage).len(), 2);
    super::wink::assert_counted_once();
}

#[test]
fn every_foreign_line_and_document_is_kept_to_the_byte() {
    let desk = Desk::new();
    let outcome = desk.import_one(&put_run(&desk));
    let events = desk.events(&outcome.run_id);
    assert_eq!(rebuilt(&events), files_in(&desk.path("run")));
}

#[test]
fn a_run_without_a_log_is_told_from_its_files_alone() {
    let desk = Desk::new();
    put_run(&desk);
    std::fs::remove_file(desk.path("run/events.jsonl")).unwrap();
    std::fs::remove_file(desk.path("run/meta.json")).unwrap();
    let outcome = desk.import_one(&desk.path("run"));
    assert_eq!(outcome.run_id.as_str(), "run-7");
    let events = desk.events(&outcome.run_id);
    let steps: Vec<_> = payloads(&events, Kind::StepStarted);
    let names: Vec<_> = steps.iter().map(|step| step["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["build", "code", "docs"]);
    assert_eq!(rebuilt(&events), files_in(&desk.path("run")));
}

#[test]
fn a_log_that_says_only_how_long_steps_took_has_steps_all_the_same() {
    let desk = Desk::new();
    let timing =
        json!({ "duration_ms": 2, "started_at": "2025-12-09T09:38:01+00:00", "iteration": 1 });
    let log = event(1, "run_created", None, json!({}))
        + &event(2, "file_changes", Some("a"), json!({ "files": [] }))
        + &event(2, "step_timing", Some("a"), timing)
        + &event(3, "run_completed", None, json!({ "status": "succeeded" }));
    desk.put("head/events.jsonl", log);
    let outcome = desk.import_one(&desk.path("head"));
    let events = desk.events(&outcome.run_id);
    let expected = [
        "run.created",
        "run.started",
        "system build.a",
        "step.started build",
        "step.started build.a",
        "step.completed build.a",
        "step.completed build",
        "run.completed",
    ];
    assert_eq!(outline(&events), expected);
    assert_eq!(payloads(&events, Kind::RunCompleted)[0]["status"], "succeeded");
}
