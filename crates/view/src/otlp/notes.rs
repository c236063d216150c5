//! What happened inside a span, until the span ends.

use std::collections::BTreeMap;

use quipu_event::{Event, Payload};

use super::wire::{Attribute, Nanos, SpanEvent, Value};
use crate::reading::read;
use crate::spans::Key;

/// So many events a span may have, as OpenTelemetry's own limits say.
const MOST: usize = 128;
/// So much of a text stands in an attribute of an event.
const LONGEST: usize = 1024;

/// The events of the spans under way.
#[derive(Debug, Default)]
pub(super) struct Notes(BTreeMap<Key, Kept>);

#[derive(Debug, Default)]
struct Kept {
    events: Vec<SpanEvent>,
    dropped: u32,
}

impl Notes {
    /// Keeps what happened in the span `key`; answers whether there was room.
    pub(super) fn take(&mut self, key: Key, event: &Event, time: i64) -> bool {
        let kept = self.0.entry(key).or_default();
        if kept.events.len() >= MOST {
            kept.dropped = kept.dropped.saturating_add(1);
            return false;
        }
        let mut attributes = facts(event);
        attributes.push(Attribute::new("quipu.seq", Value::Number(event.seq)));
        let name = match event.kind.as_str() {
            "error" => "exception",
            kind => kind,
        };
        let time_unix_nano = Nanos(time);
        kept.events.push(SpanEvent { time_unix_nano, name: name.to_owned(), attributes });
        true
    }

    /// Returns the events of a span that is over, and how many there was no room for.
    pub(super) fn end(&mut self, key: &Key) -> (Vec<SpanEvent>, u32) {
        let kept = self.0.remove(key).unwrap_or_default();
        (kept.events, kept.dropped)
    }
}

/// Returns the facts of an event that are short enough to stand beside it.
fn facts(event: &Event) -> Vec<Attribute> {
    let text = |key, text: &str| {
        let end = text.floor_char_boundary(LONGEST.min(text.len()));
        Attribute::new(key, Value::Text(text[..end].to_owned()))
    };
    match read(event).payload {
        Payload::Error(error) => vec![
            text("exception.type", &error.code),
            text("exception.message", &error.message),
            text("quipu.error.category", &error.category),
        ],
        Payload::System(system) => vec![text("quipu.system.subtype", &system.subtype)],
        Payload::File(file) => {
            let mut facts = vec![text("file.path", &file.file)];
            facts.extend(file.reason.map(|reason| text("quipu.file.reason", &reason)));
            facts
        }
        Payload::Unknown(record) => {
            let native = record.native_type.as_deref().unwrap_or_default();
            vec![text("quipu.native_type", native), text("quipu.reason", &record.reason)]
        }
        Payload::Deliverable(check) => vec![text("quipu.missing", &check.missing.join(", "))],
        Payload::ToolResult(result) => vec![text("gen_ai.tool.call.id", &result.call_id)],
        _ => Vec::new(),
    }
}
