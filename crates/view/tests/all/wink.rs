//! Debug bundles: the seven invariants of WINK's transcripts, the records, and the files around.

use std::collections::BTreeMap;

use quipu_collect::import::{System, rehearse};
use quipu_event::{Event, Json, Kind, RunId, RunIdentity, Timestamp, decode_line, encode_line};
use quipu_view::{EntryType, FileTree, FileView, WinkView, reconstruct};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::transcript::events;

/// One of everything, with a subagent.
const CLAUDE: &str = r#"
    {"type":"run.created","payload":{"name":"review","kind":"session"}}
    {"type":"run.started","payload":{"name":"review","kind":"session","session_id":"s-1","cwd":"/src","agent":{"provider":"claude"}}}
    {"type":"message.user","payload":{"role":"user","blocks":[{"type":"text","text":"Look."}]},"raw":"{\"type\":\"user\"}"}
    {"type":"message.assistant","payload":{"role":"assistant","blocks":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"I look."},{"type":"tool_use","tool_name":"Read","tool_id":"t1","tool_input":{}}],"model":"opus"}}
    {"type":"tool.call","payload":{"name":"Read","call_id":"t1","input":{"file":"a"}}}
    {"type":"tool.result","timestamp":"2026-01-01T00:00:01Z","payload":{"name":"Read","call_id":"t1","input":{"file":"a"},"output":"x","duration_ms":5}}
    {"type":"message.user","source":"subagent:7","payload":{"role":"user","blocks":[]}}
    {"type":"usage","payload":{"input_tokens":7,"cache_read_tokens":3}}
    {"type":"system","payload":{"subtype":"compaction"}}
    {"type":"error","payload":{"code":"E","message":"no"}}
    {"type":"unknown","payload":{"reason":"no rule"},"raw":"{\"type\":\"mystery\"}"}
    {"type":"from.the.future","payload":{"x":1}}
    {"type":"run.completed","payload":{"name":"review","kind":"session","status":"succeeded"}}
"#;

fn codex() -> String {
    CLAUDE.replace("claude", "codex")
}

fn bundle_of(events: &[Event]) -> (FileTree, u64) {
    let mut shelf = FileTree::default();
    let mut view = WinkView::new();
    events.iter().for_each(|event| view.add(event, &mut shelf));
    view.finish(&mut shelf);
    (shelf, view.losses().total())
}

fn bundle(lines: &str) -> FileTree {
    bundle_of(&events(lines)).0
}

fn file<'a>(bundle: &'a FileTree, name: &str) -> &'a str {
    let path = format!("run/debug_bundle/{name}");
    bundle.text(&path).unwrap_or_else(|| panic!("{path} is not there"))
}

fn json_file(bundle: &FileTree, name: &str) -> Value {
    serde_json::from_str(file(bundle, name)).expect("a .json file is JSON")
}

fn records(bundle: &FileTree, name: &str) -> Vec<Value> {
    file(bundle, name)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is JSON"))
        .collect()
}

fn contexts(lines: &str) -> Vec<Value> {
    let records = records(&bundle(lines), "transcript.jsonl");
    records.into_iter().map(|mut record| record["context"].take()).collect()
}

#[test]
fn envelope_completeness() {
    // Every `transcript.entry` log record contains all required envelope keys.
    for lines in [CLAUDE, &codex(), r#"{"type":"usage","payload":7}"#] {
        for context in contexts(lines) {
            for key in ["prompt_name", "adapter", "entry_type", "source", "timestamp"] {
                assert!(context[key].as_str().is_some_and(|text| !text.is_empty()), "{context}");
            }
            assert!(context["sequence_number"].is_u64(), "{context}");
        }
    }
}

#[test]
fn sequence_monotonicity() {
    // Within a (prompt_name, source) pair, sequence_number is strictly increasing with no gaps.
    for lines in [CLAUDE, &codex()] {
        let mut last: BTreeMap<(String, String), u64> = BTreeMap::new();
        for context in contexts(lines) {
            let key = (context["prompt_name"].to_string(), context["source"].to_string());
            let last = last.entry(key).or_default();
            *last += 1;
            assert_eq!(context["sequence_number"], *last);
        }
    }
}

#[test]
fn type_vocabulary() {
    // entry_type is always one of the canonical types. Unknown source entries map to "unknown".
    let words = EntryType::ALL.map(EntryType::as_str);
    for kind in Kind::ALL.iter().map(Kind::as_str).chain(["from.the.future"]) {
        for context in contexts(&format!(r#"{{"type":"{kind}","payload":null}}"#)) {
            assert!(words.contains(&context["entry_type"].as_str().unwrap()), "{context}");
        }
    }
    assert_eq!(contexts(r#"{"type":"from.the.future"}"#)[0]["entry_type"], "unknown");
}

#[test]
fn non_blocking_emission() {
    // Transcript emission never raises exceptions: whatever a line holds, it is an entry.
    for kind in Kind::ALL {
        for payload in ["7", "\"text\"", "[1]", "true", "null", "{}", r#"{"blocks":7}"#, "[[]]"] {
            let line = format!(r#"{{"type":"{kind}","path":"a","payload":{payload}}}"#);
            let (bundle, lost) = bundle_of(&events(&line));
            assert_eq!((records(&bundle, "transcript.jsonl").len(), lost), (1, 0), "{line}");
        }
    }
}

#[test]
fn adapter_labeling() {
    // The adapter field always matches the adapter's registered name.
    let adapters = |lines: &str| {
        let mut adapters: Vec<Value> =
            contexts(lines).into_iter().map(|mut context| context["adapter"].take()).collect();
        adapters.dedup();
        adapters
    };
    assert_eq!(adapters(CLAUDE), ["claude_agent_sdk"]);
    assert_eq!(adapters(&codex()), ["codex_app_server"]);
    assert_eq!(adapters(r#"{"type":"run.started","payload":{"kind":"workflow"}}"#), ["quipu"]);
}

#[test]
fn source_consistency() {
    // Claude adapter may produce multiple sources. Codex adapter produces "main" only.
    let sources = |lines: &str| -> Vec<String> {
        let sources = contexts(lines).into_iter().map(|context| context["source"].to_string());
        sources.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
    };
    assert_eq!(sources(CLAUDE), [r#""main""#, r#""subagent:7""#]);
    assert_eq!(sources(&codex()), [r#""main""#]);
    let told = contexts(&codex()).into_iter().find(|it| it["entry_type"] == "user_message");
    assert!(told.is_some());
    let whose: Vec<Value> = contexts(&codex())
        .into_iter()
        .filter(|it| !it["detail"]["event"]["source"].is_null())
        .map(|mut it| it["detail"]["event"]["source"].take())
        .collect();
    assert_eq!(whose, ["subagent:7"], "who it was is still told");
}

#[test]
fn timestamp_ordering() {
    // Within a source, entries are emitted in chronological order.
    let mut latest: BTreeMap<String, Timestamp> = BTreeMap::new();
    for context in contexts(CLAUDE) {
        let moment = Timestamp::parse(context["timestamp"].as_str().unwrap()).unwrap();
        let before = latest.insert(context["source"].to_string(), moment);
        assert!(before.is_none_or(|before| before <= moment), "{context}");
    }
}

#[test]
fn the_manifest_of_a_bundle_has_the_checksum_of_every_other_file() {
    for lines in [CLAUDE, r#"{"type":"run.completed","payload":{"status":"failed"}}"#] {
        let bundle = bundle(lines);
        let manifest = json_file(&bundle, "manifest.json");
        let mut others: BTreeMap<&str, String> = bundle
            .0
            .iter()
            .map(|(path, bytes)| {
                let sum = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
                (path.strip_prefix("run/debug_bundle/").unwrap(), sum)
            })
            .collect();
        others.remove("manifest.json");
        assert_eq!(manifest["integrity"]["checksums"], json!(others));
        assert_eq!(manifest["files"], json!(others.keys().collect::<Vec<_>>()));
    }
}

#[test]
fn a_bundle_says_how_its_run_ended() {
    let status =
        |lines: &str| json_file(&bundle(lines), "manifest.json")["request"]["status"].take();
    let ended = |word: &str| {
        status(&format!(r#"{{"type":"run.completed","payload":{{"status":"{word}"}}}}"#))
    };
    assert_eq!(status(r#"{"type":"run.started"}"#), "running");
    assert_eq!(ended("succeeded"), "success");
    for word in ["failed", "canceled", "aborted", "blocked"] {
        assert_eq!(ended(word), "error");
    }
    assert_eq!(ended("shrugged"), "unknown");

    let failed = bundle(r#"{"type":"run.completed","payload":{"status":"failed","error":"no"}}"#);
    let error = json!({"type": "failed", "message": "no", "traceback": []});
    assert_eq!(json_file(&failed, "error.json"), error);
    assert!(!bundle(CLAUDE).0.contains_key("run/debug_bundle/error.json"));
}

#[test]
fn what_nobody_counted_is_null_and_never_zero() {
    let tokens = |lines: &str| json_file(&bundle(lines), "metrics.json")["token_usage"].take();
    let known = json!({
        "input_tokens": 7, "output_tokens": null, "cached_tokens": 3, "total_tokens": 7,
        "prompt_count": 2,
    });
    assert_eq!(tokens(CLAUDE), known);
    assert_eq!(tokens(r#"{"type":"run.started"}"#)["total_tokens"], Value::Null);
}

#[test]
fn details_are_in_the_words_of_the_adapter() {
    let detail = |lines: &str, sort: &str| {
        let mut it = contexts(lines).into_iter().find(|it| it["entry_type"] == sort).unwrap();
        let mut detail = it["detail"].take();
        assert!(detail["event"].is_object(), "our own event is always there");
        detail.as_object_mut().unwrap().remove("event");
        detail
    };
    let claude = [
        (
            "user_message",
            json!({"sdk_entry": {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "Look."}]}}}),
        ),
        ("thinking", json!({"sdk_entry": {"type": "thinking", "thinking": "Hm."}})),
        (
            "tool_use",
            json!({"sdk_entry": {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file": "a"}}}),
        ),
        (
            "tool_result",
            json!({"sdk_entry": {"type": "tool_result", "tool_use_id": "t1", "tool_name": "Read", "content": "x", "is_error": false}}),
        ),
    ];
    for (sort, expected) in claude {
        assert_eq!(detail(CLAUDE, sort), expected);
    }
    let call = json!({"tool": "Read", "callId": "t1", "arguments": {"file": "a"}});
    let others = [
        ("user_message", json!({"text": "Look."})),
        (
            "assistant_message",
            json!({"notification": {"item": {"type": "agentMessage", "text": "I look."}}}),
        ),
        ("tool_use", json!({"notification": call, "content": "{\"file\":\"a\"}"})),
        ("tool_result", json!({"notification": call, "result": "x"})),
    ];
    for (sort, expected) in others {
        assert_eq!(detail(&codex(), sort), expected);
    }
    let plain = CLAUDE.replace("claude", "gemini");
    let expected =
        json!({"tool_name": "Read", "tool_call_id": "t1", "status": "completed", "content": "x"});
    assert_eq!(detail(&plain, "tool_result"), expected);
}

#[test]
fn a_bundle_is_read_line_by_line_whatever_its_texts_hold() {
    let long = "9".repeat(5000);
    let hostile = format!(
        r#"{{"type":"system","payload":{{"subtype":"x","a":"\u2028 \u2029 \u0085 \ud800 1e999","n":{long},"m":-1e999,"k":1.5e3}}}}"#
    );
    // The helper of these tests would not let such numbers through.
    let line =
        format!(r#"{{"seq":1,"run_id":"run","timestamp":"2026-01-01T00:00:00Z",{}"#, &hostile[1..]);
    let event = decode_line(line.as_bytes()).unwrap();
    let (bundle, _) = bundle_of(&[event]);
    for name in ["transcript.jsonl", "logs/app.jsonl"] {
        let text = file(&bundle, name);
        assert!(!text.contains(['\u{85}', '\u{2028}', '\u{2029}', '\u{b}', '\u{c}']), "{name}");
        assert!(!text.contains("\\ud800"), "{name}");
    }
    let record = &records(&bundle, "transcript.jsonl")[0];
    let payload = &record["context"]["detail"]["event"]["payload"];
    assert_eq!(payload["a"], "\u{2028} \u{2029} \u{85} \u{fffd} 1e999");
    assert_eq!(payload["n"], json!(long), "such a number is told as text");
    assert_eq!((&payload["m"], &payload["k"]), (&json!("-1e999"), &json!(1.5e3)));
}

#[test]
fn entries_are_reconstructed_from_the_records_of_a_log() {
    let bundle = bundle(CLAUDE);
    let records: Vec<Json> =
        file(&bundle, "logs/app.jsonl").lines().map(Json::from_valid).collect();
    let entries = reconstruct(&records);
    assert_eq!(entries.len(), file(&bundle, "transcript.jsonl").lines().count());
    let places: Vec<_> =
        entries.iter().map(|it| (it.source.as_str(), it.sequence_number)).collect();
    assert!(places.is_sorted(), "{places:?}");
    let again: Vec<String> =
        entries.iter().map(|it| it.to_record("quipu::transcript").to_string()).collect();
    let mut written: Vec<String> =
        file(&bundle, "transcript.jsonl").lines().map(str::to_owned).collect();
    let (mut again, _) = (again, written.sort());
    again.sort();
    assert_eq!(again, written);

    // What is no entry, or not whole, is passed over; a word from the future is unknown.
    let odd = [
        r#"{"event":"transcript.entry","context":{}}"#,
        r#"{"event":"other","context":{}}"#,
        "7",
        r#"{"event":"transcript.entry","context":{"prompt_name":"p","adapter":"a","entry_type":"dream","sequence_number":1,"source":"main","timestamp":"2024-01-15T10:30:00.123+00:00"}}"#,
    ]
    .map(Json::from_valid);
    let found = reconstruct(&odd);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].entry_type, EntryType::Unknown);
}

#[test]
fn a_reply_of_calls_that_never_came_is_counted_as_lost() {
    let reply =
        r#"{"type":"message.assistant","payload":{"blocks":[{"type":"tool_use","tool_id":"t"}]}}"#;
    let call = r#"{"type":"tool.call","payload":{"call_id":"t"}}"#;
    let lost = |lines: &[&str]| bundle_of(&events(&lines.join("\n"))).1;
    assert_eq!(lost(&[reply]), 1);
    assert_eq!(lost(&[reply, call]), 0);
    assert_eq!(lost(&[call, reply]), 0);
    let two = r#"{"type":"message.assistant","payload":{"blocks":[{"type":"tool_use","tool_id":"t"},{"type":"tool_use","tool_id":"u"}]}}"#;
    assert_eq!(lost(&[two, call]), 1, "one of its calls is nowhere");
    assert_eq!(lost(&[two, call, &call.replace("\"t\"", "\"u\"")]), 0);
}

#[test]
fn calls_of_one_id_are_told_apart_and_keep_their_answers() {
    // Two steps at once, and one of them a second time.
    let at = |kind: &str, path: &str| {
        let payload = json!({"name": path, "call_id": "c", "output": path, "status": "completed"});
        json!({"type": kind, "path": path, "payload": payload}).to_string()
    };
    let (call, result) = ("tool.call", "tool.result");
    let lines =
        [(call, "a"), (call, "b"), (result, "a"), (result, "b"), (call, "a"), (result, "a")];
    let lines = lines.map(|(kind, path)| at(kind, path)).join("\n");
    for agent in ["claude", "codex", "gemini"] {
        let start = json!({"type": "run.started", "payload": {"kind": "session", "name": "n",
            "agent": {"provider": agent}}});
        let found = bundle(&format!("{start}\n{lines}"));
        let id = |record: &Value| {
            let detail = &record["context"]["detail"];
            let places = [
                &detail["sdk_entry"]["id"],
                &detail["sdk_entry"]["tool_use_id"],
                &detail["notification"]["callId"],
                &detail["tool_call_id"],
                &record["context"]["call_id"],
            ];
            places.into_iter().find_map(|place| place.as_str().map(str::to_owned))
        };
        let ids = |event: &str, sort: Value| -> Vec<String> {
            let records = records(&found, "logs/app.jsonl");
            let of_sort = |record: &&Value| {
                record["event"] == event && record["context"]["entry_type"] == sort
            };
            records.iter().filter(of_sort).filter_map(id).collect()
        };
        assert_eq!(ids("transcript.entry", json!("tool_use")), ["c", "c#2", "c#3"], "{agent}");
        assert_eq!(ids("transcript.entry", json!("tool_result")), ["c", "c#2", "c#3"], "{agent}");
        assert_eq!(ids("tool_call.complete", Value::Null), ["c", "c#2", "c#3"], "{agent}");
    }
}

#[test]
fn the_record_of_the_agent_is_shown_as_it_was() {
    let run = |agent: &str, kind: &str, payload: Value, record: &Value| {
        let start = json!({"type": "run.started", "payload": {"kind": "session", "name": "n",
            "agent": {"provider": agent}}});
        let line = json!({"type": kind, "payload": payload, "raw": record.to_string()});
        let details = contexts(&format!("{start}\n{line}")).into_iter().skip(1);
        let without_event = |mut context: Value| {
            let mut detail = context["detail"].take();
            detail.as_object_mut().unwrap().remove("event");
            (context["entry_type"].as_str().unwrap().to_owned(), detail)
        };
        details.map(without_event).collect::<Vec<_>>()
    };
    let blocks = json!([{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Yes."},
        {"type": "tool_use", "tool_name": "Read", "tool_id": "t", "tool_input": {}}]);
    let text = json!({"type": "text", "text": "Yes.", "citations": null});
    let said = |content: Value| {
        json!({"type": "assistant", "uuid": "u", "sessionId": "s",
            "message": {"id": "m", "model": "opus", "content": content, "usage": {"output_tokens": 1}}})
    };
    let whole = said(json!([{"type": "thinking", "thinking": "Hm.", "signature": "x"}, text,
        {"type": "tool_use", "id": "t", "name": "Read", "input": {}}]));
    let found = run("claude", "message.assistant", json!({"blocks": blocks}), &whole);
    let thinking = json!({"type": "thinking", "thinking": "Hm."});
    let expected = [
        ("thinking".to_owned(), json!({"sdk_entry": thinking})),
        ("assistant_message".to_owned(), json!({"sdk_entry": said(json!([text]))})),
    ];
    assert_eq!(found, expected);

    let summary = json!({"type": "summary", "leafUuid": "l", "n": 1});
    let found = run("claude", "system", json!({"subtype": "summary"}), &summary);
    assert_eq!(found[0].1["sdk_entry"], summary);
    // What is not one object is no record to be shown.
    let found = run("claude", "system", json!({"subtype": "summary"}), &json!([1]));
    assert_eq!(found[0].1.get("sdk_entry"), None);

    let params =
        json!({"item": {"type": "commandExecution", "id": "c", "command": "ls"}, "turnId": "1"});
    let record = json!({"method": "item/started", "params": params});
    let call = json!({"name": "shell", "call_id": "c", "input": {"command": "ls"}});
    for (kind, payload) in [
        ("tool.call", &call),
        ("tool.result", &call),
        ("usage", &json!({"input_tokens": 1})),
        ("message.assistant", &json!({"blocks": [text]})),
    ] {
        let found = run("codex", kind, payload.clone(), &record);
        assert_eq!(found[0].1["notification"], params, "{kind}");
    }
    let found = run("codex", "tool.call", call, &json!({"type": "response_item"}));
    assert_eq!(found[0].1["notification"]["callId"], "c");
}

#[test]
fn the_times_of_a_resumed_run_agree() {
    let lines = r#"{"type":"run.started","timestamp":"2026-01-01T00:00:00Z","payload":{"name":"n"}}
        {"type":"run.completed","timestamp":"2026-01-01T00:00:01Z","payload":{"status":"failed","duration_ms":1000}}
        {"type":"run.started","timestamp":"2026-01-01T00:00:19.972Z","payload":{"name":"n"}}
        {"type":"run.completed","timestamp":"2026-01-01T00:00:20Z","payload":{"status":"succeeded","duration_ms":28}}"#;
    let timing = json_file(&bundle(lines), "metrics.json")["timing"].take();
    assert_eq!(timing["ended_at"], "2026-01-01T00:00:20.000000+00:00");
    assert_eq!(timing["duration_ms"], 20_000);
}

#[test]
fn entries_of_an_imported_bundle_keep_their_adapter_session_and_prompt() {
    let entry = |adapter: &str, session: &str, sort: &str, detail: Value| {
        json!({"timestamp": "2026-01-01T00:00:00+00:00", "level": "DEBUG", "logger": "w",
            "event": "transcript.entry", "message": "m", "context": {"prompt_name": "demo",
            "adapter": adapter, "entry_type": sort, "sequence_number": 1, "source": "main",
            "timestamp": "2026-01-01T00:00:00+00:00", "session_id": session, "detail": detail,
            "raw": "r"}})
    };
    let message = json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "Yes."}], "usage": {"input_tokens": 2, "output_tokens": 1}});
    let item = json!({"type": "commandExecution", "id": "c", "command": "ls"});
    let theirs = [
        entry(
            "claude_agent_sdk",
            "s",
            "assistant_message",
            json!({"sdk_entry": {"type": "assistant", "uuid": "u", "message": message}}),
        ),
        entry("codex_app_server", "sid", "user_message", json!({"text": "Hello"})),
        entry("codex_app_server", "sid", "tool_use", json!({"notification": {"item": item}})),
        entry(
            "codex_app_server",
            "sid",
            "token_usage",
            json!({"notification": {"tokenUsage": {"total": {"inputTokens": 1}}}}),
        ),
        entry("codex_app_server", "sid", "unknown", json!({"notification": {"x": 1}})),
    ];
    let log: String = theirs.iter().map(|line| format!("{line}\n")).collect();
    let manifest = json!({"format_version": "1.0.0", "bundle_id": "run",
        "request": {"status": "success", "started_at": "2026-01-01T00:00:00+00:00"},
        "prompt": {"ns": "demo", "key": "k", "adapter": "claude_agent_sdk"}});
    let files = [("logs/app.jsonl", log), ("manifest.json", manifest.to_string())];
    let files = files.map(|(name, text)| (name.to_owned(), text.into_bytes()));
    let (drafts, _) = rehearse(System::Wink, files.into()).unwrap();
    let run = RunIdentity { run_id: RunId::parse("run").unwrap(), parent_run_id: None };
    let now = Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
    let events: Vec<Event> = (drafts.into_iter().zip(1..))
        .map(|(draft, seq)| {
            let mut line = String::new();
            encode_line(&draft.seal(seq, &run, now), &mut line);
            decode_line(line.as_bytes()).unwrap()
        })
        .collect();
    let (found, lost) = bundle_of(&events);
    assert_eq!(lost, 0);
    let mut found: Vec<Value> = records(&found, "transcript.jsonl")
        .into_iter()
        .map(|mut it| it["context"].take())
        .collect();
    for (n, context) in found.iter().enumerate() {
        assert_eq!(context["prompt_name"], "demo", "{context}");
        assert_eq!(context["sequence_number"], n + 1, "{context}");
    }
    found.retain(|context| context.get("raw").is_some_and(|raw| raw == "r"));
    assert_eq!(found.len(), theirs.len());
    for (found, theirs) in found.iter_mut().zip(theirs) {
        found["detail"].as_object_mut().unwrap().remove("event");
        for key in ["adapter", "session_id", "entry_type", "source", "detail"] {
            assert_eq!(found[key], theirs["context"][key], "{key}");
        }
    }
}

/// A bundle that WINK itself made gives up its entries. Its records are not ours to bring along.
#[test]
fn the_records_of_wink_itself_are_reconstructed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/fixtures/wink/debug_bundle");
    let Ok(text) = std::fs::read_to_string(format!("{path}/logs/app.jsonl")) else {
        eprintln!("NO BUNDLE OF WINK'S OWN WAS FOUND: nothing is checked here");
        return;
    };
    let records: Vec<Json> = text.lines().map(Json::from_valid).collect();
    let transcript = std::fs::read_to_string(format!("{path}/transcript.jsonl")).unwrap();
    assert!(reconstruct(&records).len() >= transcript.lines().count());
}
