//! Short lines → events: what a case does not care about is filled in.

use quipu_event::{Event, decode_line};
use quipu_view::{RunTree, Summary, TreeBuilder};
use serde_json::{Map, Value, json};

/// Decodes one line per event. A missing `seq` counts on, a missing `run_id` is `run`, and line
/// `n` happens `n` seconds after the start of the day unless it says otherwise.
pub(crate) fn events(lines: &str) -> Vec<Event> {
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.enumerate().map(|(n, line)| event(n as u64 + 1, parse(line))).collect()
}

/// Completes and decodes line `n` of a run.
pub(crate) fn event(n: u64, mut line: Map<String, Value>) -> Event {
    let clock = format!("2026-01-01T{:02}:{:02}:{:02}Z", n / 3600 % 24, n / 60 % 60, n % 60);
    line.entry("seq").or_insert(json!(n));
    line.entry("run_id").or_insert(json!("run"));
    line.entry("timestamp").or_insert(json!(clock));
    decode_line(Value::Object(line).to_string().as_bytes()).expect("a test's line is an event")
}

pub(crate) fn tree(lines: &str) -> RunTree {
    tree_of(&events(lines))
}

pub(crate) fn tree_of(events: &[Event]) -> RunTree {
    let mut builder = TreeBuilder::default();
    events.iter().for_each(|event| builder.add(event));
    builder.finish().expect("a test's run has events")
}

pub(crate) fn summary(lines: &str) -> Summary {
    summary_of(&events(lines))
}

pub(crate) fn summary_of(events: &[Event]) -> Summary {
    let mut summary = Summary::default();
    events.iter().for_each(|event| summary.add(event));
    summary
}

fn parse(line: &str) -> Map<String, Value> {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"))
}
