//! Events as entries of a log: the envelope, the vocabulary, the order, and what each event becomes.

use std::collections::BTreeMap;

use proptest::prelude::*;
use quipu_event::{Event, Json, Kind};
use quipu_view::entries::{MAIN, Taken};
use quipu_view::{Entries, Entry, EntryOptions, EntryType, TranscriptSummary};
use serde_json::{Map, Value, json};

use super::transcript::{event, events};

fn entries_of(events: &[Event]) -> Vec<Entry> {
    let mut fold = Entries::default();
    let mut entries: Vec<Entry> = events.iter().flat_map(|event| fold.add(event)).collect();
    fold.finish(|entry| {
        entries.push(entry.clone());
        Taken::Yes
    });
    entries
}

fn entries(lines: &str) -> Vec<Entry> {
    entries_of(&events(lines))
}

fn types(entries: &[Entry]) -> Vec<&'static str> {
    entries.iter().map(|entry| entry.entry_type.as_str()).collect()
}

fn value(json: &Json) -> Value {
    serde_json::from_str(json.as_str()).expect("what a view makes is JSON")
}

fn detail(entry: &Entry) -> Value {
    value(entry.detail.as_ref().expect("every entry of ours has a detail"))
}

const SESSION: &str = r#"
    {"type":"run.started","payload":{"name":"review","kind":"session","session_id":"s-1","agent":{"provider":"claude"}}}
    {"type":"message.user","payload":{"role":"user","blocks":[{"type":"text","text":"Look."}]},"raw":"{\"type\":\"user\"}"}
    {"type":"message.assistant","payload":{"role":"assistant","blocks":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"I look."},{"type":"tool_use","tool_name":"Read","tool_id":"t1","tool_input":{}},{"type":"text","text":"Now."}],"model":"opus"},"raw":"{\"type\":\"assistant\"}"}
    {"type":"tool.call","payload":{"name":"Read","call_id":"t1","input":{}}}
    {"type":"tool.result","payload":{"name":"Read","call_id":"t1","output":"x"}}
    {"type":"usage","payload":{"input_tokens":7}}
    {"type":"system","payload":{"subtype":"compaction"}}
    {"type":"message.user","source":"subagent:7","payload":{"role":"user","blocks":[]}}
    {"type":"error","payload":{"code":"E","message":"no"}}
    {"type":"unknown","payload":{"reason":"no rule"},"raw":"{\"type\":\"mystery\"}"}
    {"type":"from.the.future","payload":{"x":1}}
    {"type":"run.completed","payload":{"name":"review","kind":"session","status":"succeeded"}}
"#;

#[test]
fn each_event_becomes_the_entries_that_the_vocabulary_has_for_it() {
    let entries = entries(SESSION);
    let expected = [
        "system_event",
        "user_message",
        "thinking",
        "assistant_message",
        "assistant_message",
        "tool_use",
        "tool_result",
        "token_usage",
        "system_event",
        "user_message",
        "error",
        "unknown",
        "unknown",
        "system_event",
    ];
    assert_eq!(types(&entries), expected);
    let subtypes: Vec<Value> = entries
        .iter()
        .filter(|entry| entry.entry_type == EntryType::SystemEvent)
        .map(|entry| detail(entry)["subtype"].clone())
        .collect();
    assert_eq!(subtypes, ["run.started", "compaction", "run.completed"]);
}

#[test]
fn a_reply_is_taken_apart_at_its_blocks_and_nothing_else_of_it_changes() {
    let entries = entries(SESSION);
    let payload = |n: usize| detail(&entries[n])["event"]["payload"].clone();
    let part = |block: Value| json!({"role": "assistant", "blocks": [block], "model": "opus"});
    assert_eq!(payload(2), part(json!({"type": "thinking", "thinking": "Hm."})));
    assert_eq!(payload(3), part(json!({"type": "text", "text": "I look."})));
    assert_eq!(payload(4), part(json!({"type": "text", "text": "Now."})));
    let raws: Vec<Option<&str>> = entries[2..5].iter().map(|entry| entry.raw.as_deref()).collect();
    assert_eq!(raws, [Some(r#"{"type":"assistant"}"#), None, None]);
}

#[test]
fn the_record_of_a_reply_that_only_calls_tools_goes_with_the_first_call() {
    let entries = entries(
        r#"
        {"type":"run.started","payload":{"name":"r"}}
        {"type":"message.assistant","payload":{"blocks":[{"type":"tool_use","tool_name":"A","tool_id":"1"},{"type":"tool_use","tool_name":"A","tool_id":"2"}]},"raw":"line"}
        {"type":"tool.call","payload":{"name":"A","call_id":"2"}}
        {"type":"tool.call","payload":{"name":"A","call_id":"1"}}
        {"type":"tool.call","payload":{"name":"A","call_id":"1"}}
    "#,
    );
    assert_eq!(types(&entries), ["system_event", "tool_use", "tool_use", "tool_use"]);
    let raws: Vec<Option<&str>> = entries.iter().map(|entry| entry.raw.as_deref()).collect();
    assert_eq!(raws, [None, None, Some("line"), None]);
}

#[test]
fn foreign_records_are_left_out_where_they_are_not_wanted() {
    let mut fold = Entries::new(EntryOptions { emit_raw: false, ..EntryOptions::default() });
    let all: Vec<Entry> = events(SESSION).iter().flat_map(|event| fold.add(event)).collect();
    assert!(all.iter().all(|entry| entry.raw.is_none()));
    assert_eq!(types(&all), types(&entries(SESSION)));
}

#[test]
fn the_context_has_its_keys_in_the_documented_order() {
    let entry = &entries(SESSION)[1];
    let expected = concat!(
        r#"{"prompt_name":"review","adapter":"claude_agent_sdk","entry_type":"user_message","#,
        r#""sequence_number":2,"source":"main","timestamp":"2026-01-01T00:00:02.000000+00:00","#,
        r#""session_id":"s-1","detail":{"event":{"type":"message.user","run_id":"run","seq":2,"#,
        r#""payload":{"blocks":[{"text":"Look.","type":"text"}],"role":"user"}}},"#,
        r#""raw":"{\"type\":\"user\"}"}"#,
    );
    assert_eq!(entry.to_json().as_str(), expected);
    let record = format!(
        concat!(
            r#"{{"timestamp":"2026-01-01T00:00:02.000000+00:00","level":"DEBUG","logger":"me","#,
            r#""event":"transcript.entry","message":"transcript entry: user_message","#,
            r#""context":{}}}"#,
        ),
        expected
    );
    assert_eq!(entry.to_record("me").as_str(), record);
}

#[test]
fn adapters_have_the_names_they_are_registered_under() {
    let adapter = |started: &str| {
        entries(&format!(r#"{{"type":"run.started","payload":{started}}}"#))[0].adapter.clone()
    };
    let of = |provider: &str| {
        adapter(&format!(r#"{{"kind":"session","agent":{{"provider":"{provider}"}}}}"#))
    };
    assert_eq!(of("claude"), "claude_agent_sdk");
    assert_eq!(of("codex"), "codex_app_server");
    assert_eq!(of("gemini"), "gemini");
    assert_eq!(adapter(r#"{"kind":"workflow","agent":{"provider":"claude"}}"#), "quipu");
    assert_eq!(adapter(r#"{"kind":"exec"}"#), "quipu");
    assert_eq!(adapter("7"), "quipu");
}

#[test]
fn an_entry_that_is_not_taken_uses_up_no_number() {
    let mut fold = Entries::default();
    let mut taken = Vec::new();
    for (n, event) in events(SESSION).iter().enumerate() {
        fold.hand_out(event, |entry| {
            if n % 2 == 0 {
                taken.push(entry.clone());
                Taken::Yes
            } else {
                Taken::No
            }
        });
    }
    let main = taken.iter().filter(|entry| entry.source == MAIN);
    assert!(main.map(|entry| entry.sequence_number).eq(1..=8));
}

#[test]
fn a_summary_counts_entries_by_type_and_source() {
    let mut summary = TranscriptSummary::default();
    summary.extend(&entries(SESSION));
    assert_eq!(summary.total_entries, 14);
    assert_eq!((summary.entries_by_type["unknown"], summary.entries_by_type["thinking"]), (2, 1));
    assert_eq!(summary.sources, ["main", "subagent:7"]);
    let told = value(&summary.to_json());
    assert_eq!(told["entries_by_source"], json!({"main": 13, "subagent:7": 1}));
    assert_eq!(
        (&told["adapter"], &told["prompt_name"]),
        (&"claude_agent_sdk".into(), &"review".into())
    );
    assert_eq!(told["first_timestamp"], "2026-01-01T00:00:01.000000+00:00");
    assert_eq!(told["last_timestamp"], "2026-01-01T00:00:12.000000+00:00");
}

#[test]
fn what_nests_too_deep_or_holds_half_a_character_is_still_readable() {
    let deep = format!("{}{}", "[".repeat(125), "]".repeat(125));
    for payload in [deep.as_str(), r#"{"subtype":"\ud83d"}"#] {
        let line = format!(
            r#"{{"seq":1,"run_id":"r","type":"system","path":"","iteration":0,"timestamp":"2026-01-01T00:00:00Z","payload":{payload}}}"#
        );
        let event = quipu_event::decode_line(line.as_bytes()).expect("reading takes what is there");
        let record = entries_of(&[event])[0].to_record("me");
        let read: Value = serde_json::from_str(record.as_str()).expect("a log reader can read it");
        assert!(read["context"]["detail"]["event"].is_object());
    }
}

#[test]
fn every_entry_has_a_complete_envelope() {
    // Also of a run that never says what it is called, and of one that says nothing legible.
    let nameless = r#"{"type":"system","payload":7}"#;
    for lines in [SESSION, nameless, r#"{"type":"run.created","payload":null}"#] {
        let entries = entries(lines);
        assert!(!entries.is_empty());
        for entry in entries {
            let context = value(&entry.to_json());
            for key in ["prompt_name", "adapter", "entry_type", "source", "timestamp"] {
                assert!(context[key].as_str().is_some_and(|text| !text.is_empty()), "{context}");
            }
            assert!(context["sequence_number"].is_u64());
        }
    }
    assert_eq!(entries(nameless)[0].prompt_name, "run");
}

#[test]
fn entries_of_a_source_are_numbered_from_one_without_gaps() {
    assert_numbered(&entries(SESSION));
}

#[test]
fn an_entry_has_one_of_nine_types() {
    let words: Vec<&str> = EntryType::ALL.iter().map(|entry_type| entry_type.as_str()).collect();
    assert_eq!(words.len(), 9);
    for kind in Kind::ALL {
        let line = format!(r#"{{"type":"{kind}","payload":null}}"#);
        assert!(types(&entries(&line)).iter().all(|word| words.contains(word)), "{kind}");
    }
}

#[test]
fn no_event_fails_to_become_entries() {
    for kind in Kind::ALL {
        for payload in ["7", "\"text\"", "[1]", "true", "null", "{}", r#"{"blocks":7}"#, "[[]]"] {
            let line = format!(r#"{{"type":"{kind}","path":"a","payload":{payload}}}"#);
            assert_eq!(entries(&line).len(), 1, "{line}");
        }
    }
}

#[test]
fn the_adapter_of_a_run_never_changes() {
    // A run that was accepted before it was known whose it is, and one that is gone on with.
    let entries = entries(
        r#"
        {"type":"run.created","payload":{"name":"a","kind":"session"}}
        {"type":"run.started","payload":{"name":"a","kind":"session","agent":{"provider":"codex"}}}
        {"type":"run.started","payload":{"name":"b","kind":"session","agent":{"provider":"claude"}}}
    "#,
    );
    assert_eq!(entries.len(), 3);
    for entry in entries {
        assert_eq!((entry.adapter.as_str(), entry.prompt_name.as_str()), ("codex_app_server", "a"));
    }
}

#[test]
fn a_source_is_main_or_a_subagent() {
    let source = |source: &str| {
        let line = json!({"type": "usage", "source": source});
        entries(&line.to_string())[0].source.clone()
    };
    assert_eq!(entries(r#"{"type":"usage"}"#)[0].source, "main");
    assert_eq!(source("main"), "main");
    assert_eq!(source("subagent:a1"), "subagent:a1");
    assert_eq!(source("helper"), "subagent:helper");
}

#[test]
fn entries_of_a_source_are_in_order_of_time() {
    let entries = entries(
        r#"
        {"type":"usage","timestamp":"2026-01-01T00:00:09Z"}
        {"type":"usage","timestamp":"2026-01-01T00:00:03Z"}
        {"type":"usage","source":"subagent:1","timestamp":"2026-01-01T00:00:04Z"}
    "#,
    );
    assert_in_order(&entries);
    assert_eq!(entries[1].timestamp, entries[0].timestamp);
    assert_eq!(detail(&entries[1])["event"]["timestamp"], "2026-01-01T00:00:03.000000Z");
    assert_eq!(value(&entries[2].to_json())["timestamp"], "2026-01-01T00:00:04.000000+00:00");
    assert_eq!(detail(&entries[2])["event"].get("timestamp"), None);
}

#[track_caller]
fn assert_numbered(entries: &[Entry]) {
    let mut last: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for entry in entries {
        let last = last.entry((&entry.prompt_name, &entry.source)).or_default();
        *last += 1;
        assert_eq!(entry.sequence_number, *last);
    }
}

#[track_caller]
fn assert_in_order(entries: &[Entry]) {
    let mut latest = BTreeMap::new();
    for entry in entries {
        let before = latest.insert(&entry.source, entry.timestamp);
        assert!(before.is_none_or(|before| before <= entry.timestamp));
    }
}

fn any_line() -> impl Strategy<Value = Map<String, Value>> {
    let kinds: Vec<String> = Kind::ALL.iter().map(ToString::to_string).collect();
    let block = prop::sample::select(vec![
        json!({"type": "text", "text": "\u{2028}"}),
        json!({"type": "thinking", "thinking": "x"}),
        json!({"type": "tool_use", "tool_id": "1"}),
        json!({"type": "hologram"}),
        json!(7),
    ]);
    let source = prop::sample::select(vec!["", "main", "subagent:1", "x"]);
    let blocks = prop::collection::vec(block, 0..5);
    let minute = 0..60_u32;
    (prop::sample::select(kinds), blocks, source, minute).prop_map(|(kind, blocks, source, m)| {
        let line = json!({
            "type": kind, "source": source, "timestamp": format!("2026-01-01T00:{m:02}:00Z"),
            "payload": {"blocks": blocks, "name": "n"},
        });
        let Value::Object(line) = line else { unreachable!("an object was written above") };
        line
    })
}

proptest! {
    #[test]
    fn whatever_a_run_says_its_entries_keep_every_invariant(
        lines in prop::collection::vec(any_line(), 0..40),
    ) {
        let numbered = lines.into_iter().enumerate();
        let events: Vec<Event> = numbered.map(|(n, line)| event(n as u64 + 1, line)).collect();
        let entries = entries_of(&events);
        assert_numbered(&entries);
        assert_in_order(&entries);
        for entry in &entries {
            prop_assert_eq!(&entry.adapter, &entries[0].adapter);
            prop_assert_eq!(&entry.prompt_name, &entries[0].prompt_name);
            let record: Value = serde_json::from_str(entry.to_record("me").as_str()).unwrap();
            prop_assert!(record["context"]["detail"]["event"]["payload"].is_object());
        }
    }
}
