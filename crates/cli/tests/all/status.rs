//! `quipu status`: where a run is, from its transcript alone.

use std::fs;

use serde_json::json;

use crate::run::{signal, wait_for, with_workflow};
use crate::session::finish;
use crate::transcripts;

const LOOP: &str = r#"
name: loop
states:
  initial: each
  each: {type: for_each, items: [a, b, c], body: [check], on_complete: done}
  check: {type: step, command: 'if test "{{.loop.Item}}" = b; then echo stuck; for i in $(seq 600); do test -e go && break; sleep 0.05; done; fi'}
  done: {type: terminal}
"#;

#[test]
fn a_run_under_way_is_told_by_the_steps_that_run() {
    let session = with_workflow(LOOP);
    let mut child = session.spawn(&["run", "w.yaml", "--id", "r"]);
    wait_for(&mut child, "│ stuck");
    let told = session.ok(&["status"]);
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines[0].starts_with("● loop r  running for "), "{told}");
    assert_eq!(lines[1], "  storage/transcripts/r.jsonl");
    assert_eq!(lines[2], "  1 step succeeded");
    assert!(lines[3].starts_with("  ● each iteration 2 "), "{told}");
    assert!(lines[4].starts_with("    ● each[1].check "), "{told}");
    assert!(lines[4].contains("command: if test"), "{told}");
    assert_eq!(lines[5], "  quipu tail -f r");

    let status = session.quipu(&["status", "r", "--json"]).json();
    assert_eq!(status["status"], "running");
    assert_eq!(status["running"][0]["iteration"], json!(1));
    assert_eq!(status["running"][1]["path"], "each[1].check");
    assert_eq!(status["steps"], json!({"succeeded": 1}));

    let watching = session.spawn(&["status", "-w", "r"]);
    fs::write(session.dir().join("go"), "").unwrap();
    let watched = finish(watching, b"");
    assert_eq!(watched.code, Some(0));
    assert!(watched.stdout.contains("✓ loop r  succeeded after "), "{watched:?}");
    assert_eq!(finish(child, b"").code, Some(0));
}

#[test]
fn a_run_that_died_is_told_from_one_that_ended() {
    let session = with_workflow(LOOP);
    let mut child = session.spawn(&["run", "w.yaml", "--id", "dead"]);
    wait_for(&mut child, "│ stuck");
    signal(&session, "-KILL", child.id());
    child.wait().unwrap();
    let told = session.ok(&["status", "dead"]);
    assert!(told.starts_with("! loop dead  interrupted after "), "{told}");
    assert!(told.contains("! each[1].check "), "what it was doing: {told}");
    assert!(told.contains("`quipu resume dead` goes on with it"), "{told}");

    fs::write(session.dir().join("go"), "").unwrap();
    session.ok(&["run", "w.yaml", "--id", "whole"]);
    let told = session.ok(&["status", "last"]);
    assert!(told.starts_with("✓ loop whole  succeeded after "), "{told}");
    assert!(told.contains("  5 steps succeeded\n"), "{told}");
    assert!(told.ends_with("  quipu tree whole\n"), "{told}");
}

#[test]
fn a_run_that_failed_says_why_and_what_to_do() {
    let session = with_workflow(
        "name: w\nstates:\n  initial: a\n  a: {type: step, command: exit 7, on_success: done}\n  done: {type: terminal}\n",
    );
    session.quipu(&["run", "w.yaml", "--id", "r"]);
    let told = session.ok(&["status", "r"]);
    assert!(told.starts_with("✗ w r  failed after "), "{told}");
    assert!(told.contains("exit code 7") && told.contains("quipu resume r"), "{told}");
    let status = session.quipu(&["status", "r", "--json"]).json();
    assert_eq!(status["failed_step"], json!({"path": "a", "error": "exit code 7"}));
}

#[test]
fn only_a_run_of_a_workflow_is_said_to_be_resumable() {
    let session = transcripts::session();
    let told = session.ok(&["status", transcripts::HOSTILE_ID]);
    let repair = "nobody writes it any more; `quipu repair 33333333` gives it its end";
    assert!(told.contains(repair) && !told.contains("resume"), "{told}");
    let told = session.ok(&["status", transcripts::REVIEW_ID]);
    assert!(told.ends_with("  quipu tree 11111111\n"), "it failed and names no file: {told}");
}

#[test]
fn there_has_to_be_a_run() {
    let session = with_workflow(LOOP);
    assert_eq!(session.quipu(&["status"]).code, Some(1));
    assert_eq!(session.quipu(&["status", "nonesuch"]).code, Some(1));
}
