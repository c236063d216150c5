//! Smaller facts: usage, system, errors, files, deliverables, and what nobody understood.

use std::collections::BTreeMap;

use quipu_event::payload::{
    DeliverableCheck, DeliverableResult, ErrorReport, FileAccess, System, UnknownRecord, Usage,
    UsageScope,
};
use quipu_event::{Json, Raw};

use super::{Entry, Part, Tone, json};
use crate::format::count;

pub(super) fn usage(usage: &Usage) -> Entry {
    let mut head = usage.model.clone().unwrap_or_default();
    let tokens = count::tokens(&usage.tokens());
    if !head.is_empty() && !tokens.is_empty() {
        head.push_str(": ");
    }
    head.push_str(&tokens);
    if let Some(scope) = usage.scope.as_ref().filter(|scope| **scope != UsageScope::Message) {
        head.push_str(&format!(" (per {scope})"));
    }
    Entry::headed(head).toned(Tone::Faint)
}

/// Shows a system event. Its facts are taken from its payload as it is spelled: not every number in
/// it need be one that a type can hold.
pub(super) fn system(system: System, payload: &Json) -> Entry {
    let facts: BTreeMap<String, Json> = payload.decode().unwrap_or_default();
    let facts = facts.into_iter().filter(|(key, _)| key != "subtype");
    let facts: Vec<_> = facts.map(|(key, value)| (key, json::text_of(&value))).collect();
    let told = facts.iter().map(|(key, text)| match text.is_empty() {
        true => key.clone(),
        false => format!("{key} {text}"),
    });
    let all = told.collect::<Vec<_>>().join(", ");
    if all.len() <= 120 && !all.contains('\n') {
        let gap = if all.is_empty() || system.subtype.is_empty() { "" } else { ": " };
        return Entry::headed(format!("{}{gap}{all}", system.subtype));
    }
    let parts = facts.into_iter().map(|(key, text)| Part::output(text).labelled(key));
    Entry::headed(system.subtype).with_all(parts)
}

pub(super) fn error(error: ErrorReport) -> Entry {
    let mut facts = vec![error.code, error.category];
    facts.retain(|fact| !fact.is_empty());
    if error.retryable {
        facts.push("retryable".to_owned());
    }
    let details = error.details.as_ref().map(json::text_of).unwrap_or_default();
    Entry::headed(facts.join(", "))
        .toned(Tone::Bad)
        .with(Part::speech(error.message).toned(Tone::Bad))
        .with(Part::output(details).labelled("details").toned(Tone::Faint))
}

pub(super) fn unknown(record: UnknownRecord, raw: Option<&Raw>) -> Entry {
    let head = match record.native_type {
        Some(native) => format!("{native}: {}", record.reason),
        None => record.reason,
    };
    let entry = Entry::headed(head);
    let Some(bytes) = raw.and_then(Raw::bytes) else { return entry };
    match String::from_utf8(bytes) {
        Ok(text) => entry.with(Part::output(text)),
        Err(error) => {
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            entry.with(Part::output(text).labelled("not UTF-8"))
        }
    }
}

pub(super) fn file(file: &FileAccess) -> Entry {
    let mut entry = Entry::headed(file.file.clone());
    if let Some(bytes) = file.bytes {
        entry.append(&format!("({})", count::bytes(bytes)));
    }
    match &file.reason {
        Some(reason) => {
            entry.append(reason);
            entry.toned(Tone::Bad)
        }
        None => entry,
    }
}

pub(super) fn deliverable(check: &DeliverableCheck) -> Entry {
    let mut entry = Entry::default();
    if let Some(result) = &check.result {
        entry.append(result.as_str());
    }
    if check.missing.is_empty() && !check.required.is_empty() {
        entry.append(&format!("required: {}", check.required.join(", ")));
    }
    if !check.missing.is_empty() {
        entry.append(&format!("missing: {}", check.missing.join(", ")));
    }
    match check.result {
        Some(DeliverableResult::Passed) => entry.toned(Tone::Good),
        Some(_) => entry.toned(Tone::Bad),
        None if check.missing.is_empty() => entry,
        None => entry.toned(Tone::Bad),
    }
}
