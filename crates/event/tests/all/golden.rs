//! The exact bytes this version writes, and files of every version that must be read for ever.
//!
//! `BLESS=1` rewrites the golden file; every byte of the difference is then to be looked at.

use std::collections::BTreeSet;
use std::path::PathBuf;

use quipu_event::{Event, Kind, RunId, RunIdentity, Timestamp, decode_line, encode_line, schema};
use serde_json::{Value, json};

use crate::typed::every_draft;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn lines(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(golden(name)).unwrap();
    text.split_inclusive('\n').map(str::to_owned).collect()
}

fn line_of(event: &Event) -> String {
    let mut line = String::new();
    encode_line(event, &mut line);
    line
}

/// All typed drafts as lines 1, 2, … of one child run, a millisecond apart.
fn typed_lines() -> Vec<String> {
    let run = RunIdentity {
        run_id: RunId::parse("550e8400-e29b-41d4-a716-446655440000").unwrap(),
        parent_run_id: Some(RunId::parse("parent.run:1").unwrap()),
    };
    let start = Timestamp::parse("2026-01-02T03:04:05Z").unwrap().as_micros();
    let numbered = (1..).zip(every_draft());
    numbered
        .map(|(seq, draft)| {
            let now = Timestamp::from_micros(start + i64::try_from(seq).unwrap() * 1000);
            line_of(&draft.seal(seq, &run, now))
        })
        .collect()
}

#[test]
fn the_golden_lines_are_what_this_version_writes() {
    let written = typed_lines();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(golden("v1.jsonl"), written.concat()).unwrap();
    }
    let kept = lines("v1.jsonl");
    for (kept, written) in kept.iter().zip(&written) {
        assert_eq!(kept, written);
        assert_eq!(&line_of(&decode_line(kept.as_bytes()).unwrap()), kept);
    }
    assert_eq!(kept.len(), written.len());
    let covered: BTreeSet<Kind> =
        kept.iter().map(|line| decode_line(line.as_bytes()).unwrap().kind).collect();
    assert_eq!(covered, Kind::ALL.iter().cloned().collect());
}

#[test]
fn old_journals_never_die() {
    for name in ["v1.jsonl", "awf.jsonl"] {
        let lines = lines(name);
        assert!(!lines.is_empty());
        for (number, line) in (1..).zip(&lines) {
            let event = decode_line(line.as_bytes())
                .unwrap_or_else(|error| panic!("{name}:{number}: {}", error.source));
            event.decode_payload().unwrap_or_else(|error| panic!("{name}:{number}: {error}"));
        }
    }
}

#[test]
fn the_schema_accepts_every_golden_line() {
    let schema = jsonschema::validator_for(&schema::line_schema()).unwrap();
    for line in lines("v1.jsonl") {
        let value: Value = serde_json::from_str(&line).unwrap();
        let problems: Vec<_> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{line}{problems:#?}");
    }
}

#[test]
fn the_schema_refuses_what_is_no_line() {
    let schema = jsonschema::validator_for(&schema::line_schema()).unwrap();
    let sound: Value = serde_json::from_str(&lines("v1.jsonl")[1]).unwrap();
    assert!(schema.is_valid(&sound));
    let wrong = [
        ("seq", json!(0)),
        ("seq", json!("1")),
        ("run_id", json!("../x")),
        ("type", json!("")),
        ("iteration", json!(-1)),
        ("payload", json!({ "name": 7 })),
        ("payload", json!("text")),
        ("origin", json!({ "file": "f" })),
        ("raw", json!({})),
    ];
    for (key, value) in wrong {
        let mut line = sound.clone();
        line[key] = value;
        assert!(!schema.is_valid(&line), "{line}");
    }
    for key in ["seq", "run_id", "type", "path", "iteration", "timestamp", "payload"] {
        let mut line = sound.clone();
        line.as_object_mut().unwrap().remove(key);
        assert!(!schema.is_valid(&line), "{line}");
    }
}
