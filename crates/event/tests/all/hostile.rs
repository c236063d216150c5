//! Bytes that nobody meant to be a line, and values that must not become one.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use quipu_event::{
    Draft, EncodeError, Json, JsonError, Kind, LineError, MAX_DEPTH, decode_line, encode_line, peek,
};

use crate::any::any_event;

/// A golden line with some of its bytes replaced, and perhaps cut short.
fn bent_line() -> impl Strategy<Value = Vec<u8>> {
    let lines: Vec<&str> = include_str!("../golden/v1.jsonl").lines().collect();
    let awkward = prop_oneof![any::<u8>(), select(b"{}[]\",:\\\n 019eu".to_vec())];
    let bends = vec((any::<Index>(), awkward), 0..4);
    (select(lines), bends, prop_oneof![3 => Just(None), 1 => any::<Index>().prop_map(Some)])
        .prop_map(|(line, bends, cut)| {
            let mut line = line.as_bytes().to_vec();
            for (at, byte) in bends {
                let at = at.index(line.len());
                line[at] = byte;
            }
            if let Some(cut) = cut {
                line.truncate(cut.index(line.len()));
            }
            line
        })
}

/// Whatever can be read can be written and read again, and stays one line.
fn read_all(bytes: &[u8]) {
    let _ = peek(bytes);
    let Ok(event) = decode_line(bytes) else { return };
    let _ = event.decode_payload().map_err(|error| error.to_string());
    let _ = event.raw.as_ref().and_then(|raw| raw.bytes());
    for kind in Kind::ALL {
        let _ = quipu_event::Payload::decode(kind, &event.payload);
    }
    let mut line = String::new();
    encode_line(&event, &mut line);
    assert_eq!(line.find('\n'), Some(line.len() - 1));
    assert_eq!(decode_line(line.as_bytes()).unwrap(), event);
}

proptest! {
    #[test]
    fn decoding_never_panics(noise in vec(any::<u8>(), 0..200), bent in bent_line()) {
        read_all(&noise);
        read_all(&bent);
    }

    #[test]
    fn peek_agrees_with_decoding(event in any_event(), bent in bent_line()) {
        let mut line = String::new();
        encode_line(&event, &mut line);
        let kind = event.kind.as_str();
        let plain = !kind.contains(|c: char| c == '"' || c == '\\' || c < ' ');
        let seen = peek(line.as_bytes()).map(|seen| (seen.seq, seen.kind));
        prop_assert_eq!(seen, plain.then_some((event.seq, kind)));
        if let (Some(seen), Ok(event)) = (peek(&bent), decode_line(&bent)) {
            prop_assert_eq!((seen.seq, seen.kind), (event.seq, event.kind.as_str()));
        }
    }
}

#[test]
fn a_payload_nested_too_deep_is_refused_with_a_clear_error() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let value = |depth| serde_json::from_str::<serde_json::Value>(&nested(depth)).unwrap();
    let sentence = "value nests deeper than 120 levels";

    assert!(Draft::new(Kind::System, &value(MAX_DEPTH)).is_ok());
    let refused = Draft::new(Kind::System, &value(MAX_DEPTH + 1)).unwrap_err();
    assert_eq!((&refused, refused.to_string().as_str()), (&EncodeError::TooDeep, sentence));

    assert!(Json::parse(&nested(MAX_DEPTH)).is_ok());
    let refused = Json::parse(&nested(MAX_DEPTH + 1)).unwrap_err();
    assert!(matches!(refused, JsonError::TooDeep));
    assert_eq!(refused.to_string(), sentence);
    assert!(matches!(Json::parse(&nested(1_000_000)), Err(JsonError::TooDeep)));
}

#[test]
fn a_line_that_is_no_event_says_what_is_wrong_and_where() {
    let cases = [
        ("", "EOF while parsing a value at line 1 column 0"),
        (
            "[]",
            "invalid type: sequence, expected a JSON object with seq, run_id, type and timestamp",
        ),
        ("{\"seq\":1", "EOF while parsing an object at line 1 column 8"),
        ("{\"seq\":-1}", "invalid value: integer `-1`, expected u64"),
        ("{\"seq\":1,\"seq\":2}", "duplicate field `seq`"),
        ("{\"type\":\"a\",\"type\":\"b\"}", "duplicate field `type`"),
        ("{\"run_id\":\"a b\"}", "\"a b\" is not a run id"),
        ("{\"timestamp\":\"noon\"}", "\"noon\" is not a time"),
        ("{}", "missing field `seq`"),
        ("{\"seq\":1,\"run_id\":\"r\",\"type\":\"t\"}", "missing field `timestamp`"),
        (
            "{\"seq\":1,\"run_id\":\"r\",\"type\":\"t\",\"timestamp\":\"2026-01-02T03:04:05Z\"}x",
            "trailing characters",
        ),
    ];
    for (line, expected) in cases {
        let LineError { source } = decode_line(line.as_bytes()).unwrap_err();
        assert!(source.to_string().contains(expected), "{line}: {source}");
    }
}

#[test]
fn what_is_not_where_peek_looks_is_left_to_decoding() {
    let seen = peek(br#"{"seq":12,"run_id":"r","parent_run_id":"p","type":"usage",GARBAGE"#);
    assert_eq!(seen.map(|seen| (seen.seq, seen.kind)), Some((12, "usage")));
    let unseen: [&[u8]; 8] = [
        b"",
        b"{\"seq\":",
        b"{\"seq\":99999999999999999999,\"type\":\"a\"}",
        b"{\"seq\": 1,\"type\":\"a\"}",
        b"{\"seq\":1,\"path\":\"\",\"type\":\"a\"}",
        b"{\"seq\":1,\"type\":\"a\\u0041\"}",
        b"{\"seq\":1,\"type\":\"\xff\"}",
        b"{\"seq\":1,\"type\":7}",
    ];
    for line in unseen {
        assert_eq!(peek(line), None, "{}", String::from_utf8_lossy(line));
    }
}
