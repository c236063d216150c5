//! What is said in the log alone: errors, files, and whatever has no better place.

use quipu_event::payload::{ErrorReport, FileAccess, System, UnknownRecord};
use quipu_event::{Event, Raw};
use serde_json::{Value, json};

use super::log::value_of;
use super::tell::Telling;
use crate::files::Shelf;

impl Telling {
    /// Says that something went wrong.
    pub(super) fn fail(&mut self, event: &Event, error: &ErrorReport, shelf: &mut dyn Shelf) {
        let payload = json!({
            "error": error.message, "code": error.code, "category": error.category,
            "retryable": error.retryable, "details": error.details.as_ref().map(value_of),
        });
        self.write(event, "error", payload, shelf);
    }

    /// Says what the recorder, the engine or the agent did besides.
    pub(super) fn note_system(&mut self, event: &Event, system: &System, shelf: &mut dyn Shelf) {
        let key = (event.path.clone(), event.source.clone());
        if let Some(execution) = self.slots.open.get_mut(&key) {
            let text = |key: &str| system.facts.get(key).and_then(Value::as_str);
            if system.subtype == "session_started" {
                execution.note_model(text("model"));
                execution.session = text("session_id").map(str::to_owned);
            }
        }
        let payload = json!({
            "message": system.subtype, "type": "system", "facts": system.facts,
        });
        self.write(event, "log", payload, shelf);
    }

    /// Says that a file was written.
    pub(super) fn note_file(&mut self, event: &Event, file: &FileAccess, shelf: &mut dyn Shelf) {
        let changed = json!({ "path": file.file, "bytes": file.bytes, "sha256": file.sha256 });
        let payload = json!({ "files": [changed], "tool_use_id": file.call_id });
        self.write(event, "file_changes", payload, shelf);
    }

    /// Says what nobody understood, with its text.
    pub(super) fn note_unknown(
        &mut self,
        event: &Event,
        record: &UnknownRecord,
        shelf: &mut dyn Shelf,
    ) {
        let raw = event.raw.as_ref().and_then(Raw::bytes);
        let raw = raw.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let payload = json!({
            "message": record.reason, "type": "unknown", "native_type": record.native_type,
            "raw": raw,
        });
        self.write(event, "log", payload, shelf);
    }

    /// Says in the log what has no better place.
    pub(super) fn note(&mut self, event: &Event, shelf: &mut dyn Shelf) -> bool {
        let facts = value_of(&event.payload);
        let kind = event.kind.as_str();
        let payload = json!({ "message": kind, "type": kind, "facts": facts });
        self.write(event, "log", payload, shelf);
        true
    }

    /// Writes a line of the log at the step that `event` is of.
    pub(super) fn write(
        &mut self,
        event: &Event,
        kind: &str,
        payload: Value,
        shelf: &mut dyn Shelf,
    ) {
        let key = self.key_of(event);
        let ids = self.slots.open.get(&key).map(|execution| self.slots.ids(execution));
        let (step, agent) = match ids {
            Some((step, agent)) => (Some(step.to_owned()), Some(agent.to_owned())),
            None if event.path.is_root() => (None, None),
            None => (Some(self.slots.step_id(&event.path, "")), None),
        };
        self.log.write(event, kind, (step.as_deref(), agent.as_deref()), payload, shelf);
    }
}
