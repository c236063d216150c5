//! `quipu schema`: every recorded line is valid by the schema that is printed.

use serde_json::{Value, json};

use crate::session::Session;

fn validator(session: &Session) -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(&session.ok(&["schema"])).unwrap();
    jsonschema::validator_for(&schema).expect("the schema is a schema")
}

#[test]
fn every_line_of_a_demo_run_is_valid() {
    let session = Session::new();
    session.ok(&["demo"]);
    let validator = validator(&session);
    let mut lines = 0;
    for entry in std::fs::read_dir(session.dir().join("storage/transcripts")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        for line in session.lines(name.strip_suffix(".jsonl").unwrap()) {
            let complaint = validator.iter_errors(&line).next().map(|error| error.to_string());
            assert_eq!(complaint, None, "{line}");
            lines += 1;
        }
    }
    assert!(lines > 40, "{lines} lines in two runs");
}

#[test]
fn the_schema_for_writers_asks_for_what_the_one_for_readers_lets_go() {
    let session = Session::new();
    let schema: Value = serde_json::from_str(&session.ok(&["schema", "--written"])).unwrap();
    let written = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let line = json!({
        "seq": 1, "run_id": "r", "type": "step.started", "path": "a", "iteration": 0,
        "timestamp": "2026-01-01T00:00:00.000000Z", "payload": {},
    });
    assert!(validator(&session).is_valid(&line) && !written.is_valid(&line));
}

#[test]
fn a_line_that_breaks_the_format_is_not_valid() {
    let session = Session::new();
    let validator = validator(&session);
    let line = json!({
        "seq": 1, "run_id": "r", "type": "usage", "path": "", "iteration": 0,
        "timestamp": "2026-01-01T00:00:00.000000Z", "payload": { "input_tokens": 1 }, "new_key": 1,
    });
    assert!(validator.is_valid(&line), "unknown keys are let through");
    for (pointer, wrong) in
        [("/seq", json!(0)), ("/run_id", json!("a/b")), ("/payload/input_tokens", json!("1"))]
    {
        let mut broken = line.clone();
        *broken.pointer_mut(pointer).unwrap() = wrong;
        assert!(!validator.is_valid(&broken), "{broken}");
    }
}
