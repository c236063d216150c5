//! The `jq` one-liners that the format's users know, against a demo run.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::session::Session;

/// Answers whether `jq` is there. A machine without it fails, unless it was excused by name.
#[expect(clippy::print_stderr, reason = "what is not checked must be told loudly")]
fn jq_is_there() -> bool {
    let found = Command::new("jq").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !found {
        eprintln!("jq IS NOT INSTALLED: the jq examples are NOT checked");
        let excused = std::env::var_os("QUIPU_TEST_WITHOUT_JQ").is_some_and(|value| value == "1");
        assert!(excused, "install jq, or set QUIPU_TEST_WITHOUT_JQ=1 to go on without");
    }
    found
}

/// A demo run, its id, and a place to run `jq` in.
fn demo() -> (Session, String) {
    let session = Session::new();
    let text = session.ok(&["demo", "--json"]);
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let run = last["run_id"].as_str().unwrap().to_owned();
    (session, run)
}

fn jq(session: &Session, run: &str, arguments: &[&str]) -> String {
    let transcript = format!("storage/transcripts/{run}.jsonl");
    let output = session.command("jq").args(arguments).arg(&transcript).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "jq {arguments:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap()
}

fn values(text: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(text).into_iter().map(Result::unwrap).collect()
}

#[test]
fn a_whole_run_is_pretty_printed() {
    if !jq_is_there() {
        return;
    }
    let (session, run) = demo();
    let printed = jq(&session, &run, &["."]);
    assert_eq!(values(&printed), session.lines(&run));
    assert!(printed.lines().count() > session.lines(&run).len());
}

#[test]
fn every_tool_call_is_extracted_with_its_result() {
    if !jq_is_there() {
        return;
    }
    let (session, run) = demo();
    let filter = r#"select(.type == "tool.call" or .type == "tool.result")"#;
    let found = values(&jq(&session, &run, &[filter]));
    let ids = |kind: &str| -> Vec<Value> {
        let of_kind = found.iter().filter(|line| line["type"] == kind);
        of_kind.map(|line| line["payload"]["call_id"].clone()).collect()
    };
    assert_eq!(ids("tool.call"), ids("tool.result"));
    assert_eq!(ids("tool.call").len(), 4);
}

#[test]
fn assistant_text_blocks_are_listed() {
    if !jq_is_there() {
        return;
    }
    let (session, run) = demo();
    let filter = r#"select(.type == "message.assistant") | .payload.blocks[] | select(.type == "text") | .text"#;
    let texts = jq(&session, &run, &["-r", filter]);
    let lines: Vec<_> = texts.lines().collect();
    assert_eq!(lines.len(), 7, "{texts}");
    assert_eq!(lines[0], "Let me look at it.");
    assert!(lines[1].starts_with("[STUB] cache.rs is read once"), "{texts}");
}

#[test]
fn tool_calls_of_router_fidelity_are_told_apart() {
    if !jq_is_there() {
        return;
    }
    let (session, run) = demo();
    let vouched_by = |fidelity: &str| -> Vec<Value> {
        let filter = format!(
            r#"select(.type == "tool.call" and .payload.fidelity == "{fidelity}") | .payload.name"#
        );
        values(&jq(&session, &run, &[&filter]))
    };
    assert_eq!(vouched_by("agent_emitted"), ["Read", "Read", "Read", "shell"]);
    assert!(vouched_by("router").is_empty(), "nothing in the demo passes our own hands");
}

#[test]
fn the_step_tree_is_reconstructed() {
    if !jq_is_there() {
        return;
    }
    let (session, run) = demo();
    let filter = r#"select(.type == "step.started") | "\(.seq)\t\(.path)\t\(.payload.kind)""#;
    let listed = jq(&session, &run, &["-r", filter]);
    let rows: Vec<Vec<&str>> = listed.lines().map(|row| row.split('\t').collect()).collect();
    let expected = [
        ["prepare", "command"],
        ["each_file", "for_each"],
        ["each_file[0].check", "command"],
        ["each_file[0].review", "agent"],
        ["each_file[1].check", "command"],
        ["each_file[1].review", "agent"],
        ["each_file[2].check", "command"],
        ["each_file[2].review", "agent"],
        ["fan_out", "parallel"],
        ["fan_out.lint", "agent"],
        ["fan_out.test", "command"],
        ["fan_out.test", "command"],
        ["done", "terminal"],
    ];
    assert_eq!(rows.iter().map(|row| &row[1..]).collect::<Vec<_>>(), expected);
    let numbers: Vec<u64> = rows.iter().map(|row| row[0].parse().unwrap()).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
}

#[test]
fn child_runs_are_found_from_their_parent() {
    if !jq_is_there() {
        return;
    }
    let (session, run) = demo();
    let filter = r#"select(.type == "step.call_workflow.started") | .child_run_id"#;
    let children = jq(&session, &run, &["-r", filter]);
    let children: Vec<_> = children.lines().collect();
    assert_eq!(children.len(), 1);
    let child = session.lines(children[0]);
    assert!(child.iter().all(|line| line["parent_run_id"] == run.as_str()));
    assert_eq!(child[0]["payload"]["name"], "write-summary");
}
