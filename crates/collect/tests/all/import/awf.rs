//! AWF transcripts.

use quipu_collect::import::Done;
use quipu_event::{Kind, RunId};

use super::{Desk, outline, payloads};

/// A run with a loop, a step tried twice, messages at the workflow's name, a routed call and a child.
pub(crate) const PARENT: &str = r#"{"seq":1,"run_id":"p-1","type":"step.started","path":"ask","iteration":0,"timestamp":"2026-06-08T10:14:42.123456789+02:00","payload":{"name":"ask","kind":"agent"}}
{"seq":3,"run_id":"p-1","type":"tool.call","path":"","iteration":0,"timestamp":"2026-06-08T10:14:44+02:00","payload":{"name":"Read","call_id":"c1","input":{"path":"a"},"output":null,"fidelity":"router"}}
{"seq":2,"run_id":"p-1","type":"message.user","path":"review","iteration":0,"timestamp":"2026-06-08T10:14:43+02:00","payload":{"role":"user","blocks":[{"type":"text","fidelity":"router","text":"Review \u003ca\u003e"},{"type":"text","fidelity":"router","text":"You review."}]}}
{"seq":4,"run_id":"p-1","type":"tool.result","path":"","iteration":0,"timestamp":"2026-06-08T10:14:45+02:00","payload":{"name":"Read","call_id":"c1","input":{"path":"a"},"output":{"Content":[{"Type":"text","Text":"one"},{"Type":"text","Text":"two"}],"IsError":true},"fidelity":"router"}}
{"seq":5,"run_id":"p-1","type":"message.assistant","path":"review","iteration":0,"timestamp":"2026-06-08T10:14:46+02:00","payload":[{"type":"text","fidelity":"agent_emitted","text":"Fine."}]}
{"seq":6,"run_id":"p-1","type":"step.completed","path":"ask","iteration":0,"timestamp":"2026-06-08T10:14:47+02:00","payload":{"name":"ask","kind":"agent","result":true}}
{"seq":8,"run_id":"p-1","type":"step.completed","path":"loop:1/loop:2/log","iteration":2,"timestamp":"2026-06-08T10:14:48+02:00","payload":{"name":"log","kind":"command","error":"exit code 1","result":false}}
{"seq":9,"run_id":"p-1","child_run_id":"c-1","type":"step.call_workflow.started","path":"call","iteration":0,"timestamp":"2026-06-08T10:14:49+02:00","payload":{"name":"call","kind":"call_workflow"}}
{"seq":10,"run_id":"c-1","parent_run_id":"p-1","type":"step.started","path":"process","iteration":0,"timestamp":"2026-06-08T10:14:50+02:00","payload":{"name":"process","kind":"command"}}
{"seq":11,"run_id":"p-1","child_run_id":"c-1","type":"step.call_workflow.completed","path":"call","iteration":0,"timestamp":"2026-06-08T10:14:51+02:00","payload":{"name":"call","kind":"call_workflow"}}
"#;

fn id(text: &str) -> RunId {
    RunId::parse(text).unwrap()
}

#[test]
fn a_transcript_becomes_one_of_ours_with_its_child_beside_it() {
    let desk = Desk::new();
    let path = desk.put("transcripts/some-other-name.jsonl", PARENT);
    let outcomes = desk.import(&path);
    let ids: Vec<_> = outcomes.iter().map(|outcome| outcome.run_id.as_str()).collect();
    assert_eq!(ids, ["c-1", "p-1"]);
    assert!(outcomes.iter().all(|outcome| outcome.problems.is_empty()));
    desk.assert_sound(&id("p-1"));
    desk.assert_sound(&id("c-1"));

    let events = desk.events(&id("p-1"));
    let expected = [
        "run.started",
        "step.started ask",
        "message.user ask",
        "tool.call ask",
        "tool.result ask",
        "message.assistant ask",
        "step.completed ask",
        "step.started loop[1].loop[2].log",
        "step.completed loop[1].loop[2].log",
        "step.call_workflow.started call",
        "step.call_workflow.completed call",
        "run.completed",
    ];
    assert_eq!(outline(&events), expected);
    assert!(events.iter().enumerate().all(|(at, event)| event.seq == at as u64 + 1));
    assert_eq!(events[1].timestamp.to_string(), "2026-06-08T08:14:42.123456789Z");
    let started = &payloads(&events, Kind::RunStarted)[0];
    assert_eq!((&started["name"], &started["kind"]), (&"review".into(), &"workflow".into()));
    assert_eq!(started["labels"]["imported_from"], "awf");
    let said = &payloads(&events, Kind::MessageUser)[0]["blocks"];
    assert_eq!((&said[0]["purpose"], &said[0]["text"]), (&"prompt".into(), &"Review <a>".into()));
    assert_eq!(said[1]["purpose"], "system_prompt");
    let answer = &payloads(&events, Kind::ToolResult)[0];
    assert_eq!((&answer["output"], &answer["status"]), (&"one\ntwo".into(), &"failed".into()));
    assert_eq!(payloads(&events, Kind::MessageAssistant)[0]["role"], "assistant");
    let ends = payloads(&events, Kind::StepCompleted);
    assert_eq!((&ends[0]["status"], &ends[1]["status"]), (&"succeeded".into(), &"failed".into()));

    let child = desk.events(&id("c-1"));
    assert!(child.iter().all(|event| event.parent_run_id == Some(id("p-1"))));
    // It had not ended, and says so.
    assert_eq!(payloads(&child, Kind::StepCompleted)[0]["status"], "aborted");
    let lines: Vec<&str> = PARENT.lines().collect();
    assert_eq!(events[1].raw.as_ref().unwrap().bytes().unwrap(), lines[0].as_bytes());
}

#[test]
fn a_resumed_run_goes_on_in_a_second_file_and_numbers_may_begin_again() {
    let desk = Desk::new();
    let line = |seq: u64, kind: &str, second: u64| {
        format!(
            r#"{{"seq":{seq},"run_id":"r","type":"step.{kind}","path":"a","iteration":0,"timestamp":"2026-06-08T10:14:{second}Z","payload":{{"name":"a","kind":"command"}}}}"#
        ) + "\n"
    };
    let twice = line(1, "started", 10) + &line(2, "completed", 11);
    desk.put("t/zz.jsonl", twice.clone() + &line(1, "started", 12) + &line(2, "completed", 13));
    desk.put("t/aa.jsonl", line(1, "started", 20) + &line(2, "completed", 21));
    let outcome = desk.import_one(&desk.path("t"));
    assert_eq!(outcome.done, Done::Imported);
    let events = desk.events(&outcome.run_id);
    let attempts: Vec<_> =
        payloads(&events, Kind::StepStarted).iter().map(|step| step["attempt"].clone()).collect();
    assert_eq!(attempts, [serde_json::Value::Null, 2.into(), 3.into()]);
    assert!(events.windows(2).all(|pair| pair[0].timestamp <= pair[1].timestamp));
}

#[test]
fn calls_that_only_the_reply_names_are_calls() {
    let desk = Desk::new();
    let reply = r#"{"seq":1,"run_id":"r","type":"message.assistant","path":"w","iteration":0,"timestamp":"2026-06-08T10:14:42Z","payload":{"role":"assistant","blocks":[{"type":"tool_use","fidelity":"agent_emitted","tool_name":"Read","tool_id":"t1","tool_input":{"p":1}},{"type":"tool_use","fidelity":"agent_emitted","tool_input":""}]}}"#;
    let outcome = desk.import_one(&desk.put("r.jsonl", reply));
    let events = desk.events(&outcome.run_id);
    let calls = payloads(&events, Kind::ToolCall);
    assert_eq!(calls.len(), 1);
    assert_eq!((&calls[0]["name"], &calls[0]["call_id"]), (&"Read".into(), &"t1".into()));
}

#[test]
fn an_id_that_another_run_has_is_left_to_it() {
    let desk = Desk::new();
    desk.storage.record("p-1", [quipu_testkit::run_started("mine")]);
    let before = desk.events(&id("p-1"));
    let outcomes = desk.import(&desk.put("x.jsonl", PARENT));
    let parent = outcomes.iter().find(|outcome| outcome.foreign_id == "p-1").unwrap();
    assert_ne!(parent.run_id, id("p-1"));
    assert_eq!(desk.events(&id("p-1")), before);
    let child = desk.events(&id("c-1"));
    assert_eq!(child[0].parent_run_id, Some(parent.run_id.clone()));
    desk.assert_sound(&parent.run_id);
    desk.assert_sound(&id("c-1"));
    let again = desk.import(&desk.path("x.jsonl"));
    assert!(again.iter().all(|outcome| outcome.done == Done::AlreadyThere), "{again:?}");
}
