//! An event as a line of the page's data:
//! `[seq, type, path, time, payload, {source, child, raw, extra}]`, the last only if there is any.
//!
//! The payload is copied as it stands and never decoded: whoever opens the page reads what it shows.
//! No line has a `<` in it, so that none can end the element it stands in.

use std::fmt::Write;

use quipu_event::{Event, Kind};

/// Appends the line of an event.
pub(crate) fn write(out: &mut String, event: &Event) {
    // Writing to a `String` has no way to fail.
    let _ = write!(out, "[{},", event.seq);
    string(out, event.kind.as_str());
    out.push(',');
    string(out, event.path.as_str());
    out.push_str(",\"");
    event.timestamp.write_to(out);
    out.push_str("\",");
    harmless(out, event.payload.as_str());
    write_more(out, event);
    out.push_str("]\n");
}

/// Appends the rest of the envelope, if there is any.
fn write_more(out: &mut String, event: &Event) {
    let mut begin = ",{";
    let mut field = |out: &mut String, key: &str, text: &str| {
        out.push_str(std::mem::replace(&mut begin, ","));
        string(out, key);
        out.push(':');
        string(out, text);
    };
    if let Some(source) = &event.source {
        field(out, "source", source);
    }
    if let Some(child) = &event.child_run_id {
        field(out, "child", child.as_str());
    }
    // Other events say in their payload what their record said.
    let raw = event.raw.as_ref().filter(|_| event.kind == Kind::Unknown);
    if let Some(bytes) = raw.and_then(|raw| raw.bytes()) {
        field(out, "raw", &String::from_utf8_lossy(&bytes));
    }
    let mut next = if event.extra.is_empty() { "" } else { "\"extra\":{" };
    for (key, value) in &event.extra {
        out.push_str(if next == "," { "" } else { std::mem::replace(&mut begin, ",") });
        out.push_str(std::mem::replace(&mut next, ","));
        string(out, key);
        out.push(':');
        harmless(out, value.as_str());
    }
    if next == "," {
        out.push('}');
    }
    if begin == "," {
        out.push('}');
    }
}

/// Appends `text` as a JSON string.
fn string(out: &mut String, text: &str) {
    match serde_json::to_string(text) {
        Ok(literal) => harmless(out, &literal),
        Err(_) => out.push_str("\"\""),
    }
}

/// Appends JSON with each `<`, which can only stand inside a string, spelled out.
pub(crate) fn harmless(out: &mut String, json: &str) {
    let mut rest = json;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        out.push_str("\\u003c");
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}
