//! Files that were read, written or refused: as the transcript says, else as a call's arguments do.
//!
//! A file that the transcript speaks of is never told a second time because of its call.

use quipu_event::Kind;
use quipu_event::payload::FileAccess;
use serde_json::json;

use super::Run;
use super::brief::{SUMMARY, sized};
use super::calls::{Derived, OpenCall};
use super::ledger::{At, Severity, Told};
use super::tools::Outcome;
use super::touched::{Action, Touched};
use super::wire::Failure;
use crate::Shelf;

impl Run {
    /// What the transcript says itself of a file.
    pub(super) fn file(&mut self, at: &At, kind: &Kind, file: &FileAccess, shelf: &mut dyn Shelf) {
        let kind = match kind {
            Kind::FileRead => "file.read",
            Kind::FileWritten => "file.written",
            _ => "file.rejected",
        };
        let call_id = file.call_id.as_deref().unwrap_or_default();
        let written = (kind == "file.written").then_some(file.file.as_str());
        let parent = self.calls.touch(at, call_id, written);
        let touched =
            Touched { path: file.file.clone(), bytes: file.bytes, sha256: file.sha256.clone() };
        let mut told =
            told_file(kind, &touched, file.reason.as_deref(), call_id, parent.as_deref());
        // Of a rejection that is only read off a blocked call, that call is among the errors.
        told.failure = (kind == "file.rejected").then(|| rejection(&told));
        self.tell_file(at, &told, &touched, shelf);
    }

    /// Tells of the files of calls that the transcript kept silent about.
    pub(super) fn settle_files(&mut self, shelf: &mut dyn Shelf) {
        while let Some(derived) = self.calls.settled() {
            self.tell_derived(&derived, shelf);
        }
    }

    /// Lets the files of a call wait for a word of the transcript about them.
    pub(super) fn derive_files(
        &mut self,
        at: &At,
        call: &mut OpenCall,
        outcome: &Outcome,
        shelf: &mut dyn Shelf,
    ) {
        if call.has_told_files || call.files.is_empty() {
            return;
        }
        let kind = match (outcome.status, call.action) {
            ("blocked", _) => "file.rejected",
            ("completed", Action::Read) => "file.read",
            ("completed", Action::Write) => "file.written",
            _ => return,
        };
        if kind == "file.written" {
            call.written.extend(call.files.iter().map(|file| file.path.clone()));
        }
        let derived = Derived {
            kind,
            call_id: call.call_id.clone(),
            parent: Some(call.event_id.clone()),
            files: call.files.clone(),
            reason: outcome.failure.as_ref().map(|failure| failure.message.clone()),
            at: at.clone(),
        };
        if let Some(settled) = self.calls.wait(derived) {
            self.tell_derived(&settled, shelf);
        }
    }

    fn tell_derived(&mut self, derived: &Derived, shelf: &mut dyn Shelf) {
        for file in &derived.files {
            let (reason, parent) = (derived.reason.as_deref(), derived.parent.as_deref());
            let told = told_file(derived.kind, file, reason, &derived.call_id, parent);
            let told = Told { salt: file.path.clone(), ..told.with("derived_from", "tool.result") };
            self.tell_file(&derived.at, &told, file, shelf);
        }
    }

    fn tell_file(&mut self, at: &At, told: &Told, file: &Touched, shelf: &mut dyn Shelf) {
        self.ledger.tell(at, told, shelf);
        self.paper.touched(told.kind, &file.path);
        if told.kind == "file.rejected" {
            self.paper.failed(at, Severity::Warning, "file.rejected", &told.summary);
        }
    }
}

fn told_file(
    kind: &'static str,
    file: &Touched,
    reason: Option<&str>,
    call_id: &str,
    parent: Option<&str>,
) -> Told {
    let word = kind.strip_prefix("file.").unwrap_or(kind);
    let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let name = if file.path.trim().is_empty() { "a file without a name" } else { &file.path };
    let told = Told::new(kind, "filesystem", format!("{name} {word}{why}"))
        .with("path", sized(&file.path, 4_096))
        .with("bytes", file.bytes)
        .with("sha256", file.sha256.clone())
        .with("reason", reason.map(|reason| sized(reason, SUMMARY)))
        .correlated(call_id)
        .within(parent);
    if kind == "file.rejected" { told.graded(Severity::Warning) } else { told }
}

fn rejection(told: &Told) -> Failure {
    Failure {
        code: "file_rejected".to_owned(),
        message: sized(&told.summary, 2_000),
        category: "sandbox",
        retryable: false,
        details: told.data.get("path").map(|path| json!({ "path": path })),
    }
}
