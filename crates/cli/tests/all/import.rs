//! `quipu import`: the files of other recorders become runs, and importing again costs nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use crate::session::Session;

/// A line of an AWF transcript.
fn line(seq: usize, text: &str) -> String {
    let line = json!({
        "seq": seq, "run_id": "r-1", "type": "message.user", "path": "review", "iteration": 0,
        "timestamp": "2026-06-08T10:14:42.5+02:00",
        "payload": { "role": "user", "blocks": [{ "type": "text", "fidelity": "router", "text": text }] },
    });
    line.to_string() + "\n"
}

fn put(session: &Session, name: &str, content: &str) {
    let path = session.dir().join(name);
    fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).unwrap();
    fs::write(path, content).unwrap();
}

#[test]
fn a_foreign_run_is_imported_once_and_told_in_a_table() {
    let session = Session::new();
    put(&session, "theirs/transcripts/x.jsonl", &line(1, "Hello"));
    let planned = session.ok(&["import", "theirs", "--dry-run"]);
    assert!(planned.contains("would be imported"), "{planned}");
    assert!(!session.transcript("r-1").exists());
    let table = session.ok(&["import", "theirs"]);
    assert!(table.starts_with("WHAT") && table.contains("awf") && table.contains("r-1"), "{table}");
    let mode = session.transcript("r-1").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(session.quipu(&["verify"]).code, Some(0));
    assert!(session.ok(&["import", "theirs"]).contains("already there"));
    let told = session.quipu(&["import", "theirs", "--json"]).json();
    assert_eq!(told["runs"][0]["done"], "already_there");
    assert_eq!((&told["runs"][0]["system"], &told["problems"]), (&json!("awf"), &json!(0)));
    assert_eq!(session.lines("r-1")[0]["payload"]["labels"]["imported_from"], "awf");
}

#[test]
fn what_cannot_be_read_is_kept_and_told_with_its_place() {
    let session = Session::new();
    put(&session, "x.jsonl", &(line(1, "Hello") + "{ torn\n" + &line(2, "there")));
    let outcome = session.quipu(&["import", "x.jsonl"]);
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    assert!(outcome.stderr.contains("x.jsonl:2: is no transcript line"), "{outcome:?}");
    let lines = session.lines("r-1");
    let kept = lines.iter().find(|line| line["type"] == "unknown").unwrap();
    assert_eq!(kept["raw"], "{ torn");
}

#[test]
fn a_path_that_is_nothing_known_costs_nothing_and_says_what_is() {
    let session = Session::new();
    put(&session, "x.jsonl", &line(1, "Hello"));
    put(&session, "diary.md", "dear diary");
    let outcome = session.quipu(&["import", "x.jsonl", "diary.md"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("diary.md holds no run"), "{outcome:?}");
    for known in ["AWF", "kgent", "Flow Studio", "WINK"] {
        assert!(outcome.stderr.contains(known), "{outcome:?}");
    }
    assert!(!session.dir().join("storage").exists());
    assert_eq!(session.quipu(&["import", "nowhere"]).code, Some(1));
}

#[test]
fn kill_9_in_the_middle_leaves_neither_a_double_nor_a_hole() {
    let session = Session::new();
    let count = 5_000;
    let text: String = (1..=count).map(|seq| line(seq, &format!("message {seq}"))).collect();
    put(&session, "big.jsonl", &text);
    let mut killed = 0;
    for round in 1..6_u64 {
        let mut child = session.spawn(&["import", "big.jsonl"]);
        let size = || session.transcript("r-1").metadata().map_or(0, |file| file.len());
        while size() < round * 400_000 && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        killed += u32::from(child.wait().unwrap().code().is_none());
    }
    assert!(killed > 0, "every import was done before it could be killed");
    session.ok(&["import", "big.jsonl"]);
    let lines = session.lines("r-1");
    let offsets: Vec<_> =
        lines.iter().filter_map(|line| line["origin"]["offset"].as_u64()).collect();
    assert_eq!(offsets.len(), count);
    assert!(offsets.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(session.quipu(&["verify"]).code, Some(0));
    assert!(session.ok(&["import", "big.jsonl"]).contains("already there"));
}
