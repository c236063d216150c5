//! `quipu export`: runs as files; and `quipu run --view`, the same while a run goes on.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::run::with_workflow;
use crate::session::{QUIPU, Session};
use crate::transcripts::{self, LINT_ID, REVIEW_ID};

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_run_and_those_it_calls_become_files() {
    let session = transcripts::session();
    let outcome = session.quipu(&["export", "last", "--to", "quipu", "--out", "share"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stdout.starts_with("2 runs as quipu in share: 2 files, "), "{outcome:?}");
    assert_eq!(outcome.stderr, "note: 17 events carried, none left out\n");
    let files = [format!("{REVIEW_ID}.jsonl"), format!("{LINT_ID}.jsonl")];
    assert_eq!(names(&session.dir().join("share/transcripts")), files);
    let show = |storage| session.ok(&["show", REVIEW_ID, "--storage", storage]);
    assert_eq!(show("share"), show("storage"));
}

#[test]
fn a_called_run_that_is_not_there_is_told() {
    let session = transcripts::session();
    fs::remove_file(session.dir().join(format!("storage/transcripts/{LINT_ID}.jsonl"))).unwrap();
    let export = ["export", REVIEW_ID, "--to", "quipu", "--out"];
    let outcome = session.quipu(&[&export[..], &["share"]].concat());
    let told = format!("note: {LINT_ID} was called and is not in the storage\n");
    assert!(outcome.code == Some(0) && outcome.stderr.contains(&told), "{outcome:?}");
    let told = session.quipu(&[&export[..], &["again", "--json"]].concat()).json();
    assert_eq!(told["missing_runs"], json!([LINT_ID]));
}

#[test]
fn a_script_reads_what_was_done() {
    let session = transcripts::session();
    let arguments =
        ["export", REVIEW_ID, "--to", "quipu", "--out", "share", "--no-called", "--json"];
    let told = session.quipu(&arguments).json();
    assert_eq!(told["layout"], "quipu");
    assert_eq!(told["files"], 1);
    assert_eq!(told["left_out"], 0);
    let run = json!({
        "run_id": REVIEW_ID, "root": REVIEW_ID, "events": 13, "left_out": {}, "damaged_lines": 0,
    });
    assert_eq!(told["runs"], json!([run]));
}

#[test]
fn files_in_the_way_are_kept_unless_it_is_said_otherwise() {
    let session = transcripts::session();
    let export = ["export", "last", "--to", "quipu", "--out", "share"];
    session.ok(&export);
    let refused = session.quipu(&export);
    assert_eq!(refused.code, Some(1));
    let said = "is there already, and 1 more\nhint: --force replaces files; another --out leaves";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    session.ok(&["export", "last", "--to", "quipu", "--out", "share", "--force"]);
}

#[test]
fn no_export_takes_the_place_of_what_was_recorded() {
    let session = transcripts::session();
    let transcript = session.dir().join(format!("storage/transcripts/{REVIEW_ID}.jsonl"));
    let recorded = fs::read(&transcript).unwrap();
    std::os::unix::fs::symlink("storage", session.dir().join("linked")).unwrap();
    for (to, out) in
        [("awf", "."), ("quipu", "storage"), ("quipu", "linked"), ("quipu", "./storage/")]
    {
        let outcome = session.quipu(&["export", "last", "--to", to, "--out", out, "--force"]);
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        assert!(
            outcome.stderr.contains(" belongs to the storage that is read\nhint: "),
            "{outcome:?}"
        );
        assert!(fs::read(&transcript).unwrap() == recorded);
    }
    assert_eq!(names(&session.dir().join("storage")), ["transcripts"]);
    // Beside them there is room.
    for _ in 0..2 {
        session.ok(&["export", "last", "--to", "kgent", "--out", "storage/views", "--force"]);
    }
}

#[test]
fn an_export_that_is_interrupted_leaves_nothing_behind() {
    let session = transcripts::session();
    let path = session.dir().join(format!("storage/transcripts/{REVIEW_ID}.jsonl"));
    let lines = fs::read_to_string(&path).unwrap().repeat(2000);
    fs::write(&path, lines).unwrap();
    fs::create_dir(session.dir().join("there")).unwrap();
    for out in ["there", "new"] {
        let export = ["export", REVIEW_ID, "--to", "kgent", "--out", out];
        let mut child = session.command(QUIPU).args(export).stderr(Stdio::null()).spawn().unwrap();
        let out = session.dir().join(out);
        while !out.exists() || names(&out).is_empty() {
            assert!(child.try_wait().unwrap().is_none(), "it was too quick");
            sleep(Duration::from_millis(1));
        }
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(2));
        let left = if out.exists() { names(&out) } else { Vec::new() };
        assert_eq!(left, [""; 0]);
    }
    assert!(!session.dir().join("new").exists());
}

#[test]
fn all_runs_or_those_since_a_time_are_exported() {
    let session = transcripts::session();
    let told = session.quipu(&["export", "--all", "--to", "quipu", "--out", "all", "--json"]);
    assert_eq!(told.code, Some(3), "one of them is damaged: {told:?}");
    assert_eq!(names(&session.dir().join("all/transcripts")).len(), 4);
    let late = ["export", "--since", "2100-01-01", "--to", "quipu", "--out", "late"];
    let none = session.quipu(&late);
    assert_eq!(none.code, Some(1));
    assert!(none.stderr.contains("no run started since then"), "{}", none.stderr);
    assert!(!session.dir().join("late").exists());
}

#[test]
fn secrets_stay_at_home_when_asked() {
    let session = Session::new();
    let draft = r#"{"type":"system","payload":{"subtype":"x","text":"AKIAIOSFODNN7EXAMPLE"}}"#;
    session.quipu_with_input(&["record", "--name", "r", "--id", "r1"], draft);
    let arguments = ["export", "r1", "--to", "quipu", "--redact", "secrets", "--out", "share"];
    let outcome = session.quipu(&arguments);
    assert!(outcome.stderr.starts_with("note: 1 secret hidden\n"), "{outcome:?}");
    let shared = fs::read_to_string(session.dir().join("share/transcripts/r1.jsonl")).unwrap();
    assert!(!shared.contains("AKIA") && shared.contains("[masked:"), "{shared}");
    assert!(session.ok(&["show", "r1", "--raw"]).contains("AKIAIOSFODNN7EXAMPLE"));
}

#[test]
fn a_layout_that_is_none_is_answered_with_those_there_are() {
    let session = transcripts::session();
    let wrong = session.quipu(&["export", "last", "--to", "word", "--out", "x"]);
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.stderr.contains("possible values: markdown, html, kgent"), "{}", wrong.stderr);
    let session = with_workflow("name: w\nstates: {initial: t, t: {type: terminal}}\n");
    let wrong = session.quipu(&["run", "w.yaml", "--view", "word=x"]);
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.stderr.contains("there is no layout \"word\""), "{}", wrong.stderr);
}

#[test]
fn a_run_is_written_in_a_layout_while_it_goes_on() {
    let workflow = "name: w\nstates:\n  initial: look\n  look: {type: step, command: \"sleep 0.3; \
                    cat view/transcripts/r1.jsonl\", on_success: t}\n  t: {type: terminal}\n";
    let session = with_workflow(workflow);
    session.ok(&["run", "w.yaml", "--id", "r1", "--view", "quipu=view"]);
    let read = |path: &str| fs::read_to_string(session.dir().join(path)).unwrap();
    assert_eq!(read("view/transcripts/r1.jsonl"), read("storage/transcripts/r1.jsonl"));
    let seen = session.ok(&["show", "r1", "--type", "step.completed", "--json"]);
    assert!(seen.contains(r#"\"type\":\"step.started\""#), "the step saw itself begin: {seen}");
    let again = session.quipu(&["run", "w.yaml", "--view", "quipu=view", "--id", "r2"]);
    assert_eq!(again.code, Some(0), "another run has files of its own: {again:?}");
}

#[test]
fn what_is_no_directory_and_what_holds_no_event_is_told() {
    let session = transcripts::session();
    fs::write(session.dir().join("file"), "mine").unwrap();
    for out in ["file", "file/below"] {
        let refused = session.quipu(&["export", "last", "--to", "markdown", "--out", out]);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains("is no directory\nhint: files are put"), "{refused:?}");
    }
    fs::write(session.transcript("empty"), "").unwrap();
    let told = session.quipu(&["export", "empty", "--to", "markdown", "--out", "share"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(told.stderr.contains("holds no event"), "{told:?}");
}
