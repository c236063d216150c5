//! Whatever producers hand in.

use quipu_event::{Draft, Json, Kind, MAX_DEPTH, Origin, StepPath, decode_line};
use quipu_journal::{RecordError, verify_run};
use quipu_testkit::{TestStorage, run_id};
use serde_json::{Value, json};

const EVIL: &str = "\0\u{1}\u{7}\u{8}\t\n\u{b}\u{c}\r\u{1b}\u{1f}\"\\/\u{7f}\u{85}\u{a0}\u{2028}\u{2029}\u{feff}\u{fffd}\u{10ffff}";

fn draft(payload: &Value) -> Draft {
    Draft::new(Kind::System, payload).unwrap()
}

fn parsed(text: &str) -> Draft {
    Draft::with_json(Kind::System, Json::parse(text).unwrap())
}

fn nested(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

/// Drafts that must be taken, however unpleasant.
fn unpleasant() -> Vec<Draft> {
    let everywhere = Draft::new(Kind::Other(EVIL.into()), &json!({ EVIL: EVIL }))
        .unwrap()
        .at(StepPath::from(EVIL), u64::MAX)
        .by(EVIL)
        .with_raw(EVIL.as_bytes())
        .from_origin(Origin::new(EVIL, u64::MAX, 0));
    vec![
        everywhere,
        draft(&json!({ "subtype": "x", "text": "x".repeat(20_000_000) })),
        draft(&json!({ "subtype": "x", "text": EVIL.repeat(10_000) })),
        draft(
            &serde_json::from_str(&format!(
                "{{\"subtype\":\"x\",\"deep\":{}}}",
                nested(MAX_DEPTH - 1)
            ))
            .unwrap(),
        ),
        parsed(
            r#"{"subtype":"x","half":"\ud800","other half":"\udc00","\ud800":"swapped \udc00\ud800"}"#,
        ),
        parsed("{\n\t\"subtype\" :\r\n \"x\"\n}"),
        parsed(r#"{"subtype":"x","n":[1E5,-0,0.10,123456789012345678901234567890]}"#),
        Draft { payload: serde_json::from_str("{\"subtype\":\n\"x\"}").unwrap(), ..parsed("{}") },
        Draft::unknown(b"\xff\xfe\n\x00\xc0\x80\xed\xa0\x80", None, EVIL),
        Draft::unknown(b"", Some(""), ""),
        Draft::unknown(b"\n", None, "\n"),
        Draft::with_json(Kind::System, Json::null()),
    ]
}

#[test]
fn nothing_a_producer_hands_in_makes_a_bad_line() {
    let storage = TestStorage::new();
    let recorder = storage.create("r");
    let drafts = unpleasant();
    for draft in drafts.clone() {
        recorder.record(draft).unwrap();
    }
    let read: Json = serde_json::from_str(&nested(MAX_DEPTH + 1)).unwrap();
    let too_deep = recorder.record(Draft::with_json(Kind::System, read)).unwrap_err();
    assert!(matches!(too_deep, RecordError::TooDeep));
    assert!(too_deep.to_string().contains("nests deeper than 120 levels"));
    recorder.close().unwrap();

    let bytes = storage.bytes("r");
    let lines: Vec<_> = bytes.strip_suffix(b"\n").unwrap().split(|&byte| byte == b'\n').collect();
    assert_eq!(lines.len(), drafts.len());
    for (draft, line) in drafts.iter().zip(lines) {
        let start = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
        // Strictly: text without control bytes, one object, nothing behind it.
        assert!(line.iter().all(|&byte| byte >= 0x20), "{start}");
        let value: Value = serde_json::from_slice(line).unwrap_or_else(|e| panic!("{start}: {e}"));
        assert!(value.is_object());
        let event = decode_line(line).unwrap();
        assert_eq!((&event.payload, &event.raw), (&draft.payload, &draft.raw));
        assert_eq!(
            (&event.kind, &event.path, &event.source),
            (&draft.kind, &draft.path, &draft.source)
        );
    }
    let report = verify_run(&storage.layout, &run_id("r")).unwrap();
    assert!(report.is_sound(), "{:?}", report.findings);
}

#[test]
fn foreign_bytes_are_kept_to_the_byte() {
    let storage = TestStorage::new();
    let recorder = storage.create("r");
    let records: [&[u8]; 5] =
        [b"", b"\xff\x00\n", EVIL.as_bytes(), b"{\"a\": 1}\r", "é".as_bytes()];
    for record in records {
        recorder.record(Draft::unknown(record, None, "kept")).unwrap();
    }
    let kept: Vec<_> =
        storage.events("r").iter().map(|e| e.raw.as_ref().unwrap().bytes().unwrap()).collect();
    assert_eq!(kept, records);
}
