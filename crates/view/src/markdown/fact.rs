//! Smaller facts: what the system did, what failed, which files were touched, and what nobody
//! understood.

use quipu_event::payload::{
    DeliverableCheck, DeliverableResult, ErrorReport, FileAccess, System, UnknownRecord,
};
use quipu_event::{Event, Json};

use super::escape::{code, plain};
use super::opening::{add, add_foreign, close, open};
use super::speech::quoted;
use super::{Length, fence, value};
use crate::figure;

/// Appends an error.
pub(crate) fn error(out: &mut String, event: &Event, error: &ErrorReport, length: Length) {
    open(out, "✗ Error", &error.code);
    add_foreign(out, &error.category);
    if error.retryable {
        add(out, "may be tried again");
    }
    close(out, event);
    if !error.message.is_empty() {
        quoted(out, &error.message);
    }
    if let Some(details) = &error.details {
        value::facts(out, details, length);
    }
}

/// Appends what the system did; a note is shown as its writer meant it.
pub(crate) fn system(out: &mut String, event: &Event, system: &System, length: Length) {
    let text = |key: &str| system.facts.get(key).and_then(|value| value.as_str());
    if let ("note", Some(content)) = (system.subtype.as_str(), text("content")) {
        open(out, "Note", text("title").unwrap_or_default());
        close(out, event);
        return quoted(out, content);
    }
    open(out, "System", &system.subtype);
    close(out, event);
    value::other_facts(out, &event.payload, "subtype", length);
}

/// Appends a record that nobody understood.
pub(crate) fn unknown(out: &mut String, event: &Event, record: &UnknownRecord, length: Length) {
    open(out, "? Unknown record", record.native_type.as_deref().unwrap_or_default());
    add_foreign(out, &record.reason);
    close(out, event);
    if let Some(bytes) = event.raw.as_ref().and_then(|raw| raw.bytes()) {
        fence::fenced(out, "", &String::from_utf8_lossy(&bytes), length);
    }
}

/// Appends a touched file.
pub(crate) fn file(out: &mut String, event: &Event, file: &FileAccess) {
    let word = match event.kind.as_str() {
        "file.read" => "Read",
        "file.written" => "Wrote",
        _ => "✗ Refused",
    };
    open(out, word, "");
    out.push(' ');
    code(out, &file.file);
    if let Some(size) = file.bytes {
        out.push_str(" · ");
        figure::bytes(out, size);
    }
    add_foreign(out, file.reason.as_deref().unwrap_or_default());
    close(out, event);
}

/// Appends a check of deliverables.
pub(crate) fn deliverable(out: &mut String, event: &Event, check: &DeliverableCheck) {
    let bad = !check.missing.is_empty();
    open(out, if bad { "✗" } else { "•" }, event.kind.as_str());
    add_foreign(out, check.result.as_ref().map_or("", DeliverableResult::as_str));
    close(out, event);
    for (word, files) in [("required", &check.required), ("missing", &check.missing)] {
        for file in files {
            out.push_str("- ");
            out.push_str(word);
            out.push_str(": ");
            code(out, file);
            out.push('\n');
        }
    }
    value::end_list(out);
}

/// Appends an event of a type whose payload is an open list of facts, and of types from the future.
pub(crate) fn facts(out: &mut String, event: &Event, facts: &Json, length: Length) {
    let is_known = event.kind.is_known();
    open(out, if is_known { "•" } else { "? Unknown event" }, event.kind.as_str());
    close(out, event);
    value::facts(out, facts, length);
}

/// Appends an event whose payload has another shape than its type.
pub(crate) fn undecoded(out: &mut String, event: &Event, length: Length) {
    open(out, "?", event.kind.as_str());
    plain(out, " · its payload could not be read");
    close(out, event);
    value::answer(out, &event.payload, length);
}
