//! WINK debug bundles.

use std::io::Write;
use std::path::PathBuf;

use quipu_event::Kind;
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;

use super::{Desk, files_in, outline, payloads, rebuilt};

const MANIFEST: &str = r#"{"format_version":"1.0.0","bundle_id":"b-1","created_at":"2026-11-15T18:12:15.9+00:00","request":{"request_id":"","session_id":"s","status":"error","started_at":"2026-11-15T18:12:15.9+00:00","ended_at":"2026-11-15T18:12:20+00:00"},"prompt":{"ns":"demo","key":"k","adapter":"claude_agent_sdk"}}"#;

fn entry(number: u64, kind: &str, source: &str, detail: Value, raw: Option<Value>) -> String {
    let mut context = json!({
        "component": "transcript", "prompt_name": "demo", "adapter": "claude_agent_sdk",
        "entry_type": kind, "sequence_number": number, "source": source,
        "timestamp": format!("2026-11-15T18:12:{:02}+00:00", number + 15), "session_id": "s",
        "detail": detail,
    });
    if let Some(raw) = raw {
        context["raw"] = raw.to_string().into();
    }
    let line = json!({
        "timestamp": "2026-11-15T18:12:16+00:00", "level": "DEBUG",
        "logger": "weakincentives.runtime.transcript", "event": "transcript.entry",
        "message": format!("transcript entry: {kind}"), "context": context,
    });
    line.to_string() + "\n"
}

fn entries() -> Vec<String> {
    let text = json!({ "type": "text", "text": "Let me look" });
    let call = json!({ "type": "tool_use", "id": "t1", "name": "Bash", "input": { "c": "ls" } });
    let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
    let reply = |content: Value| {
        let message =
            json!({ "role": "assistant", "id": "m1", "content": content, "usage": usage });
        json!({ "type": "assistant", "message": message })
    };
    let answer =
        json!({ "type": "tool_result", "tool_use_id": "t1", "content": "a", "is_error": true });
    vec![
        entry(1, "user_message", "main", json!({ "text": "Hello" }), None),
        entry(
            2,
            "assistant_message",
            "main",
            json!({ "sdk_entry": reply(json!([text])) }),
            Some(reply(json!([text, call]))),
        ),
        entry(3, "tool_use", "main", json!({ "sdk_entry": call }), None),
        entry(4, "tool_result", "main", json!({ "sdk_entry": answer, "tool_name": "Bash" }), None),
        entry(1, "thinking", "subagent:a7", json!({ "text": "hmm" }), None),
        // The second line of the same message: its tokens are the same ones.
        entry(5, "assistant_message", "main", json!({ "sdk_entry": reply(json!([text])) }), None),
        entry(
            6,
            "system_event",
            "main",
            json!({ "sdk_entry": { "type": "summary" }, "subtype": "compaction" }),
            None,
        ),
        entry(7, "unknown", "main", json!({ "parse_error": "Invalid JSON" }), None),
    ]
}

/// The files of a bundle whose transcript lacks one entry of the log.
fn files(metrics: bool) -> Vec<(&'static str, String)> {
    let start = r#"{"timestamp":"2026-11-15T18:12:15.9+00:00","level":"DEBUG","logger":"x","event":"transcript.start","message":"","context":{}}"#;
    let entries = entries();
    let mut files = vec![
        ("manifest.json", MANIFEST.to_owned()),
        ("logs/app.jsonl", format!("{start}\n{}", entries.concat())),
        ("transcript.jsonl", entries[..6].concat() + &entries[7]),
        ("error.json", r#"{"type":"ValueError","message":"broke","traceback":["a"]}"#.to_owned()),
        ("request/input.json", "{\n  \"x\": 1\n}".to_owned()),
        ("filesystem/notes.json", "not json".to_owned()),
    ];
    if metrics {
        let metrics = r#"{"timing":{},"token_usage":{"input_tokens":10,"output_tokens":5,"cached_tokens":null}}"#;
        files.push(("metrics.json", metrics.to_owned()));
    }
    files
}

/// A bundle that lies unpacked.
pub(crate) fn put_folder(desk: &Desk, metrics: bool) -> PathBuf {
    for (name, content) in files(metrics) {
        desk.put(&format!("b/debug_bundle/{name}"), content);
    }
    desk.path("b")
}

/// The same as an archive, with whatever else is to be in it.
pub(crate) fn put_archive(desk: &Desk, more: &[(&str, &[u8])]) -> PathBuf {
    let path = desk.put("b.zip", "");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    for (name, content) in files(false) {
        zip.start_file(format!("debug_bundle/{name}"), SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    for (name, content) in more {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap();
    path
}

/// The bundle's metrics and the agent's own words are the same tokens.
pub(crate) fn assert_counted_once() {
    for metrics in [true, false] {
        let desk = Desk::new();
        let outcome = desk.import_one(&put_folder(&desk, metrics));
        let events = desk.events(&outcome.run_id);
        assert_eq!(payloads(&events, Kind::Usage).len(), 1, "metrics: {metrics}");
        let end = &payloads(&events, Kind::RunCompleted)[0];
        assert_eq!(end["usage"], json!({ "input_tokens": 10, "output_tokens": 5 }));
    }
}

#[test]
fn entries_become_events_and_nothing_is_told_twice() {
    let desk = Desk::new();
    let outcome = desk.import_one(&put_folder(&desk, false));
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    let events = desk.events(&outcome.run_id);
    let expected = [
        "run.started",
        "system",
        "message.user",
        "message.assistant",
        "tool.call",
        "tool.result",
        "message.assistant",
        "message.assistant",
        "usage",
        "system",
        "unknown",
        "error",
        "run.completed",
    ];
    assert_eq!(outline(&events), expected);
    let blocks = &payloads(&events, Kind::MessageAssistant)[0]["blocks"];
    assert_eq!((&blocks[0]["type"], &blocks[1]["tool_id"]), (&"text".into(), &"t1".into()));
    let result = &payloads(&events, Kind::ToolResult)[0];
    assert_eq!((&result["status"], &result["input"]["c"]), (&"failed".into(), &"ls".into()));
    assert_eq!(events[6].source.as_deref(), Some("subagent:a7"));
    let end = &payloads(&events, Kind::RunCompleted)[0];
    assert_eq!((&end["status"], &end["error"]), (&"failed".into(), &"broke".into()));

    let mut kept = rebuilt(&events);
    let mut theirs = files_in(&desk.path("b/debug_bundle"));
    // The transcript is the entries of the log, but for one.
    kept.remove("transcript.jsonl");
    theirs.remove("transcript.jsonl");
    assert_eq!(kept, theirs);
    let notes = payloads(&events, Kind::System);
    let note = notes.iter().find(|note| note["file"] == "transcript.jsonl").unwrap();
    assert_eq!((&note["lines_of"], &note["without"]), (&"logs/app.jsonl".into(), &json!([8])));
}

#[test]
fn an_archive_and_its_folder_are_the_same_run() {
    let desk = Desk::new();
    let from_folder = desk.import_one(&put_folder(&desk, false));
    let from_archive = desk.import_one(&put_archive(&desk, &[]));
    assert_eq!(from_archive.run_id, from_folder.run_id);
    assert_eq!(from_archive.done, quipu_collect::import::Done::AlreadyThere);
}

#[test]
fn a_bundle_with_a_transcript_and_no_log_is_enough() {
    let desk = Desk::new();
    put_folder(&desk, false);
    std::fs::remove_file(desk.path("b/debug_bundle/logs/app.jsonl")).unwrap();
    let outcome = desk.import_one(&desk.path("b"));
    let events = desk.events(&outcome.run_id);
    assert_eq!(payloads(&events, Kind::MessageAssistant).len(), 3);
    assert_eq!(payloads(&events, Kind::Usage).len(), 1);
}
