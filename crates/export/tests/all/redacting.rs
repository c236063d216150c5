//! Secrets on the way out.

use quipu_event::{Draft, Event, Json};
use quipu_export::{LAYOUTS, Redaction};
use quipu_journal::SecretMask;
use quipu_testkit::homes::files_below;
use quipu_testkit::{TestStorage, assistant_text, complete_run, run_id, user_text};

use crate::exporting::{events, export};

const KEY: &str = "AKIAIOSFODNN7EXAMPLE";
const VALUE: &str = "correct horse battery staple";

fn redaction() -> Redaction {
    Redaction::new(SecretMask::new().with_value("phrase", VALUE))
}

fn storage() -> TestStorage {
    let storage = TestStorage::new();
    let mut drafts = complete_run(&run_id("child"));
    let said = format!("{{\"key\": \"{KEY}\", \"phrase\": \"{VALUE}\"}}");
    drafts.insert(3, user_text(&said).with_raw(said.as_bytes()));
    drafts.insert(4, assistant_text(&format!("`{KEY}`")));
    drafts.insert(5, Draft::system("note", serde_json::json!({ "title": VALUE })).unwrap());
    storage.record("r", drafts);
    storage
}

#[test]
fn a_redacted_export_shows_no_secret_and_changes_nothing_else() {
    let storage = storage();
    let out = storage.dir().join("out");
    export(&storage, "r", "quipu", &out, Some(redaction()));
    let exported = events(out.join("transcripts/r.jsonl"));
    let recorded = storage.events("r");
    assert_eq!(exported.len(), recorded.len());
    for (exported, recorded) in exported.iter().zip(&recorded) {
        if (4..=6).contains(&recorded.seq) {
            let told = Event { payload: Json::null(), raw: None, ..exported.clone() };
            let was = Event { payload: Json::null(), raw: None, ..recorded.clone() };
            assert_eq!(told, was);
            assert!(exported.payload.as_str().contains("[masked:"));
        } else {
            assert_eq!(exported, recorded);
        }
    }
}

#[test]
fn no_layout_shows_a_secret_of_a_redacted_run() {
    for layout in LAYOUTS {
        let storage = storage();
        let out = storage.dir().join("out");
        export(&storage, "r", layout.name, &out, Some(redaction()));
        let files = files_below(&out);
        assert!(!files.is_empty());
        for file in files {
            let bytes = std::fs::read(&file).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            for secret in [KEY, VALUE] {
                assert!(!text.contains(secret), "{}: {}", layout.name, file.display());
            }
        }
    }
}

#[test]
fn redaction_counts_what_it_hides_and_keeps_keys_it_does_not_know() {
    let line = format!(
        r#"{{"seq":1,"run_id":"r","type":"system","path":"","iteration":0,"timestamp":"2026-01-01T00:00:00Z","payload":{{"subtype":"x"}},"origin":{{"file":"f","offset":1,"len":2}},"odd":{{"a":"{KEY}"}},"even":1}}"#
    );
    let event = quipu_event::decode_line(line.as_bytes()).unwrap();
    let mut redaction = redaction();
    let redacted = redaction.apply(event.clone());
    assert_eq!(redaction.hidden(), 1);
    assert_eq!(redacted.origin, event.origin);
    assert_eq!((redacted.kind, redacted.path), (event.kind, event.path));
    assert_eq!(redacted.extra[1], event.extra[1]);
    assert!(!redacted.extra[0].1.as_str().contains(KEY));
}

#[test]
fn no_layout_shows_a_secret_that_stands_outside_of_a_payload() {
    let line = |seq: u64, rest: &str| {
        format!(
            r#"{{"seq":{seq},"run_id":"r","iteration":0,"timestamp":"2026-01-01T00:00:00Z",{rest}}}"#
        )
    };
    let said = r#""payload":{"blocks":[{"type":"text","text":"Hello."}]}"#;
    let lines = [
        line(1, r#""type":"run.started","path":"","payload":{"name":"n","kind":"workflow"}"#),
        line(2, &format!(r#""type":"step.started","path":"a-{KEY}","payload":{{"name":"a"}}"#)),
        line(3, &format!(r#""type":"message.assistant","path":"a-{KEY}.b",{said}"#)),
        line(4, &format!(r#""type":"message.user","path":"","source":"subagent:{KEY}",{said}"#)),
        line(5, &format!(r#""type":"odd.{KEY}","path":"","payload":{{}}"#)),
        line(6, &format!(r#""type":"system","path":"","payload":{{}},"x-{KEY}":1"#)),
        line(7, &format!(r#""type":"system","path":"","payload":{{}},"api_key":"{VALUE}s""#)),
        line(
            8,
            &format!(
                r#""type":"system","path":"","origin":{{"file":"/{KEY}/f","offset":0,"len":1}},"payload":{{}}"#
            ),
        ),
    ];
    for layout in LAYOUTS {
        let storage = TestStorage::new();
        let transcript = storage.layout.transcript(&run_id("r"));
        std::fs::create_dir_all(transcript.parent().unwrap()).unwrap();
        std::fs::write(&transcript, lines.join("\n") + "\n").unwrap();
        let out = storage.dir().join("out");
        export(&storage, "r", layout.name, &out, Some(Redaction::new(SecretMask::new())));
        for file in files_below(&out) {
            let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
            let told = format!("{}{text}", file.display());
            for secret in [KEY, VALUE] {
                assert!(!told.contains(secret), "{}: {}", layout.name, file.display());
            }
        }
    }
}
