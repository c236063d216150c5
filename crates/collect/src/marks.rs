//! The events that collecting itself has to tell: none of them is anything an agent said.

use std::path::Path;

use quipu_event::payload::{Payload, RunStarted};
use quipu_event::{Draft, Kind, Origin, RunId, decode_line, peek};
use serde_json::json;

const REPLACED: &str = "source_replaced";
const STARTED: &str = "source_started";
const INHERITED: &str = "inherited";

/// Tells that a file has been replaced by another one of its name, or was cut.
pub(crate) fn replaced(path: &Path, reason: &str) -> Draft {
    system(REPLACED, json!({ "file": path, "reason": reason }))
}

/// Tells whether a line of a transcript, made from `origin`, is [`replaced`]. What an agent says
/// may look the same; but it stands somewhere in its file, and our own word nowhere.
pub(crate) fn is_replacement(line: &[u8], origin: &Origin) -> bool {
    const MARK: &[u8] = b",\"payload\":{\"subtype\":\"source_replaced\"";
    origin.offset == 0
        && origin.len == 0
        && origin.until.is_none()
        && peek(line).is_some_and(|seen| Kind::from(seen.kind) == Kind::System)
        && memchr::memmem::find(line, MARK).is_some()
}

/// Tells that what follows in a file was said in another session, and is recorded there.
pub(crate) fn inherited(session: &str, run: &RunId) -> Draft {
    system(INHERITED, json!({ "from_session": session, "from_run": run }))
}

/// Returns the session that was copied from, if a line of type `kind` is [`inherited`].
pub(crate) fn copied_from(kind: &Kind, line: &[u8]) -> Option<String> {
    if *kind != Kind::System || memchr::memmem::find(line, b"\"subtype\":\"inherited\"").is_none() {
        return None;
    }
    match decode_line(line).ok()?.decode_payload().ok()? {
        Payload::System(system) if system.subtype == INHERITED => {
            system.facts.get("from_session")?.as_str().map(str::to_owned)
        }
        _ => None,
    }
}

/// Tells whether `draft` says that a record was copied from another session.
pub(crate) fn is_inherited(draft: &Draft) -> bool {
    draft.kind == Kind::System && draft.payload.as_str().starts_with("{\"subtype\":\"inherited\"")
}

/// Turns the beginning of a run into that of one more source of it.
pub(crate) fn source_started(draft: Draft) -> Draft {
    let RunStarted { cwd, session_id, agent, labels, .. } = started(&draft).unwrap_or_default();
    let facts = json!({
        "cwd": cwd, "session_id": session_id, "agent": agent, "labels": labels,
    });
    let facts = match facts {
        serde_json::Value::Object(mut facts) => {
            facts.retain(|_, fact| !fact.is_null());
            facts.into()
        }
        other => other,
    };
    let Draft { timestamp, source, origin, raw, .. } = draft;
    Draft { timestamp, source, origin, raw, ..system(STARTED, facts) }
}

/// Returns what a `run.started` says.
pub(crate) fn started(draft: &Draft) -> Option<RunStarted> {
    match payload(draft)? {
        Payload::RunStarted(started) => Some(*started),
        _ => None,
    }
}

/// Returns what a draft says.
pub(crate) fn payload(draft: &Draft) -> Option<Payload> {
    Payload::decode(&draft.kind, &draft.payload).ok()
}

fn system(subtype: &str, facts: serde_json::Value) -> Draft {
    // A few names and words neither nest nor have keys of their own.
    Draft::system(subtype, facts).unwrap_or_else(|_| Draft::unknown(&[], None, subtype))
}
