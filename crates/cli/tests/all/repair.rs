//! `quipu repair`: what a crash left behind is put in order, and nothing else is touched.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::session::{Session, finish};

/// A run whose recorder died in the middle of a line, with a step open.
fn crashed() -> Session {
    let session = Session::new();
    let step = r#"{"type":"step.started","path":"a","payload":{"name":"a","kind":"agent"}}"#;
    session.quipu_with_input(&["record", "--name", "test", "--id", "r1"], step);
    let text = fs::read_to_string(session.transcript("r1")).unwrap();
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    fs::write(session.transcript("r1"), [lines[0], lines[1], &lines[2][..30]].concat()).unwrap();
    session
}

#[test]
fn a_sound_run_is_left_as_it_is_to_the_byte() {
    let session = Session::new();
    session.ok(&["demo"]);
    let dir = session.dir().join("storage/transcripts");
    let state = || {
        let files = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = files
            .map(|path| {
                let changed = path.metadata().unwrap().modified().unwrap();
                (fs::read(&path).unwrap(), changed, path)
            })
            .collect();
        files.sort();
        files
    };
    let before = state();
    for arguments in [&["repair", "last"][..], &["repair", "last", "--dry-run"]] {
        assert!(session.ok(arguments).starts_with("nothing to repair"), "{arguments:?}");
    }
    assert_eq!(session.quipu(&["repair", "last", "--json"]).json()["changed"], false);
    assert_eq!(state(), before);
}

#[test]
fn torn_bytes_are_moved_and_what_was_open_is_closed_as_aborted() {
    let session = crashed();
    let path = session.transcript("r1");
    let before = fs::read(&path).unwrap();
    let torn_at = before.len() - 30;

    let plan = session.ok(&["repair", "r1", "--dry-run"]);
    assert_eq!(fs::read(&path).unwrap(), before, "a dry run touches nothing");
    assert_eq!(session.quipu(&["verify"]).code, Some(3));

    let done = session.ok(&["repair", "r1"]);
    assert!(done.contains(&format!("moved 30 torn bytes from byte {torn_at} on to ")), "{done}");
    assert!(done.contains("closed step.started at \"a\" (event 2) as aborted"), "{done}");
    assert!(done.contains("closed run.started at \"\" (event 1) as aborted"), "{done}");
    assert_eq!(plan.replace("would have ", ""), done, "a dry run says what will be done");

    let torn = path.with_extension("torn");
    assert_eq!(fs::read(&torn).unwrap(), before[torn_at..]);
    assert_eq!(torn.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::read(&path).unwrap().starts_with(&before[..torn_at]));
    let types: Vec<_> = session.lines("r1").iter().map(|line| line["type"].clone()).collect();
    assert_eq!(types, ["run.started", "step.started", "system", "step.completed", "run.completed"]);
    assert_eq!(session.quipu(&["verify"]).code, Some(0));
    assert!(session.ok(&["repair", "r1"]).starts_with("nothing to repair"));
}

#[test]
fn what_was_done_is_there_for_scripts() {
    let session = crashed();
    let told = session.quipu(&["repair", "r1", "--json"]).json();
    assert_eq!((&told["changed"], &told["dry_run"]), (&json!(true), &json!(false)));
    assert_eq!(told["torn"]["bytes"], 30);
    assert_eq!(told["closed"][0], json!({ "type": "step.started", "path": "a", "seq": 2 }));
    assert_eq!(told["remaining"], Value::Array(Vec::new()));
}

#[test]
fn damage_inside_a_run_is_told_and_left() {
    let session = Session::new();
    session.quipu_with_input(&["record", "--name", "test", "--id", "r1"], "x\ny\n");
    let path = session.transcript("r1");
    let text = fs::read_to_string(&path).unwrap().replacen("\"seq\":2,", "\"seq\":", 1);
    fs::write(&path, &text).unwrap();
    for arguments in [&["repair", "r1", "--dry-run"][..], &["repair", "r1"]] {
        let outcome = session.quipu(arguments);
        assert_eq!(outcome.code, Some(3), "{outcome:?}");
        assert!(
            outcome.stdout.contains("cannot mend storage/transcripts/r1.jsonl:2: not an event"),
            "{outcome:?}"
        );
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_run_that_is_being_written_is_not_touched() {
    let session = Session::new();
    let mut child = session.spawn(&["record", "--name", "live", "--id", "live"]);
    let mut id = [0; 5];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut id).unwrap();
    for arguments in [&["repair", "live"][..], &["repair", "live", "--dry-run"]] {
        let outcome = session.quipu(arguments);
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        assert!(outcome.stderr.contains(&format!("pid {}", child.id())), "{outcome:?}");
    }
    assert_eq!(finish(child, b"").code, Some(0));
    assert_eq!(session.lines("live").len(), 2);
}

#[test]
fn permissions_are_taken_from_those_who_should_not_have_them() {
    let session = Session::new();
    session.quipu(&["record", "--name", "test", "--id", "r1"]);
    let path = session.transcript("r1");
    fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
    let done = session.ok(&["repair", "r1"]);
    assert_eq!(done, "closed storage/transcripts/r1.jsonl to others\n");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(session.dir().join("storage"), Permissions::from_mode(0o755)).unwrap();
    let planned = session.ok(&["repair", "r1", "--dry-run"]);
    assert_eq!(planned, "would have closed storage to others\n");
    assert_eq!(session.ok(&["repair", "r1"]), "closed storage to others\n");
    assert_eq!(session.ok(&["repair", "r1"]), "nothing to repair: r1 is sound\n");
}

#[test]
fn a_file_that_is_no_transcript_is_not_cut() {
    let session = Session::new();
    session.quipu(&["record", "--name", "test", "--id", "r1"]);
    let path = session.transcript("r1");
    fs::write(&path, "dear diary\ntoday\n").unwrap();
    for arguments in [&["repair", "r1"][..], &["repair", "r1", "--dry-run"]] {
        let outcome = session.quipu(arguments);
        assert_eq!(outcome.code, Some(3), "{outcome:?}");
        assert!(outcome.stderr.contains("is not a transcript"), "{outcome:?}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "dear diary\ntoday\n");
}
