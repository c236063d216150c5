//! The live stream: what the agent prints while it works, and what its SDK sends back.

use std::borrow::Cow;
use std::collections::HashMap;

use quipu_event::payload::{RunCompleted, Status};
use quipu_event::{Json, Timestamp};
use serde_json::json;

use super::account::{self, Account};
use super::events;
use super::prompt::Voice;
use super::replies::{Billing, Line};
use super::seen::SeenRecords;
use super::sessions::Sessions;
use super::talk::{Heard, Talk, api_report};
use super::wire::{self, SYNTHETIC};
use crate::normalizer::Normalize;
use crate::opening::Opening;
use crate::outbox::{Outbox, Stamp};
use crate::record::Record;
use crate::value::Fields;

/// After so many records a stream that has not introduced itself will hardly do so.
const RECORDS_BEFORE_INIT: u32 = 100;

/// Reads the live stream.
pub(super) struct Stream {
    pub(super) opening: Opening,
    pub(super) talk: Talk,
    /// The calls that permission was asked for, by request.
    pub(super) asked: HashMap<String, String>,
    seen: SeenRecords,
    sessions: Sessions,
    account: Account,
    /// How the last result says the run ended; nothing while a turn is going on.
    end: Option<RunCompleted>,
    duration_ms: Option<u64>,
    records: u32,
}

impl Stream {
    pub(super) fn new() -> Self {
        Stream {
            opening: Opening::new("claude", "stream"),
            talk: Talk::new(Billing::AtEnd),
            asked: HashMap::new(),
            seen: SeenRecords::default(),
            sessions: Sessions::default(),
            account: Account::default(),
            end: None,
            duration_ms: None,
            records: 0,
        }
    }

    /// Takes `system`/`init`: the run's beginning, or that of its next turn.
    pub(super) fn init(&mut self, out: &mut Outbox<'_>, fields: &Fields<'_>) {
        self.talk.replies.close_all(out, &mut self.talk.tools);
        self.end = None;
        self.sessions.announce(fields.string("model"));
        if self.opening.is_put() {
            let facts = json!({
                "session_id": fields.text("session_id"),
                "model": fields.text("model"),
                "cwd": fields.text("cwd"),
            });
            out.system(&Stamp::default(), "session_started", facts);
            return;
        }
        let started = &mut self.opening.started;
        started.session_id = fields.string("session_id").or(started.session_id.take());
        started.cwd = fields.string("cwd");
        self.opening.agent.model = fields.string("model");
        self.opening.agent.cli_version = fields.string("claude_code_version");
        self.opening.absorb(out);
        self.opening.put(out);
    }

    /// Puts the run's beginning, if nothing better is to come.
    fn open(&mut self, out: &mut Outbox<'_>, fields: &Fields<'_>, model: Option<Cow<'_, str>>) {
        if self.opening.is_put() {
            return;
        }
        let session = &mut self.opening.started.session_id;
        *session = session.take().or_else(|| fields.string("session_id"));
        let known = &mut self.opening.agent.model;
        *known = known.take().or(model.map(Cow::into_owned));
        self.opening.put(out);
    }

    /// Notes the model of a reply, if it is the main agent's.
    fn hear_model(&mut self, fields: &Fields<'_>, model: Option<&str>) {
        if fields.text("parent_tool_use_id").is_none() {
            self.sessions.hear(model);
        }
    }

    /// Tells who speaks in a record, and when.
    pub(super) fn stamp(&mut self, out: &mut Outbox<'_>, fields: &Fields<'_>) -> Stamp {
        let time = fields.time("timestamp");
        let Some(call_id) = fields.text("parent_tool_use_id") else { return Stamp::at(time) };
        let subagents = &mut self.talk.tools.subagents;
        if let Some(agent_id) = fields.text("agent_id") {
            subagents.name(&call_id, &agent_id);
        }
        let agent_id = subagents.started_by(&call_id);
        let name = fields.text("subagent_type");
        subagents.start(out, time, &agent_id, Some(&call_id), name.as_deref());
        Stamp::of_subagent(&agent_id, time)
    }

    fn assistant(&mut self, out: &mut Outbox<'_>, fields: &Fields<'_>) {
        let Some(message) = fields.fields("message") else { return };
        let model = message.text("model");
        let is_synthetic = model.as_deref() == Some(SYNTHETIC);
        self.hear_model(fields, model.as_deref());
        self.open(out, fields, model.filter(|_| !is_synthetic));
        self.end = None;
        let stamp = self.stamp(out, fields);
        let is_copy = !self.seen.is_new(fields.get("uuid"));
        let text = message.get("content").filter(|_| is_synthetic).and_then(wire::answer_text);
        let line = Line {
            stamp: stamp.clone(),
            message,
            uuid: fields.text("uuid"),
            request: fields.text("request_id"),
            cost_usd: None,
            session: self.sessions.current(),
            is_copy,
        };
        self.talk.reply(out, line);
        let code = fields.text("error");
        let is_error = code.is_some()
            || fields.flag("is_api_error_message") == Some(true)
            || text.as_deref().is_some_and(|text| text.starts_with("API Error"));
        if is_error && !is_copy {
            let status = fields.count("api_error_status");
            let report = api_report(code.as_deref(), status, &text.unwrap_or_default());
            self.talk.api_error(out, &stamp, report);
        }
    }

    fn user(&mut self, out: &mut Outbox<'_>, fields: &Fields<'_>) {
        let Some(message) = fields.fields("message") else { return };
        let stamp = self.stamp(out, fields);
        if !self.seen.is_new(fields.get("uuid")) {
            out.system(&stamp, "repeated", json!({ "uuid": fields.text("uuid") }));
            return;
        }
        self.end = None;
        let is_set = |key: &str| fields.flag(key) == Some(true);
        let content = message.get("content");
        // The text is let go at once: it may be long, and is written from where it stands.
        let text = content.filter(|_| is_set("isSynthetic")).and_then(wire::answer_text);
        let voice = text.map(|text| super::prompt::voice_of(&text));
        let is_synthetic = is_set("isSynthetic") && voice == Some(Voice::Prompt);
        let heard = Heard {
            stamp,
            content,
            details: fields.get("tool_use_result"),
            voice: is_synthetic.then_some(Voice::Context("synthetic")),
            is_replay: is_set("isReplay"),
            is_refused: events::is_refused(fields),
        };
        self.talk.hear(out, heard);
    }

    /// Takes `result`: the end of a turn, and of the run if nothing follows.
    fn result(&mut self, out: &mut Outbox<'_>, fields: &Fields<'_>) {
        self.talk.replies.close_all(out, &mut self.talk.tools);
        if !self.opening.is_put() {
            self.open(out, fields, account::only_model(fields).map(Cow::Owned));
        }
        let stamp = Stamp::default();
        let end = events::end_of(fields);
        let duration = fields.count("duration_ms");
        let session = self.sessions.current();
        let bill = self.account.take(fields, session, self.sessions.model());
        let facts = json!({
            "status": end.status.as_ref().map(Status::as_str),
            "reason": fields.text("terminal_reason").or_else(|| fields.text("subtype")),
            "duration_ms": duration,
            "turns": fields.count("num_turns"),
            "cost_usd": bill.cost_usd,
        });
        out.system(&stamp, "turn_completed", facts);
        for denial in fields.items("permission_denials") {
            let denial = denial.fields().unwrap_or_default();
            events::permission_denied(out, &mut self.talk.tools, &denial);
        }
        if bill.counts_tokens {
            self.talk.replies.settle_bill(session);
        }
        for usage in &bill.usages {
            out.usage(&stamp, usage);
        }
        if let Some(more) = duration {
            self.duration_ms = Some(self.duration_ms.unwrap_or(0).saturating_add(more));
        }
        self.end = Some(end);
    }

    /// Takes a record of the model's own stream, which the agent passes on.
    fn stream_event(&mut self, out: &mut Outbox<'_>, fields: &Fields<'_>) {
        let event = fields.fields("event").unwrap_or_default();
        let kind = event.text("type").unwrap_or_default();
        let stamp = self.stamp(out, fields);
        if kind == "message_start" {
            let message = event.fields("message").unwrap_or_default();
            let model = message.text("model");
            self.hear_model(fields, model.as_deref());
            self.open(out, fields, model);
            self.end = None;
            let line = Line {
                stamp,
                message,
                uuid: fields.text("uuid"),
                request: None,
                cost_usd: None,
                session: self.sessions.current(),
                is_copy: false,
            };
            self.talk.reply(out, line);
            return;
        }
        let Some(deltas) = self.talk.replies.deltas(out, &stamp) else {
            out.system(&stamp, "progress", json!({ "topic": kind }));
            return;
        };
        match &*kind {
            "content_block_start" => deltas.start_block(&event),
            "content_block_delta" => deltas.grow(&event),
            "message_delta" => {
                let delta = event.fields("delta").unwrap_or_default();
                let stop_reason = delta.string("stop_reason");
                self.talk.replies.amend(&stamp, event.fields("usage"), stop_reason);
            }
            "message_stop" => self.talk.replies.close_thread(out, &mut self.talk.tools, &stamp),
            _ => {}
        }
    }

    fn take_fields(&mut self, out: &mut Outbox<'_>, fields: &Fields<'_>) {
        self.begin(out, fields.time("timestamp"));
        self.talk.replies.wait(out, &mut self.talk.tools);
        self.sessions.turn_to(fields);
        let kind = fields.text("type").unwrap_or_default();
        match &*kind {
            "assistant" => self.assistant(out, fields),
            "user" => self.user(out, fields),
            "stream_event" => self.stream_event(out, fields),
            "result" => self.result(out, fields),
            "system" => events::system(out, self, fields),
            kind => events::other(out, self, kind, fields),
        }
    }

    fn begin(&mut self, out: &mut Outbox<'_>, time: Option<Timestamp>) {
        self.opening.begin(time);
        self.records = self.records.saturating_add(1);
        if self.records > RECORDS_BEFORE_INIT {
            self.opening.put(out);
        }
    }
}

impl Normalize for Stream {
    fn take(&mut self, record: &Record<'_>, out: &mut Outbox<'_>) {
        let fields = &record.fields;
        // Whoever logs both directions wraps each record once more.
        match fields.fields("msg") {
            Some(message) if !fields.has("type") => self.take_fields(out, &message),
            _ => self.take_fields(out, fields),
        }
    }

    fn settle(&mut self, out: &mut Outbox<'_>) {
        self.opening.put(out);
        self.talk.replies.close_all(out, &mut self.talk.tools);
    }

    fn finish(&mut self, out: &mut Outbox<'_>) {
        self.talk.finish(out);
        let aborted = RunCompleted { status: Some(Status::Aborted), ..RunCompleted::default() };
        let mut end = self.end.take().unwrap_or(aborted);
        let mut facts = match end.result.as_ref().map(Json::decode) {
            Some(Ok(serde_json::Value::Object(facts))) => facts,
            _ => serde_json::Map::new(),
        };
        if let Some(cost) = self.account.cost_usd {
            facts.insert("cost_usd".to_owned(), cost.into());
        }
        let facts = Some(facts).filter(|facts| !facts.is_empty());
        end.result = facts.and_then(|facts| Json::encode(&facts).ok());
        end.duration_ms = self.duration_ms;
        self.opening.complete(out, end);
    }
}
