//! What is decoded here is what `serde_json` decodes, and almost everything of ours is decoded here.

use std::collections::BTreeMap;
use std::fmt::Debug;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::decode_valid;
use crate::block::ContentBlock;
use crate::json::Json;
use crate::payload::{
    DeliverableCheck, ErrorReport, FileAccess, Message, RunCompleted, RunCreated, RunStarted,
    StepCompleted, StepStarted, System, ToolCall, ToolResult, UnknownRecord, Usage,
};
use crate::raw::Origin;

/// Asks for whatever a derived type can ask for.
#[derive(Debug, PartialEq, Deserialize)]
struct Everything {
    a: Option<u64>,
    b: Option<i32>,
    f: Option<f64>,
    flag: Option<bool>,
    list: Option<Vec<Everything>>,
    map: Option<BTreeMap<String, Json>>,
    numbered: Option<BTreeMap<u8, bool>>,
    pair: Option<(u8, String)>,
    word: Option<Word>,
    name: Option<Name>,
    nothing: Option<()>,
    letter: Option<char>,
    any: Option<serde_json::Value>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Plain,
    Laden(u8),
}

#[derive(Debug, PartialEq, Deserialize)]
struct Name(String);

fn agrees<T: DeserializeOwned + PartialEq + Debug>(text: &str) -> bool {
    let ours = decode_valid::<T>(text);
    if let Some(ours) = &ours {
        assert_eq!(ours, &serde_json::from_str::<T>(text).unwrap(), "{text}");
    }
    ours.is_some()
}

/// Compares for every type whose shape the text may have; tells whether one of them was decoded.
fn agrees_as_all(text: &str) -> bool {
    let payloads = [
        agrees::<RunStarted>(text),
        agrees::<RunCompleted>(text),
        agrees::<RunCreated>(text),
        agrees::<StepStarted>(text),
        agrees::<StepCompleted>(text),
        agrees::<Message>(text),
        agrees::<ToolCall>(text),
        agrees::<ToolResult>(text),
        agrees::<Usage>(text),
        agrees::<System>(text),
        agrees::<ErrorReport>(text),
        agrees::<UnknownRecord>(text),
        agrees::<FileAccess>(text),
        agrees::<DeliverableCheck>(text),
    ];
    agrees::<Vec<ContentBlock>>(text);
    agrees::<Origin>(text);
    agrees::<Everything>(text);
    agrees::<serde_json::Value>(text);
    agrees::<Json>(text);
    payloads.contains(&true)
}

fn payloads() -> Vec<String> {
    let lines = include_str!("../../tests/golden/v1.jsonl").lines();
    lines.map(|line| crate::decode_line(line.as_bytes()).unwrap().payload.to_string()).collect()
}

#[test]
fn our_own_payloads_go_the_short_way() {
    for payload in payloads().iter().filter(|payload| payload.starts_with('{')) {
        assert!(agrees_as_all(payload), "{payload}");
    }
}

#[test]
fn what_is_asked_for_is_given_or_left_to_serde_json() {
    let decoded = [
        r#"{"a":18446744073709551615,"b":-7,"f":0.1,"flag":true,"word":"plain","name":"n"}"#,
        "{ \"a\" : null ,\r\t\"list\" : [ { } , {\"f\":5} ], \"pair\":[1,\"\\u00e9\\n\"] }",
        r#"{"map":{"":[1.50,{"x":"\ud800"}],"\"":null},"unknown":[{"b":["]"]}],"f":1e5}"#,
        r#"{"any":[-0,1.5e300,true,"a\/b",{"a":1,"a":2},123456789012345678901234567890]}"#,
    ];
    for text in decoded {
        assert!(agrees::<Everything>(text), "{text}");
    }
    let left = [
        r#"{"a":-1}"#,
        r#"{"a":1.0}"#,
        r#"{"b":3000000000}"#,
        r#"{"a":1,"a":1}"#,
        r#"{"name":"\ud800"}"#,
        r#"{"pair":[1,"a",2]}"#,
        r#"{"pair":[1]}"#,
        r#"{"word":{"laden":1}}"#,
        r#"{"word":"laden"}"#,
        r#"{"numbered":{"1":true}}"#,
        r#"{"letter":"x"}"#,
        r#"{"flag":0}"#,
        r#"{"list":{}}"#,
        "[null,null]",
        "null",
        "\"text\"",
    ];
    for text in left {
        assert!(!agrees::<Everything>(text), "{text}");
    }
}

#[test]
fn deep_nesting_is_left_to_serde_json() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(agrees::<serde_json::Value>(&nested(120)) && agrees::<Json>(&nested(120)));
    assert!(!agrees::<serde_json::Value>(&nested(121)) && !agrees::<Json>(&nested(121)));
    assert!(!agrees::<serde_json::Value>(&nested(100_000)));
    // What is passed over counts too.
    assert!(!agrees::<Message>(&format!("{{\"unknown\":{}}}", nested(120))));
}

/// Objects that have keys with a meaning, of the right type and of others, some of them twice.
fn any_payload() -> impl Strategy<Value = String> {
    let keys = "role blocks type text fidelity name call_id input output model kind status error \
        usage attempt a b f flag list map pair word any turn cost_usd input_tokens unknown \\u0061"
        .split_whitespace();
    let leaf = prop_oneof![
        select(vec!["null", "true", "false", "\"router\"", "\"text\"", "\"plain\"", "[]", "{}"])
            .prop_map(str::to_owned),
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,2})?",
        "\"(\\\\u[0-9a-fA-F]{4}|\\\\ud83d\\\\ude00|[ a-zé]{1,30}|\\\\[nrtbf/\\\\\"]){0,6}\"",
    ];
    let key = select(keys.collect::<Vec<_>>());
    leaf.prop_recursive(4, 32, 6, move |inner| {
        let field = (key.clone(), "[ \t\r]?", inner.clone())
            .prop_map(|(key, space, value)| format!("\"{key}\":{space}{value}"));
        prop_oneof![
            3 => vec(field, 0..6).prop_map(|fields| format!("{{{}}}", fields.join(","))),
            1 => vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(" ,"))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn whatever_is_decoded_here_is_what_serde_json_decodes(text in any_payload()) {
        agrees_as_all(&text);
    }

    #[test]
    fn a_payload_that_was_bent_is_decoded_as_serde_json_decodes_it(
        payload in select(payloads()),
        bends in vec((any::<Index>(), select(b"{}[]\",:\\ 019e.-nux".to_vec())), 0..3),
    ) {
        let mut bytes = payload.into_bytes();
        for (at, byte) in bends {
            let at = at.index(bytes.len());
            if bytes[at].is_ascii() {
                bytes[at] = byte;
            }
        }
        let text = String::from_utf8(bytes).unwrap();
        // Only what is JSON is ever asked for here.
        if serde_json::from_str::<&RawValue>(&text).is_ok() {
            agrees_as_all(&text);
        }
    }
}
