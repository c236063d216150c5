//! Trace events, read back as viewers draw them.

#![expect(clippy::unwrap_used, reason = "a test may fail wherever it likes")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use quipu_view::{ChromeTraceView, FileTree};
use serde_json::Value;

use super::random_run::{any_run, fold};
use super::transcript::events;

fn elements(tree: &FileTree) -> Vec<Value> {
    let text = tree.text("run.trace.json").expect("a run has a trace");
    let document: Value = serde_json::from_str(text).expect("a trace is JSON");
    document["traceEvents"].as_array().expect("a trace has events").clone()
}

#[test]
fn what_goes_on_side_by_side_stands_on_tracks_of_its_own() {
    let tree = fold(
        ChromeTraceView::new(),
        &events(
            r#"
        {"type":"run.started","payload":{"name":"w","kind":"workflow"}}
        {"type":"step.started","path":"fan","payload":{"name":"fan","kind":"parallel"}}
        {"type":"step.started","path":"fan.a","payload":{"name":"a","kind":"agent"}}
        {"type":"step.started","path":"fan.b","payload":{"name":"b","kind":"agent"}}
        {"type":"tool.call","path":"fan.a","payload":{"name":"Read","call_id":"1"}}
        {"type":"tool.call","path":"fan.a","payload":{"name":"Grep","call_id":"2"}}
        {"type":"message.assistant","path":"fan.b","source":"subagent:x","payload":{"blocks":[]}}
        {"type":"tool.result","path":"fan.a","payload":{"name":"Read","call_id":"1"}}
        {"type":"tool.result","path":"fan.a","payload":{"name":"Grep","call_id":"2"}}
        {"type":"error","path":"fan.b","payload":{"code":"E7","message":"m"}}
        {"type":"usage","path":"fan.a","payload":{"input_tokens":4,"output_tokens":2,"cost_usd":0.5}}
        {"type":"step.completed","path":"fan.b","payload":{"name":"b","status":"failed"}}
        {"type":"step.completed","path":"fan.a","payload":{"name":"a","status":"succeeded"}}
        {"type":"step.completed","path":"fan","payload":{"name":"fan","status":"failed"}}
        {"type":"run.completed","payload":{"name":"w","status":"failed"}}
    "#,
        ),
    );
    let elements = elements(&tree);
    let track = |name: &str| {
        let found = elements.iter().find(|element| element["ph"] == "X" && element["name"] == name);
        found.unwrap_or_else(|| panic!("{name} is not drawn"))["tid"].as_u64().unwrap()
    };
    assert_eq!(track("w"), track("fan"));
    assert_eq!(track("fan"), track("a"));
    assert_ne!(track("a"), track("b"));
    assert_eq!(track("a"), track("Read"));
    assert_ne!(track("Read"), track("Grep"));
    assert!([track("a"), track("b"), track("Grep")].iter().all(|other| *other != track("x")));
    let has = |phase: &str, name: &str| {
        elements.iter().any(|element| element["ph"] == phase && element["name"] == name)
    };
    assert!(has("i", "error E7") && has("C", "tokens") && has("C", "cost"));
    let names = elements.iter().filter(|element| element["name"] == "thread_name");
    let names: Vec<_> = names.map(|element| element["args"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["main", "main (2)", "main (3)", "subagent:x"]);
    assert!(has("M", "process_name"));
    nests(&elements);
}

#[test]
fn a_span_whose_end_never_came_is_closed_and_says_so() {
    let lines = r#"
        {"type":"step.started","path":"a","payload":{"name":"a","kind":"agent"}}
        {"type":"tool.call","path":"a","payload":{"name":"Read","call_id":"1"}}
        {"type":"message.user","path":"a","payload":{"blocks":[]}}
    "#;
    let elements = elements(&fold(ChromeTraceView::new(), &events(lines)));
    let drawn: Vec<_> = elements.iter().filter(|element| element["ph"] == "X").collect();
    assert_eq!(drawn.len(), 3);
    for element in drawn {
        assert_eq!(element["args"]["end"], "never recorded");
        let end = element["ts"].as_i64().unwrap() + element["dur"].as_i64().unwrap();
        assert_eq!(end, 1_767_225_603_000_000, "{element}");
    }
}

#[test]
fn counters_of_what_was_used_never_fall() {
    // The file of a subagent may be read when its caller's is over.
    let lines = r#"
        {"type":"run.started","timestamp":"2026-01-01T00:00:00Z","payload":{"name":"s","kind":"session"}}
        {"type":"usage","timestamp":"2026-01-01T00:00:01Z","payload":{"input_tokens":1000,"cost_usd":0.5}}
        {"type":"usage","timestamp":"2026-01-01T00:00:09Z","payload":{"input_tokens":2000,"cost_usd":0.5}}
        {"type":"usage","timestamp":"2026-01-01T00:00:04Z","source":"subagent:x","payload":{"input_tokens":10,"cost_usd":0.25}}
        {"type":"usage","timestamp":"2026-01-01T00:00:05Z","source":"subagent:x","payload":{"input_tokens":20}}
    "#;
    let elements = elements(&fold(ChromeTraceView::new(), &events(lines)));
    let series = |name: &str, key: &str| {
        let mut points: Vec<_> = elements
            .iter()
            .filter(|element| element["ph"] == "C" && element["name"] == name)
            .map(|element| {
                (element["ts"].as_i64().unwrap(), element["args"][key].as_f64().unwrap())
            })
            .collect();
        points.sort_by_key(|(time, _)| *time);
        points.into_iter().map(|(_, value)| value).collect::<Vec<_>>()
    };
    assert_eq!(series("tokens", "input_tokens"), [1000.0, 3000.0]);
    assert_eq!(series("tokens subagent:x", "input_tokens"), [10.0, 30.0]);
    assert_eq!(series("cost", "usd"), [0.5, 1.0]);
    assert_eq!(series("cost subagent:x", "usd"), [0.25]);
}

#[test]
fn a_cost_that_a_session_names_at_its_end_is_counted_there() {
    let lines = r#"
        {"type":"run.started","payload":{"name":"s","kind":"session"}}
        {"type":"usage","payload":{"output_tokens":5}}
        {"type":"run.completed","payload":{"name":"s","status":"succeeded","result":{"cost_usd":0.5}}}
    "#;
    let elements = elements(&fold(ChromeTraceView::new(), &events(lines)));
    let cost = elements.iter().find(|element| element["name"] == "cost").unwrap();
    let run = elements.iter().find(|element| element["ph"] == "X").unwrap();
    let end = run["ts"].as_i64().unwrap() + run["dur"].as_i64().unwrap();
    assert_eq!((&cost["args"]["usd"], cost["ts"].as_i64()), (&Value::from(0.5), Some(end)));
    assert_eq!(run["args"]["cost_usd"], 0.5);
}

proptest! {
    #[test]
    fn spans_on_one_track_of_a_trace_nest(run in any_run()) {
        nests(&elements(&fold(ChromeTraceView::new(), &run)));
    }
}

/// Fails if two spans on a track overlap without one being inside the other.
fn nests(elements: &[Value]) {
    let mut tracks: BTreeMap<u64, Vec<(i64, i64)>> = BTreeMap::new();
    for element in elements {
        assert!(element["pid"].is_u64() && element["name"].is_string(), "{element}");
        if element["ph"] == "X" {
            let (start, dur) = (element["ts"].as_i64().unwrap(), element["dur"].as_i64().unwrap());
            assert!(dur >= 0, "{element}");
            tracks.entry(element["tid"].as_u64().unwrap()).or_default().push((start, start + dur));
        }
    }
    for (track, mut spans) in tracks {
        spans.sort_by_key(|(start, end)| (*start, std::cmp::Reverse(*end)));
        let mut open: Vec<i64> = Vec::new();
        for (start, end) in spans {
            open.retain(|outer| *outer > start);
            assert!(open.last().is_none_or(|outer| end <= *outer), "{start}..{end} on {track}");
            open.push(end);
        }
    }
}
