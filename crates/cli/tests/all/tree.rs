//! `quipu tree`: steps, loops and called runs as one tree.

use std::fs;

use crate::session::Session;
use crate::transcripts::{self, AWF_ID, LINT_ID, REVIEW_ID, put};

#[test]
fn a_run_and_the_run_it_called_are_one_tree() {
    assert_eq!(
        transcripts::session().ok(&["tree", "last"]),
        "\
✗ review 11111111 (workflow) failed · 1m05s · 1 tool call · 1.23k tokens · claude · lint failed
├─ ✓ each (for_each) · 2.2s · 1 iteration · 1 tool call · 1.23k tokens
│  └─ ✓ [0] · 2.0s · 1 tool call · 1.23k tokens
│     └─ ✓ check (agent) · 2.0s · 1 tool call · 1.23k tokens
└─ ✗ lint (call_workflow) failed · 1.0s · exit code 1
   └─ ✗ lint 22222222 (workflow) failed · 900ms · exit code 1
      └─ ✗ clippy (command) failed · 700ms · exit code 1
"
    );
}

#[test]
fn called_runs_can_be_left_out() {
    assert_eq!(
        transcripts::session().ok(&["tree", "last", "--no-children", "--depth", "1"]),
        "\
✗ review 11111111 (workflow) failed · 1m05s · 1 tool call · 1.23k tokens · claude · lint failed
├─ ✓ each (for_each) · 2.2s · 1 iteration · 1 tool call · 1.23k tokens … 2 below
└─ ✗ lint (call_workflow) failed · 1.0s · → run 22222222 · exit code 1
"
    );
}

#[test]
fn a_called_run_that_is_not_there_is_named() {
    let session = transcripts::session();
    fs::remove_file(session.transcript(LINT_ID)).unwrap();
    let tree = session.ok(&["tree", REVIEW_ID]);
    assert!(tree.contains("lint (call_workflow) failed · 1.0s · → run 22222222"), "{tree}");
}

#[test]
fn a_file_of_another_writer_has_a_tree_too() {
    let outcome = transcripts::session().quipu(&["tree", AWF_ID]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stdout.contains("─ ✓ analyze (agent) · 2.8s"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("─ ✗ log_inner (command) failed"), "{}", outcome.stdout);
}

/// A run that did not end, with 30 iterations that went well and one that is open.
fn long_loop() -> Session {
    let line = |seq: usize, kind: &str, n: usize, payload: &str| {
        format!(
            "{{\"seq\":{seq},\"run_id\":\"RUN\",\"type\":\"{kind}\",\"path\":\"each[{n}].a\",\
             \"iteration\":{n},\"timestamp\":\"2026-06-08T10:00:00Z\",\"payload\":{payload}}}\n"
        )
    };
    let mut text = String::new();
    for n in 0..30 {
        text += &line(2 * n + 1, "step.started", n, "{}");
        text += &line(2 * n + 2, "step.completed", n, "{\"status\":\"succeeded\"}");
    }
    text += &line(61, "step.started", 30, "{}");
    let session = Session::new();
    put(&session, "long", &text);
    session
}

#[test]
fn long_loops_are_folded_unless_all_is_asked_for() {
    let session = long_loop();
    assert_eq!(
        session.ok(&["tree", "long"]),
        "\
! long long interrupted · 0ms
└─ ! each interrupted · 31 iterations
   ├─ ✓ [0..=29] 30 iterations, all succeeded · 0ms
   └─ ! [30] interrupted
      └─ ! a interrupted
"
    );
    assert_eq!(session.ok(&["tree", "long", "--all"]).lines().count(), 2 + 31 * 2);
}

#[test]
fn a_script_gets_the_tree_as_json() {
    let tree = transcripts::session().quipu(&["tree", "last", "--json"]).json();
    assert_eq!(tree["run_id"], REVIEW_ID);
    assert_eq!(tree["steps"][1]["attempts"][0]["child"]["run_id"], LINT_ID);
    assert_eq!(tree["total_work"]["tool_calls"], 1);
}

#[test]
fn a_run_without_an_event_says_so() {
    let session = Session::new();
    put(&session, "empty", "");
    let outcome = session.quipu(&["tree", "empty"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("empty.jsonl has no event yet"), "{outcome:?}");
}
