//! kgent run directories.

use std::path::PathBuf;

use quipu_event::Kind;
use serde_json::json;

use super::{Desk, files_in, outline, payloads, rebuilt};

/// One line of the log.
fn line(sequence: u64, kind: &str, correlation: Option<&str>, data: serde_json::Value) -> String {
    let mut event = json!({
        "event_id": format!("evt_{sequence}"), "sequence": sequence, "run_id": "run_1",
        "session_id": "sess_1", "task_id": "task_1", "type": kind,
        "timestamp": format!("2026-04-26T10:00:{sequence:02}Z"), "actor": "runtime",
        "severity": "info", "summary": format!("{kind} happened"), "data": data,
    });
    if let Some(id) = correlation {
        event["correlation_id"] = id.into();
    }
    event.to_string() + "\n"
}

pub(crate) const TYPES: [&str; 21] = [
    "run.created",
    "run.started",
    "config.loaded",
    "prompt.rendered",
    "skill.indexed",
    "skill.loaded",
    "memory.recall.started",
    "memory.recall.completed",
    "memory.write.requested",
    "tool.started",
    "tool.completed",
    "tool.failed",
    "file.read",
    "file.written",
    "file.rejected",
    "deliverable.check.started",
    "deliverable.check.completed",
    "deliverable.missing",
    "error",
    "run.completed",
    "run.failed",
];

/// A run with all types but the second end.
pub(crate) fn put_run(desk: &Desk) -> PathBuf {
    let mut log = String::new();
    for (at, kind) in TYPES[..20].iter().enumerate() {
        let (id, data) = match *kind {
            "tool.started" => (
                Some("call_1"),
                json!({ "tool_name": "read_file", "args_summary": { "path": "a" } }),
            ),
            "tool.completed" => (
                Some("call_1"),
                json!({ "tool_name": "read_file", "result_summary": "3 lines", "duration_ms": 7 }),
            ),
            "tool.failed" => (
                Some("call_2"),
                json!({ "tool_name": "grep", "status": "blocked", "error": { "message": "no" } }),
            ),
            "file.read" | "file.written" | "file.rejected" => {
                (Some("call_1"), json!({ "path": "a", "bytes": 3 }))
            }
            "deliverable.check.completed" | "deliverable.missing" => {
                (None, json!({ "required": ["r.md"], "missing": ["r.md"], "status": "incomplete" }))
            }
            "error" => (
                None,
                json!({ "code": "E1", "message": "bad", "category": "tool", "retryable": true }),
            ),
            "run.completed" => (None, json!({ "duration_ms": 1234 })),
            _ => (None, json!({ "n": at })),
        };
        log += &line(at as u64 + 1, kind, id, data);
    }
    desk.put("runs/run_1/events.jsonl", log);
    desk.put("runs/run_1/transcript.md", "# Run Transcript\n");
    desk.put("runs/run_1/run.json", r#"{"run_id":"run_1","status":"completed"}"#);
    let tools = r#"{"call_id":"call_1","tool_name":"read_file","status":"completed"}
{"call_id":"call_9","tool_name":"list_files","started_at":"2026-04-26T10:00:12Z","completed_at":"2026-04-26T10:00:13Z","status":"completed","result_summary":"2"}"#;
    desk.put("runs/run_1/logs/tools.jsonl", tools);
    desk.put("runs/run_1/logs/errors.jsonl", "{\"code\":\"E1\",\"message\":\"bad\"}\n");
    desk.put("runs/run_1/deliverables/r.json", "{ not json, and not ours to judge");
    desk.path("runs/run_1")
}

#[test]
fn every_type_of_event_has_its_place() {
    let desk = Desk::new();
    let outcome = desk.import_one(&put_run(&desk));
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    assert_eq!(outcome.run_id.as_str(), "run_1");
    let events = desk.events(&outcome.run_id);
    let kinds = outline(&events);
    assert_eq!(kinds[..2], ["run.created", "run.started"]);
    for kind in TYPES.iter().filter(|kind| !kind.starts_with("tool.") && **kind != "run.failed") {
        assert!(kinds.iter().any(|found| found == kind), "{kind} in {kinds:?}");
    }
    assert_eq!(kinds.last().unwrap(), "run.completed");
    // One from the log, one whose start is missing, and one that only the detailed log has.
    let calls = payloads(&events, Kind::ToolCall);
    let ids: Vec<_> = calls.iter().map(|call| call["call_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["call_1", "call_2", "call_9"]);
    let results = payloads(&events, Kind::ToolResult);
    assert_eq!(
        (&results[0]["duration_ms"], &results[0]["input"]["path"]),
        (&7.into(), &"a".into())
    );
    assert_eq!((&results[1]["status"], &results[1]["error"]), (&"blocked".into(), &"no".into()));
    assert_eq!(payloads(&events, Kind::Error).len(), 1);
    let end = &payloads(&events, Kind::RunCompleted)[0];
    assert_eq!((&end["status"], &end["duration_ms"]), (&"succeeded".into(), &1234.into()));
    assert_eq!(rebuilt(&events), files_in(&desk.path("runs/run_1")));
}

#[test]
fn the_number_decides_the_order_and_a_failed_run_says_why() {
    let desk = Desk::new();
    let log = line(3, "run.failed", None, json!({ "error": "out of paper" }))
        + &line(2, "skill.loaded", None, json!({}))
        + &line(1, "run.started", None, json!({}));
    desk.put("r/events.jsonl", log);
    let outcome = desk.import_one(&desk.path("r"));
    let events = desk.events(&outcome.run_id);
    assert_eq!(outline(&events), ["run.started", "skill.loaded", "run.completed"]);
    let end = &payloads(&events, Kind::RunCompleted)[0];
    assert_eq!((&end["status"], &end["error"]), (&"failed".into(), &"out of paper".into()));
    assert_eq!(rebuilt(&events), files_in(&desk.path("r")));
}

#[test]
fn a_file_is_of_the_call_that_was_last_told_of_where_ids_come_back() {
    let desk = Desk::new();
    let kinds = ["tool.started", "file.read", "tool.completed", "file.written"];
    let again = kinds.iter().cycle().take(3 * kinds.len()).enumerate();
    let log: String = again
        .map(|(at, kind)| {
            line(at as u64 + 1, kind, Some("c"), json!({ "tool_name": "Edit", "path": "a" }))
        })
        .collect();
    desk.put("r/events.jsonl", log);
    let events = desk.events(&desk.import_one(&desk.path("r")).run_id);
    for kind in [Kind::ToolCall, Kind::FileRead, Kind::ToolResult, Kind::FileWritten] {
        let told = payloads(&events, kind.clone());
        let ids: Vec<_> = told.iter().map(|payload| payload["call_id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["c", "c#2", "c#3"], "{kind}");
    }
}
