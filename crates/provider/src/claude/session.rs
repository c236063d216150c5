//! Session files of all ages: the agent's own memory of a session, or of one of its subagents.

use std::borrow::Cow;

use quipu_event::payload::{ErrorReport, RunCompleted};
use quipu_event::{Json, Timestamp};
use serde_json::json;

use super::prompt::Voice;
use super::replies::{Billing, Line};
use super::seen::SeenRecords;
use super::talk::{Heard, Talk, api_report};
use super::wire::{self, SYNTHETIC};
use super::{metadata, notes};
use crate::normalizer::Normalize;
use crate::opening::Opening;
use crate::outbox::{Outbox, Stamp};
use crate::record::Record;
use crate::value::Fields;

/// After so many records a file that has named no model will hardly name one.
const RECORDS_BEFORE_MODEL: u32 = 100;

/// Reads a session file.
pub(super) struct Session {
    opening: Opening,
    talk: Talk,
    seen: SeenRecords,
    /// The session of the last record, as it stood there, and all sessions there were.
    session: String,
    sessions: Vec<String>,
    records: u32,
    /// What the agent itself says that the session cost.
    cost_usd: Option<f64>,
}

impl Session {
    pub(super) fn new() -> Self {
        Session {
            opening: Opening::new("claude", "session"),
            talk: Talk::new(Billing::PerMessage),
            seen: SeenRecords::default(),
            session: String::new(),
            sessions: Vec::new(),
            records: 0,
            cost_usd: None,
        }
    }

    /// Takes the facts of the run that a record carries.
    fn note_run(&mut self, out: &mut Outbox<'_>, fields: &Fields<'_>, time: Option<Timestamp>) {
        self.opening.begin(time);
        if !self.opening.is_put() {
            self.records += 1;
            let started = &mut self.opening.started;
            started.cwd = started.cwd.take().or_else(|| fields.string("cwd"));
            let version = &mut self.opening.agent.cli_version;
            *version = version.take().or_else(|| fields.string("version"));
            if self.records > RECORDS_BEFORE_MODEL {
                self.opening.put(out);
            }
        }
        let Some(value) = fields.get("sessionId") else { return };
        if value.source() == self.session {
            return;
        }
        value.source().clone_into(&mut self.session);
        let Some(id) = value.text().map(Cow::into_owned) else { return };
        self.talk.tools.persisted.turn_to(&id);
        if self.sessions.contains(&id) {
            return;
        }
        if self.sessions.is_empty() {
            self.opening.started.session_id = Some(id.clone());
        } else {
            let facts = json!({
                "session_id": id,
                "cwd": fields.text("cwd"),
                "version": fields.text("version"),
            });
            out.system(&Stamp::at(time), "session_started", facts);
        }
        self.sessions.push(id);
    }

    /// Tells who speaks in a record, and when.
    fn stamp(
        &mut self,
        out: &mut Outbox<'_>,
        fields: &Fields<'_>,
        time: Option<Timestamp>,
    ) -> Stamp {
        let is_side = fields.flag("isSidechain") == Some(true);
        let Some(agent_id) = fields.text("agentId") else {
            return if is_side { self.chain_stamp(out, fields, time) } else { Stamp::at(time) };
        };
        let subagents = &mut self.talk.tools.subagents;
        if !self.opening.is_put() && !subagents.knows(&agent_id) && is_side {
            // The file is the subagent's own.
            subagents.take_for_granted(&agent_id);
            self.talk.tools.persisted.is_of_subagent = true;
            let labels = self.opening.started.labels.get_or_insert_default();
            labels.insert("agent_id".to_owned(), agent_id.clone().into_owned());
        }
        let name = fields.text("attributionAgent");
        subagents.start(out, time, &agent_id, None, name.as_deref());
        Stamp::of_subagent(&agent_id, time)
    }

    /// Tells which subagent speaks in a record of the oldest files, which do not name it.
    fn chain_stamp(
        &mut self,
        out: &mut Outbox<'_>,
        fields: &Fields<'_>,
        time: Option<Timestamp>,
    ) -> Stamp {
        let uuid = fields.text("uuid").unwrap_or_default();
        let message = fields.fields("message").unwrap_or_default();
        let prompt = message.get("content").and_then(wire::answer_text);
        let tools = &mut self.talk.tools;
        let (agent_id, is_root) = tools.subagents.of_chain(
            &uuid,
            fields.text("parentUuid").as_deref(),
            prompt.as_deref(),
        );
        if is_root {
            let call_id = tools.knows(&agent_id).then_some(&*agent_id);
            tools.subagents.start(out, time, &agent_id, call_id, None);
        }
        Stamp::of_subagent(&agent_id, time)
    }

    fn assistant(
        &mut self,
        out: &mut Outbox<'_>,
        fields: &Fields<'_>,
        stamp: Stamp,
        is_copy: bool,
    ) {
        let Some(message) = fields.fields("message") else { return };
        if !self.opening.is_put() {
            self.note_model(out, &message);
        }
        let error = error_of(fields, &message).filter(|_| !is_copy);
        let line = Line {
            stamp: stamp.clone(),
            message,
            uuid: fields.text("uuid"),
            request: fields.text("requestId"),
            cost_usd: fields.number("costUSD"),
            session: None,
            is_copy,
        };
        if !is_copy {
            // The account that stood before it does not have it.
            self.cost_usd = None;
        }
        self.talk.reply(out, line);
        if let Some(report) = error {
            self.talk.api_error(out, &stamp, report);
        }
    }

    /// Takes the model from the first reply that a model gave.
    fn note_model(&mut self, out: &mut Outbox<'_>, message: &Fields<'_>) {
        let said = message.string("model");
        let is_synthetic = said.as_deref() == Some(SYNTHETIC);
        let known = &mut self.opening.agent.model;
        *known = known.take().or(said.filter(|_| !is_synthetic));
        if known.is_some() || !is_synthetic {
            self.opening.put(out);
        }
    }

    fn user(&mut self, out: &mut Outbox<'_>, fields: &Fields<'_>, stamp: Stamp) {
        let Some(message) = fields.fields("message") else { return };
        let decision = fields.fields("permissionDecision");
        let decision = decision.and_then(|decision| decision.text("decision"));
        let is_refused = fields.has("toolDenialKind")
            || decision.is_some_and(|decision| matches!(&*decision, "reject" | "deny"));
        let heard = Heard {
            stamp,
            content: message.get("content"),
            details: fields.get("toolUseResult"),
            voice: voice_of(fields),
            is_replay: false,
            is_refused,
        };
        self.talk.hear(out, heard);
    }
}

/// Returns the error that a record reports in the place of a reply.
fn error_of(fields: &Fields<'_>, message: &Fields<'_>) -> Option<ErrorReport> {
    if fields.flag("isApiErrorMessage") != Some(true) {
        return None;
    }
    let text = message.get("content").and_then(wire::answer_text).unwrap_or_default();
    let (code, status) = (fields.text("error"), fields.count("apiErrorStatus"));
    Some(api_report(code.as_deref(), status, &text))
}

/// Returns who speaks in the user's role, if the record says that it is no person.
fn voice_of(fields: &Fields<'_>) -> Option<Voice> {
    let is_set = |key: &str| fields.flag(key) == Some(true);
    let origin = fields.fields("origin").and_then(|origin| origin.text("kind"));
    match () {
        () if is_set("isCompactSummary") => Some(Voice::Summary),
        () if is_set("isMeta") && fields.has("sourceToolUseID") => Some(Voice::Context("skill")),
        () if is_set("isMeta") => Some(Voice::Context("meta")),
        () if origin.as_deref() == Some("task-notification") => {
            Some(Voice::Context("task_notification"))
        }
        () => None,
    }
}

impl Normalize for Session {
    fn take(&mut self, record: &Record<'_>, out: &mut Outbox<'_>) {
        let fields = &record.fields;
        let time = fields.time("timestamp");
        self.note_run(out, fields, time);
        self.talk.replies.wait(out, &mut self.talk.tools);
        let Some(kind) = fields.text("type") else {
            metadata::put_subagent_card(out, fields);
            return;
        };
        if !matches!(&*kind, "assistant" | "user" | "system" | "attachment" | "progress") {
            if kind == "cost-state" {
                self.cost_usd = fields.number("totalCostUSD").or(self.cost_usd);
            }
            metadata::put(out, time, &kind, fields);
            return;
        }
        let is_copy = !self.seen.is_new(fields.get("uuid"));
        let stamp = self.stamp(out, fields, time);
        match &*kind {
            "assistant" => self.assistant(out, fields, stamp, is_copy),
            _ if is_copy => {
                out.system(&stamp, "repeated", json!({ "uuid": fields.text("uuid") }));
            }
            "user" => self.user(out, fields, stamp),
            "system" => notes::system(out, &stamp, fields),
            "attachment" => notes::attachment(out, &stamp, fields, &mut self.opening),
            _ => notes::progress(out, &stamp, fields),
        }
    }

    fn settle(&mut self, out: &mut Outbox<'_>) {
        self.opening.put(out);
        self.talk.replies.close_all(out, &mut self.talk.tools);
    }

    fn finish(&mut self, out: &mut Outbox<'_>) {
        self.talk.finish(out);
        let cost = self.cost_usd.map(|cost| json!({ "cost_usd": cost }));
        let result = cost.and_then(|cost| Json::encode(&cost).ok());
        self.opening.complete(out, RunCompleted { result, ..self.talk.end() });
    }
}
