//! What is told of steps, tools and files: their times, their names, and what there is no room for.

use serde_json::json;

use super::{exported, lines, log, of_type, transcript, tree_of};
use crate::all::transcript::event;

#[test]
fn what_nobody_measured_or_named_is_neither_zero_nor_empty() {
    let tree = tree_of(
        r#"
{"type":"run.started","payload":{"name":"r","kind":"workflow","cwd":"/w"}}
{"type":"tool.call","payload":{"name":"Open","call_id":"c1","input":{}}}
{"type":"tool.result","payload":{"name":"Heard","call_id":"c2","output":"x"}}
{"type":"file.written","payload":{"bytes":3}}
"#,
    );
    let text = transcript(&tree);
    assert!(text.contains("| `Open` | 1 | 0 | 0 | 0 | 1 | unknown |"), "{text}");
    assert!(text.contains("| `Heard` | 1 | 1 | 0 | 0 | 0 | unknown |"), "{text}");
    assert!(!text.contains("[]("), "{text}");
}

#[test]
fn a_result_and_a_file_belong_to_the_call_of_their_own_step_and_agent() {
    for (a, b) in [
        (r#""path":"fan.a""#, r#""path":"fan.b""#),
        (r#""path":"ask""#, r#""path":"ask","source":"subagent:1""#),
    ] {
        let tree = tree_of(&format!(
            r#"
{{"type":"tool.call",{a},"payload":{{"name":"Read","call_id":"item_1","input":{{"path":"a"}}}}}}
{{"type":"tool.call",{b},"payload":{{"name":"Write","call_id":"item_1","input":{{"path":"b"}}}}}}
{{"type":"file.read",{a},"payload":{{"file":"a","bytes":3,"call_id":"item_1"}}}}
{{"type":"tool.result",{a},"payload":{{"name":"Read","call_id":"item_1","output":"AAA"}}}}
{{"type":"tool.result",{b},"payload":{{"name":"Write","call_id":"item_1","output":"BBB"}}}}
"#
        ));
        let tools = lines(&tree, "logs/tools.jsonl");
        let facts = ["tool_name", "result_summary", "duration_ms", "artifacts"];
        let told: Vec<_> =
            tools.iter().map(|tool| json!(facts.map(|fact| tool[fact].clone()))).collect();
        assert_eq!(told, [json!(["Read", "AAA", 3000, []]), json!(["Write", "BBB", 3000, ["b"]])]);
        let log = log(&tree);
        let starts = of_type(&log, "tool.started");
        for (kind, start) in [("file.read", starts[0]), ("file.written", starts[1])] {
            let files = of_type(&log, kind);
            assert_eq!(files.len(), 1, "{kind} for {a} and {b}");
            assert_eq!(files[0]["parent_event_id"], start["event_id"]);
            assert_eq!(files[0]["data"]["step"], start["data"]["step"]);
        }
    }
}

#[test]
fn a_step_is_told_with_the_time_it_took_even_if_its_end_does_not_say() {
    let tree = tree_of(
        r#"
{"type":"step.started","path":"a","payload":{"name":"a","kind":"command"}}
{"type":"system","payload":{"subtype":"x"}}
{"type":"step.completed","path":"a","payload":{"name":"a","kind":"command","status":"succeeded"}}
{"type":"step.completed","path":"b","payload":{"name":"b","kind":"command","status":"succeeded"}}
"#,
    );
    let text = transcript(&tree);
    assert!(text.contains("- 00:00:01 to 00:00:03 `a` (command) succeeded, 2.0 s\n"), "{text}");
    assert!(text.contains("- 00:00:04 `b` (command) succeeded\n"), "{text}");
}

#[test]
fn a_file_that_was_refused_is_among_the_errors_once() {
    let tree = tree_of(
        r#"
{"type":"file.rejected","payload":{"file":"/etc/passwd","reason":"outside"}}
{"type":"tool.call","payload":{"name":"Write","call_id":"c","input":{"path":"x"}}}
{"type":"tool.result","payload":{"name":"Write","call_id":"c","status":"blocked","error":"no"}}
"#,
    );
    let errors = lines(&tree, "logs/errors.jsonl");
    let codes: Vec<_> = errors.iter().map(|error| error["code"].clone()).collect();
    assert_eq!(codes, ["file_rejected", "tool_blocked"]);
    assert_eq!(errors[0]["details"], json!({"path": "/etc/passwd"}));
}

#[test]
fn steps_that_there_is_no_room_for_are_counted_with_their_starts() {
    let (mut many, mut n) = (Vec::new(), 0);
    for (path, status) in (0..500).map(|nth| (nth, if nth < 250 { "failed" } else { "skipped" })) {
        for kind in ["step.started", "step.completed"] {
            n += 1;
            let payload = json!({"name": "s", "kind": "command", "status": status});
            let line = json!({"type": kind, "path": format!("s{path}"), "payload": payload});
            many.push(event(n, line.as_object().cloned().expect("it is one")));
        }
    }
    let (_, losses) = exported(&many);
    // Of the hundred lines that have to go, fifty are of failures, which the event log has too.
    let expected = [("step.completed".to_owned(), 50), ("step.started".to_owned(), 100)];
    assert_eq!(losses.events, expected.into());
}
