//! Lines of AWF, as its own code writes them.

use quipu_event::payload::{Payload, StepCompleted};
use quipu_event::{BlockContent, Event, Fidelity, Kind, decode_line};

fn events() -> Vec<Event> {
    include_str!("../golden/awf.jsonl")
        .lines()
        .map(|line| decode_line(line.as_bytes()).unwrap())
        .collect()
}

fn of(kind: Kind) -> Event {
    events().into_iter().find(|event| event.kind == kind).unwrap()
}

#[test]
fn lines_of_awf_are_read() {
    assert_eq!(of(Kind::RunStarted).decode_payload().unwrap(), Payload::Absent);
    local_times_become_utc();
    paths_keep_their_separator();
    tool_output_keeps_its_spelling();
    results_may_be_mere_booleans();
    messages_may_be_bare_or_without_blocks();
    sub_runs_are_linked();
}

fn local_times_become_utc() {
    let time = of(Kind::StepStarted).timestamp;
    assert_eq!(time.to_string(), "2026-06-08T08:14:42.123456789Z");
}

fn paths_keep_their_separator() {
    let paths: Vec<_> = events().iter().map(|event| event.path.to_string()).collect();
    assert!(paths.contains(&"loop:1/loop:2/log_inner".to_owned()));
}

fn tool_output_keeps_its_spelling() {
    let Ok(Payload::ToolResult(result)) = of(Kind::ToolResult).decode_payload() else { panic!() };
    let spelled = r#"{"Content":[{"Type":"text","Text":"package main\n"}],"IsError":false}"#;
    assert_eq!(result.output.as_str(), spelled);
    assert_eq!((result.fidelity, result.status), (Fidelity::Router, None));
}

fn results_may_be_mere_booleans() {
    let results: Vec<StepCompleted> = events()
        .iter()
        .filter(|event| event.kind == Kind::StepCompleted)
        .map(|event| event.payload.decode().unwrap())
        .collect();
    let bare: Vec<_> = results.iter().map(|step| step.result.as_ref().unwrap().as_str()).collect();
    assert_eq!(bare, ["true", "false"]);
    assert_eq!(results[1].error.as_deref(), Some("exit code 1"));
}

fn messages_may_be_bare_or_without_blocks() {
    let messages: Vec<_> = events()
        .iter()
        .filter(|event| matches!(event.kind, Kind::MessageUser | Kind::MessageAssistant))
        .map(|event| match event.decode_payload() {
            Ok(Payload::Message(message)) => message,
            other => panic!("{other:?}"),
        })
        .collect();
    let roles: Vec<_> = messages.iter().map(|m| (m.role.as_str(), m.blocks.len())).collect();
    assert_eq!(roles, [("user", 2), ("assistant", 4), ("assistant", 0), ("user", 1)]);
    let BlockContent::Text { text } = &messages[0].blocks[0].content else { panic!() };
    assert_eq!(text, "Review main.go <now> & fix");
    let BlockContent::ToolUse { tool_name, tool_input, .. } = &messages[1].blocks[3].content else {
        panic!()
    };
    assert_eq!((tool_name.as_str(), tool_input.as_str()), ("", "\"\""));
}

fn sub_runs_are_linked() {
    let call = of(Kind::CallWorkflowStarted);
    let child = events().into_iter().find(|event| event.parent_run_id.is_some()).unwrap();
    assert_eq!(call.child_run_id.as_ref(), Some(&child.run_id));
    assert_eq!(child.parent_run_id.as_ref(), Some(&call.run_id));
}
