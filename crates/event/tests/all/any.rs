//! Arbitrary events: every field present or absent, known and unknown, plain and awkward.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use quipu_event::{Event, Json, Kind, Origin, Raw, RunId, StepPath, Timestamp};
use serde_json::Value;

use crate::typed::every_draft;

/// The keys that have a meaning in an envelope.
const KNOWN_KEYS: &[&str] = &[
    "seq",
    "run_id",
    "parent_run_id",
    "child_run_id",
    "type",
    "path",
    "iteration",
    "timestamp",
    "payload",
    "source",
    "origin",
    "raw",
    "raw_b64",
];

/// Text with everything that has ever broken a line.
pub(crate) fn any_text() -> impl Strategy<Value = String> {
    "(\\PC|[\\x00-\\x30\"\\\\\u{7f}\u{85}\u{2028}\u{2029}\u{feff}]){0,12}"
}

pub(crate) fn any_event() -> impl Strategy<Value = Event> {
    let ids = (any_run_id(), option::of(any_run_id()), option::of(any_run_id()));
    let place = (any_kind(), any_text(), any::<u64>(), any_timestamp());
    let foreign = (
        option::of(any_text()),
        option::of(any_origin()),
        option::of(prop_oneof![vec(any::<u8>(), 0..20), any_text().prop_map(String::into_bytes)]),
    );
    let extra = vec((any_unknown_key(), any_json()), 0..3);
    (any::<u64>(), ids, place, any_payload(), foreign, extra).prop_map(
        |(seq, ids, (kind, path, iteration, timestamp), payload, foreign, extra)| Event {
            seq,
            run_id: ids.0,
            parent_run_id: ids.1,
            child_run_id: ids.2,
            kind,
            path: StepPath::from(path.as_str()),
            iteration,
            timestamp,
            payload,
            source: foreign.0.map(Into::into),
            origin: foreign.1.map(Box::new),
            raw: foreign.2.map(|bytes| Raw::of(&bytes)),
            extra,
        },
    )
}

fn any_run_id() -> impl Strategy<Value = RunId> {
    prop_oneof![
        "[A-Za-z0-9._:-]{1,40}".prop_filter_map("a name of a directory", |t| RunId::parse(&t).ok()),
        Just(RunId::parse(&"x".repeat(128)).unwrap()),
    ]
}

fn any_kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        proptest::sample::select(Kind::ALL.to_vec()),
        any_text().prop_map(|word| Kind::from(word.as_str())),
    ]
}

fn any_timestamp() -> impl Strategy<Value = Timestamp> {
    let nanos = |(micros, nanos): (i64, u32)| {
        let whole = Timestamp::from_micros(micros).to_string();
        Timestamp::parse(&whole.replace('Z', &format!("{nanos:03}Z"))).unwrap()
    };
    prop_oneof![
        any::<i64>().prop_map(Timestamp::from_micros),
        (0..4_000_000_000_000_000_i64).prop_map(Timestamp::from_micros),
        (0..4_000_000_000_000_000_i64, 0..1000_u32).prop_map(nanos),
    ]
}

fn any_origin() -> impl Strategy<Value = Origin> {
    (any_text(), any::<u64>(), any::<u64>(), option::of(any::<u64>()), option::of(any_timestamp()))
        .prop_map(|(file, offset, len, until, recorded_at)| Origin {
            until,
            recorded_at,
            ..Origin::new(file, offset, len)
        })
}

fn any_unknown_key() -> impl Strategy<Value = String> {
    any_text().prop_filter("a key with a meaning", |key| !KNOWN_KEYS.contains(&key.as_str()))
}

/// A payload of some type, of no type, or a typed one with fields from the future.
fn any_payload() -> impl Strategy<Value = Json> {
    let typed = proptest::sample::select(every_draft()).prop_map(|draft| draft.payload);
    let future =
        (typed.clone(), any_text(), any_json()).prop_map(|(typed, key, value)| {
            match typed.as_str().strip_suffix('}') {
                Some("{") | None => typed,
                Some(open) => {
                    let key = Json::encode(&key).unwrap();
                    Json::parse(&format!("{open},{key}:{value}}}")).unwrap()
                }
            }
        });
    prop_oneof![any_json(), typed, future]
}

/// Any JSON value, numbers in spellings that no number type would give back.
fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|b| b.to_string()),
        any::<i64>().prop_map(|n| n.to_string()),
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,2})?",
        any_text().prop_map(|text| Value::from(text).to_string()),
        "\"(\\\\u[0-9a-fA-F]{4}|[a-z/]|\\\\/){0,6}\"",
    ];
    let nested = leaf.prop_recursive(4, 24, 4, |inner| {
        let field = (any_text(), inner.clone())
            .prop_map(|(key, value)| format!("{}:{value}", Value::from(key)));
        prop_oneof![
            vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            vec(field, 0..4).prop_map(|fields| format!("{{{}}}", fields.join(","))),
        ]
    });
    nested.prop_map(|text| Json::parse(&text).unwrap())
}
