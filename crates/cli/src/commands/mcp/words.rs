//! An event as text for a model: what `show` shows, without colours and columns, and what it leaves out.

use quipu_event::{Event, RunId};
use serde_json::Value;

use super::unknown_fields::unknown_fields;
use crate::format::entry::Entry;
use crate::format::line::place;

/// Puts an event into words, all of them.
pub(super) fn of(event: &Event, own: &RunId) -> String {
    let entry = Entry::of(event);
    let mut time = String::new();
    event.timestamp.write_to(&mut time);
    let mut text = format!("#{} {time} {}", event.seq, event.kind.as_str());
    for more in [place(event, Some(own)), entry.head] {
        if !more.is_empty() {
            text.push_str("  ");
            text.push_str(&more.replace('\n', " "));
        }
    }
    for part in entry.parts {
        push(&mut text, part.label.as_deref(), &part.text);
    }
    for (name, value) in unknown_fields(event) {
        push(&mut text, Some(&name), &text_of(value));
    }
    text.push('\n');
    text
}

/// Looks for something in all that is said of an event: first as people read it, then as it is recorded.
pub(super) fn find<T>(event: &Event, look: impl Fn(&str) -> Option<T>) -> Option<T> {
    let entry = Entry::of(event);
    let parts =
        entry.parts.iter().flat_map(|part| [Some(part.text.as_str()), part.label.as_deref()]);
    let names = [event.path.as_str(), event.kind.as_str()].map(Some);
    let mut said = [Some(entry.head.as_str())].into_iter().chain(parts).chain(names);
    if let Some(found) = said.by_ref().chain([event.source.as_deref()]).flatten().find_map(&look) {
        return Some(found);
    }
    if let Some(found) = look(event.payload.as_str()) {
        return Some(found);
    }
    if let Some(found) =
        event.extra.iter().find_map(|(name, value)| look(&format!("{name}: {}", value.as_str())))
    {
        return Some(found);
    }
    // What is escaped in the payload is looked for as it was meant.
    let is_escaped = event.payload.as_str().contains('\\');
    let payload = event.payload.decode::<Value>().ok().filter(|_| is_escaped)?;
    find_in(&payload, &look)
}

fn find_in<T>(value: &Value, look: &impl Fn(&str) -> Option<T>) -> Option<T> {
    match value {
        Value::String(text) => look(text),
        Value::Array(items) => items.iter().find_map(|item| find_in(item, look)),
        Value::Object(fields) => {
            fields.iter().find_map(|(name, inner)| look(name).or_else(|| find_in(inner, look)))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn push(text: &mut String, label: Option<&str>, part: &str) {
    if let Some(label) = label {
        text.push_str(&format!("\n  {label}:"));
    }
    for line in part.trim_end_matches('\n').split('\n') {
        text.push_str("\n    ");
        text.push_str(line);
    }
}

fn text_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}
