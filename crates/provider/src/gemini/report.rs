//! The report of a whole run, `--output-format json`: one document when it is over.

use quipu_event::payload::{ErrorReport, Message, RunCompleted, Status, Usage};
use quipu_event::{ContentBlock, Fidelity, Json, Kind};
use serde_json::json;

use super::usage;
use super::wire::{category, short};
use crate::normalizer::Normalize;
use crate::opening::Opening;
use crate::outbox::{Outbox, Stamp};
use crate::record::Record;
use crate::registry::Likeness;
use crate::value::Fields;

/// Tells how much a record looks like such a report.
pub(super) fn likeness(record: &Record<'_>) -> Likeness {
    let fields = &record.fields;
    let has_stats = fields.fields("stats").is_some_and(|stats| stats.has("models"));
    let error = fields.fields("error");
    let has_error = error.as_ref().is_some_and(|error| error.has("message"));
    if fields.has("type") || fields.has("jsonrpc") {
        return Likeness::No;
    }
    let has_session = fields.has("session_id");
    let is_whole = has_stats && (fields.has("response") || has_error);
    if is_whole || has_session && (has_stats || has_error) {
        Likeness::Sure
    } else if error.is_some_and(|error| has_session || is_own_error(&error)) {
        Likeness::Maybe
    } else {
        Likeness::No
    }
}

/// Tells whether an error looks like one of Gemini CLI itself: it names a class and a number.
fn is_own_error(error: &Fields<'_>) -> bool {
    let is_class = error.text("type").is_some_and(|class| class.ends_with("Error"));
    is_class && error.has("message") && error.integer("code").is_some() && !error.has("param")
}

/// One report, or several in a row.
pub(super) struct Report {
    opening: Opening,
    end: RunCompleted,
}

impl Report {
    pub(super) fn new() -> Self {
        Report { opening: Opening::new("gemini", "json"), end: RunCompleted::default() }
    }

    fn begin(&mut self, session_id: Option<String>, model: Option<&str>, out: &mut Outbox<'_>) {
        if self.opening.is_put() {
            let facts = json!({ "session_id": session_id, "model": model });
            return out.system(&Stamp::default(), "session_started", facts);
        }
        self.opening.begin(None);
        self.opening.started.session_id = session_id;
        self.opening.agent.model = model.map(str::to_owned);
        self.opening.absorb(out);
        self.opening.put(out);
    }

    fn end(&mut self, fields: &Fields<'_>, out: &mut Outbox<'_>) {
        let Some(error) = fields.fields("error") else {
            self.end.status = Some(Status::Succeeded);
            self.end.error = None;
            return;
        };
        let message = short(&error.text("message").unwrap_or_default());
        self.end.status = Some(Status::Failed);
        self.end.error = Some(message.clone());
        let code = error.string("type").unwrap_or_else(|| "api_error".to_owned());
        let report = ErrorReport {
            category: category(&code).to_owned(),
            code,
            message,
            retryable: false,
            details: error
                .integer("code")
                .and_then(|code| Json::encode(&json!({ "code": code })).ok()),
        };
        out.error(&Stamp::default(), &report);
    }
}

impl Normalize for Report {
    fn take(&mut self, record: &Record<'_>, out: &mut Outbox<'_>) {
        let fields = &record.fields;
        if !["response", "stats", "error"].iter().any(|key| fields.has(key)) {
            return self.opening.begin(None);
        }
        let models = fields.fields("stats").and_then(|stats| stats.fields("models"));
        let models = models.unwrap_or_default();
        let model = main_model(&models);
        self.begin(fields.string("session_id"), model, out);
        let stamp = Stamp::default();
        if let Some(text) = fields.string("response").filter(|text| !text.is_empty()) {
            let mut reply =
                Message::assistant(vec![ContentBlock::text(Fidelity::AgentEmitted, text)]);
            reply.model = model.map(str::to_owned);
            out.message(&stamp, Kind::MessageAssistant, reply);
        }
        for (model, stats) in models.iter() {
            let tokens = stats.fields().and_then(|stats| stats.fields("tokens"));
            if let Some(usage) = tokens.and_then(|tokens| usage::of_report(&tokens)) {
                out.usage(&stamp, &Usage { model: Some(model.to_owned()), ..usage });
            }
        }
        for warning in fields.items("warnings") {
            let message = warning.text().map(|text| short(&text));
            out.system(&stamp, "notice", json!({ "level": "warning", "message": message }));
        }
        self.end(fields, out);
    }

    fn settle(&mut self, _: &mut Outbox<'_>) {}

    fn finish(&mut self, out: &mut Outbox<'_>) {
        let aborted = Status::Aborted;
        let end = std::mem::take(&mut self.end);
        let end = RunCompleted { status: end.status.or(Some(aborted)), ..end };
        self.opening.complete(out, end);
    }
}

/// Returns the model that did the work itself: the only one, or the one in the main role.
fn main_model<'a>(models: &'a Fields<'_>) -> Option<&'a str> {
    let mut names = models.iter();
    let (first, _) = names.next()?;
    if names.next().is_none() {
        return Some(first);
    }
    let mut in_main_role = models.iter().filter(|(_, stats)| {
        let roles = stats.fields().and_then(|stats| stats.fields("roles"));
        roles.is_some_and(|roles| roles.has("main"))
    });
    in_main_role.next().map(|(name, _)| name)
}
