//! `--log-file`: what a command records, as log records for other tools.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::record::system;
use crate::run::with_workflow;
use crate::session::Session;

const REVIEW: &str = r#"
name: review
states:
  initial: hello
  hello: {type: step, command: "echo hello", on_success: ask}
  ask: {type: agent, provider: claude, prompt: "Review this", on_success: sub}
  sub: {type: call_workflow, workflow: called.yaml, on_success: done}
  done: {type: terminal, status: success}
"#;

const CALLED: &str = r#"
name: called
states:
  initial: hi
  hi: {type: step, command: "echo hi", on_success: done}
  done: {type: terminal}
"#;

fn log(session: &Session) -> Vec<Value> {
    let text = fs::read_to_string(session.dir().join("app.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn entries_of<'a>(prompt: &str, log: &'a [Value]) -> Vec<&'a Value> {
    let entries = log.iter().filter(|record| record["event"] == "transcript.entry");
    entries
        .map(|record| &record["context"])
        .filter(|entry| entry["prompt_name"] == prompt)
        .collect()
}

fn numbers(entries: &[&Value]) -> Vec<u64> {
    entries.iter().map(|entry| entry["sequence_number"].as_u64().unwrap()).collect()
}

fn events(log: &[Value]) -> Vec<&str> {
    log.iter().map(|record| record["event"].as_str().unwrap()).collect()
}

#[test]
fn what_is_recorded_is_logged_until_the_command_ends() {
    let session = Session::new();
    let arguments = ["record", "--name", "test", "--id", "r1", "--log-file", "app.jsonl"];
    let outcome = session.quipu_with_input(&arguments, system("hello"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let log = log(&session);
    let entry = "transcript.entry";
    assert_eq!(events(&log), ["transcript.start", entry, entry, entry, "transcript.stop"]);
    assert_eq!(log[2]["context"]["detail"]["subtype"], "hello");
    assert_eq!(log[4]["context"]["total_entries"], 3);
    let mode = fs::metadata(session.dir().join("app.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_run_that_is_gone_on_with_is_numbered_on_in_the_same_log() {
    let session = Session::new().with_variable("QUIPU_LOG_FILE", "app.jsonl");
    let first = ["record", "--name", "test", "--id", "r1"];
    session.quipu_with_input(&first, system("a"));
    session.quipu_with_input(&["record", "--id", "r1", "--append"], system("b"));
    let log = log(&session);
    let entries = entries_of("test", &log);
    assert!(numbers(&entries).into_iter().eq(1..=session.lines("r1").len() as u64));
    assert_eq!(events(&log).iter().filter(|event| **event == "transcript.start").count(), 2);
}

#[test]
fn a_workflow_and_what_it_calls_are_logged() {
    let session = with_workflow(REVIEW);
    fs::write(session.dir().join("called.yaml"), CALLED).unwrap();
    session.ok(&["run", "w.yaml", "--stub", "--id", "r1", "--log-file", "app.jsonl"]);
    let log = log(&session);
    let review = entries_of("review", &log);
    let types: Vec<&str> =
        review.iter().map(|entry| entry["entry_type"].as_str().unwrap()).collect();
    for expected in ["system_event", "user_message", "assistant_message"] {
        assert!(types.contains(&expected), "{types:?}");
    }
    assert!(numbers(&review).into_iter().eq(1..=review.len() as u64));
    assert!(review.iter().all(|entry| entry["adapter"] == "quipu" && entry["source"] == "main"));
    // Each event of the transcript is in the log.
    let mut logged: Vec<u64> =
        review.iter().map(|entry| entry["detail"]["event"]["seq"].as_u64().unwrap()).collect();
    logged.dedup();
    assert!(logged.into_iter().eq(1..=session.lines("r1").len() as u64));
    assert!(!entries_of("called", &log).is_empty());
    let stops = log.iter().filter(|record| record["event"] == "transcript.stop");
    assert_eq!(stops.count(), 2);
}

#[test]
fn entries_are_not_told_on_stderr() {
    let session = Session::new();
    let arguments = ["record", "--name", "test", "-vvv", "--log-file", "app.jsonl"];
    let outcome = session.quipu_with_input(&arguments, system("hello"));
    assert!(!outcome.stderr.contains("transcript.entry"), "{}", outcome.stderr);
    assert_eq!(log(&session).len(), 5);
}

#[test]
fn a_log_that_cannot_be_written_is_told_before_anything_is_recorded() {
    let session = Session::new();
    let arguments = ["record", "--name", "test", "--log-file", "no/such/dir/app.jsonl"];
    let outcome = session.quipu_with_input(&arguments, system("hello"));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("no/such/dir/app.jsonl"), "{}", outcome.stderr);
    assert!(!session.dir().join("storage").exists());
}

#[test]
fn a_log_that_fails_under_way_is_told_and_does_not_fail_the_run() {
    let session = Session::new();
    let arguments = ["record", "--name", "test", "--log-file", "/dev/full"];
    let outcome = session.quipu_with_input(&arguments, system("hello"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stderr.contains("the log file lacks 5 records"), "{}", outcome.stderr);
}

#[test]
fn commands_that_record_nothing_leave_no_log() {
    let session = Session::new().with_variable("QUIPU_LOG_FILE", "app.jsonl");
    session.ok(&["ls"]);
    assert!(!session.dir().join("app.jsonl").exists());
    let told = session.quipu(&["config", "--json"]).json();
    let expected = json!({"value": "app.jsonl", "from": "$QUIPU_LOG_FILE"});
    assert_eq!(told["settings"]["log_file"], expected);
}

#[test]
fn a_resumed_run_and_what_it_calls_go_on_in_the_log_without_repeating_anything() {
    let session = with_workflow(REVIEW).with_variable("QUIPU_LOG_FILE", "app.jsonl");
    let fails = CALLED.replace("echo hi", "test -e ready");
    fs::write(session.dir().join("called.yaml"), fails).unwrap();
    assert_eq!(session.quipu(&["run", "w.yaml", "--stub", "--id", "r1"]).code, Some(3));
    fs::write(session.dir().join("ready"), "").unwrap();
    session.ok(&["resume", "r1"]);
    let log = log(&session);
    let mut runs: Vec<&str> = log
        .iter()
        .filter_map(|record| record["context"]["detail"]["event"]["run_id"].as_str())
        .collect();
    runs.sort_unstable();
    runs.dedup();
    assert!(runs.len() > 1, "{runs:?}");
    for run in runs {
        let of_run: Vec<&Value> = log
            .iter()
            .map(|record| &record["context"])
            .filter(|context| context["detail"]["event"]["run_id"] == run)
            .collect();
        assert!(numbers(&of_run).into_iter().eq(1..=of_run.len() as u64), "{run}");
        let mut logged: Vec<u64> =
            of_run.iter().map(|entry| entry["detail"]["event"]["seq"].as_u64().unwrap()).collect();
        logged.dedup();
        assert!(logged.into_iter().eq(1..=session.lines(run).len() as u64), "{run}");
    }
}

#[test]
fn a_run_in_the_background_is_logged_too() {
    let session = with_workflow(CALLED);
    let told = session.ok(&["run", "w.yaml", "--detach", "--log-file", "app.jsonl"]);
    let id = told.lines().next().unwrap();
    session.ok(&["status", id, "-w"]);
    // The log is complete when its process is gone, which is a little later.
    let is_complete = || {
        let text = fs::read_to_string(session.dir().join("app.jsonl")).unwrap();
        text.contains("transcript.stop") && text.ends_with('\n')
    };
    for _ in 0..3000 {
        if is_complete() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(entries_of("called", &log(&session)).len(), session.lines(id).len());
}
