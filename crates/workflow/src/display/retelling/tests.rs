//! What is seen of recorded events that had no event when they were shown.

use quipu_event::{Draft, RunIdentity, Timestamp};
use serde_json::json;

use super::*;

/// Returns what is seen of events, each a kind, a path and a payload, as short texts.
fn told(events: &[(&str, &str, Value)]) -> Vec<String> {
    let run = RunIdentity { run_id: RunId::parse("r").unwrap(), parent_run_id: None };
    let mut retelling = Retelling::new(run.run_id.clone());
    let mut seen = Vec::new();
    for (seq, (kind, path, payload)) in (1..).zip(events) {
        let draft = Draft::new(Kind::from(*kind), payload).unwrap().at(StepPath::from(*path), 0);
        let event = draft.seal(seq, &run, Timestamp::from_micros(0));
        seen.extend(retelling.tell(&event).iter().map(short));
    }
    seen
}

fn short(event: &DisplayEvent) -> String {
    match event {
        DisplayEvent::Iteration { at, index, total } => {
            format!("{} #{index} of {total:?}, in #{}", at.path, at.iteration)
        }
        DisplayEvent::Output { at, stream, text } => format!("{} {stream} {text:?}", at.path),
        DisplayEvent::StepStarted { at, .. } => format!("{} begins", at.path),
        DisplayEvent::StepCompleted { at, .. } => format!("{} ends", at.path),
        DisplayEvent::Log { text, .. } => text.clone(),
        other => format!("{other:?}"),
    }
}

fn step(kind: &str) -> Value {
    json!({"name": "s", "kind": kind, "attempt": 1})
}

#[test]
fn a_loop_goes_on_when_a_step_of_its_next_iteration_begins() {
    let items = json!({"subtype": "loop_items", "count": 7});
    let fewer = json!({"subtype": "loop_truncated", "items": 7, "max_iterations": 2});
    let seen = told(&[
        ("step.started", "a", step("for_each")),
        ("system", "a", items),
        ("system", "a", fewer),
        ("step.started", "a[0].b", step("while")),
        ("step.started", "a[0].b[4].c", step("command")),
        ("step.started", "a[0].b[4].d", step("command")),
        ("step.completed", "a[0].b", step("while")),
        ("step.started", "a[1].b", step("while")),
        ("step.completed", "a", step("for_each")),
        ("step.started", "a[1].b", step("while")),
    ]);
    assert_eq!(
        seen,
        [
            "a begins",
            "only 2 of 7 items: max_iterations",
            "a #0 of Some(2), in #0",
            "a[0].b begins",
            "a[0].b #4 of None, in #0",
            "a[0].b[4].c begins",
            "a[0].b[4].d begins",
            "a[0].b ends",
            "a #1 of Some(2), in #0",
            "a[1].b begins",
            "a ends",
            "a #1 of None, in #0",
            "a[1].b begins",
        ]
    );
}

#[test]
fn what_a_command_wrote_is_told_once_before_its_end() {
    let mut ends = step("command");
    ends["result"] = json!({"stdout": "one\ntwo", "stderr": "oh\n", "exit_code": 0});
    assert_eq!(
        told(&[("step.started", "a", step("command")), ("step.completed", "a", ends.clone())]),
        ["a begins", r#"a stdout "one\n""#, r#"a stdout "two""#, r#"a stderr "oh\n""#, "a ends"]
    );
    let piece = |text: &str| json!({"subtype": "output", "stream": "stdout", "text": text});
    assert_eq!(
        told(&[
            ("step.started", "a", step("command")),
            ("system", "a", piece("one\ntw")),
            ("system", "a", piece("o\nthree")),
            ("step.completed", "a", ends),
        ]),
        [
            "a begins",
            r#"a stdout "one\n""#,
            r#"a stdout "two\n""#,
            r#"a stdout "three""#,
            r#"a stderr "oh\n""#,
            "a ends"
        ]
    );
}

#[test]
fn what_an_agent_came_to_is_not_taken_for_a_commands_output() {
    let mut ends = step("agent");
    ends["result"] = json!({"output": "said", "stderr": "noise"});
    assert_eq!(told(&[("step.completed", "a", ends)]), ["a ends"]);
    let mut ends = step("command");
    ends["result"] = json!(true);
    assert_eq!(told(&[("step.completed", "a", ends)]), ["a ends"]);
}

#[test]
fn a_prompt_is_seen_where_no_step_asks_it() {
    let ask = json!({"role": "user", "blocks": [
        {"type": "text", "fidelity": "router", "text": "be brief", "purpose": "system_prompt"},
        {"type": "text", "fidelity": "router", "text": "hello"},
        {"type": "tool_result", "fidelity": "router", "tool_id": "t", "tool_content": "x"},
    ]});
    let in_a_step = [("step.started", "a", step("agent")), ("message.user", "a", ask.clone())];
    assert_eq!(told(&in_a_step), ["a begins"]);
    let alone = told(&[("message.user", "", ask)]);
    assert!(alone.len() == 1 && alone[0].contains("\"hello\""), "{alone:?}");
}

#[test]
fn what_a_program_under_the_recorder_wrote_is_told_when_it_was_written() {
    let wrote = |stream: &str, text: &str| json!({"subtype": stream, "offset": 0, "text": text});
    let seen = told(&[
        ("system", "", wrote("stdout", "one\ntw")),
        ("system", "", wrote("stderr", "oh\n")),
        ("system", "", wrote("stdout", "o")),
        ("run.completed", "", json!({"name": "make", "kind": "exec"})),
    ]);
    assert_eq!(seen[..3], [r#" stdout "one\n""#, r#" stderr "oh\n""#, r#" stdout "two""#]);
    assert_eq!(seen.len(), 4, "{seen:?}");
}

#[test]
fn what_a_hook_wrote_is_told_before_what_became_of_it() {
    let hook = json!({"subtype": "hook_failed", "hook": "pre", "error": "exit code 2",
        "output": "one\ntwo", "stderr": "oh\n"});
    let seen = told(&[("system", "a", hook)]);
    assert_eq!(seen[..3], [r#"a stdout "one\n""#, r#"a stdout "two\n""#, r#"a stderr "oh\n""#]);
    assert_eq!(seen[3..], ["pre hook failed: exit code 2"]);
}
