//! JSON-RPC messages → drafts: requests, their answers, and notifications.

use std::collections::HashMap;

use quipu_event::payload::{ErrorReport, Message};
use quipu_event::{ContentBlock, Fidelity, Kind, Purpose, Timestamp};
use serde_json::json;

use crate::normalizer::Normalize;
use crate::opening::Opening;
use crate::outbox::{Outbox, Stamp};
use crate::record::Record;
use crate::value::{Fields, Value};

use super::ending::Ending;
use super::notes;
use super::speech::Speech;
use super::usage::Account;
use super::wire::{self, Envelope, Side};

/// Reads a log of the protocol.
pub(super) fn start() -> Box<dyn Normalize> {
    Box::new(Dialogue::new())
}

/// What two sides say to each other.
pub(super) struct Dialogue {
    pub(super) opening: Opening,
    pub(super) speech: Speech,
    pub(super) account: Account,
    pub(super) ending: Ending,
    /// When the record at hand was written.
    pub(super) time: Option<Timestamp>,
    /// The same in a log that counts milliseconds.
    pub(super) millis: Option<u64>,
    /// Whether updates repeat a session that was loaded.
    pub(super) is_replaying: bool,
    /// Whether the client has just said something that the agent may tell back.
    pub(super) is_prompted: bool,
    /// Requests that wait for an answer, by who asked.
    asked: HashMap<(bool, String), Asked>,
}

/// A request that waits for an answer.
struct Asked {
    method: String,
    /// What a permission was asked for, and which options refuse it.
    permission: Option<(String, Vec<String>)>,
}

impl Dialogue {
    fn new() -> Self {
        Dialogue {
            opening: Opening::new("acp", "updates"),
            speech: Speech::default(),
            account: Account::default(),
            ending: Ending::default(),
            time: None,
            millis: None,
            is_replaying: false,
            is_prompted: false,
            asked: HashMap::new(),
        }
    }

    fn take_method(&mut self, method: &str, envelope: &Envelope<'_>, out: &mut Outbox<'_>) {
        let params = &envelope.params;
        let stamp = Stamp::at(self.time);
        if let Some(id) = envelope.id {
            let permission =
                (method == "session/request_permission").then(|| permission(params)).flatten();
            let asked = Asked { method: method.to_owned(), permission };
            self.asked.insert((is_agents(method), id.to_owned()), asked);
        }
        if let Some(update) = params.fields("update") {
            self.learn_session(params.string("sessionId"), None);
            return self.take_update(&update, out);
        }
        match method {
            "initialize" if !self.opening.is_put() => self.opening.absorb(out),
            "session/new" | "session/resume" if !self.opening.is_put() => {
                self.learn_session(params.string("sessionId"), params.string("cwd"));
                self.opening.absorb(out);
            }
            "session/load" => self.begin_replay(params, &stamp, out),
            "session/prompt" => {
                self.ending.prompt(envelope.id);
                self.take_prompt(params, &stamp, out);
            }
            "session/request_permission" => self.take_permission(params, out),
            method => notes::put_method(out, &stamp, method, params),
        }
    }

    fn take_answer(&mut self, envelope: &Envelope<'_>, out: &mut Outbox<'_>) {
        self.ending.answered();
        let stamp = Stamp::at(self.time);
        let result = envelope.result.and_then(Value::fields).unwrap_or_default();
        let asked = envelope.id.and_then(|id| self.find_asked(id, envelope.writer, &result));
        let method = asked.as_ref().map(|asked| asked.method.clone()).or_else(|| guess(&result));
        let method = method.as_deref();
        if method == Some("session/prompt") || result.has("stopReason") {
            self.ending.prompt_answered(envelope.id);
        }
        if let Some(error) = &envelope.error {
            return self.take_error(error, method, &stamp, out);
        }
        if result.has("stopReason") {
            return self.end_turn(result.string("stopReason"), &result, out);
        }
        match method {
            Some("initialize") => self.meet(&result, &stamp, out),
            Some("session/new" | "session/load" | "session/resume" | "session/fork") => {
                self.begin_session(method, &result, &stamp, out);
            }
            Some("session/request_permission") => {
                self.answer_permission(
                    asked.and_then(|asked| asked.permission),
                    &result,
                    &stamp,
                    out,
                );
            }
            method => notes::put_answer(out, &stamp, method),
        }
    }

    /// Finds the request that an answer belongs to: both sides number their own.
    fn find_asked(&mut self, id: &str, writer: Option<Side>, result: &Fields<'_>) -> Option<Asked> {
        let is_outcome = result.has("outcome");
        let sides = match writer {
            Some(Side::Agent) => vec![false],
            Some(Side::Client) => vec![true],
            None => vec![is_outcome, !is_outcome],
        };
        sides.into_iter().find_map(|side| self.asked.remove(&(side, id.to_owned())))
    }

    /// Takes who the agent is.
    fn meet(&mut self, result: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let agent = result.fields("agentInfo").unwrap_or_default();
        let name = agent.string("name");
        self.account.is_cumulative = name.as_deref() == Some("Copilot");
        if self.opening.is_put() {
            return notes::put_answer(out, stamp, Some("initialize"));
        }
        self.opening.agent.cli_version = agent.string("version");
        self.opening.started.labels = name.map(|name| [("agent".to_owned(), name)].into());
        self.opening.absorb(out);
    }

    fn begin_session(
        &mut self,
        method: Option<&str>,
        result: &Fields<'_>,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let session_id = result.string("sessionId");
        let model = wire::model(result);
        self.account.model = model.clone().or_else(|| self.account.model.take());
        if self.opening.is_put() {
            let facts = json!({ "session_id": session_id, "model": model, "topic": method });
            return out.system(stamp, "session_started", facts);
        }
        self.learn_session(session_id, None);
        self.opening.agent.model = model;
        self.opening.absorb(out);
        self.opening.put(out);
    }

    fn learn_session(&mut self, session_id: Option<String>, cwd: Option<String>) {
        let started = &mut self.opening.started;
        started.session_id = started.session_id.take().or(session_id);
        started.cwd = started.cwd.take().or(cwd);
    }

    fn begin_replay(&mut self, params: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        self.speech.end_turn(stamp, self.millis, out);
        self.is_replaying = true;
        if self.opening.is_put() {
            return notes::put_method(out, stamp, "session/load", params);
        }
        self.learn_session(params.string("sessionId"), params.string("cwd"));
        self.opening.absorb(out);
    }

    fn take_prompt(&mut self, params: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        self.learn_session(params.string("sessionId"), None);
        self.opening.put(out);
        self.speech.end_turn(stamp, self.millis, out);
        self.account.begin_turn();
        (self.is_replaying, self.is_prompted) = (false, true);
        let blocks = params.items("prompt").into_iter().map(|item| {
            let block = match wire::text_of(item) {
                Some(text) => ContentBlock::text(Fidelity::AgentEmitted, text),
                None => wire::other_block(item),
            };
            block.with_purpose(Purpose::Prompt)
        });
        let message = Message::user(blocks.collect());
        out.message(stamp, Kind::MessageUser, message);
    }

    fn take_permission(&mut self, params: &Fields<'_>, out: &mut Outbox<'_>) {
        let call = params.fields("toolCall").unwrap_or_default();
        let stamp = wire::stamp(&call, self.time);
        self.opening.put(out);
        self.ending.go_on();
        let call_id = call.string("toolCallId");
        // Some agents tell of a call only here.
        self.speech.ask(&call, &stamp, self.millis, out);
        out.system(&stamp, "permission_requested", json!({ "tool_id": call_id }));
    }

    fn answer_permission(
        &mut self,
        permission: Option<(String, Vec<String>)>,
        result: &Fields<'_>,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let outcome = result.fields("outcome").unwrap_or_default();
        let option = outcome.string("optionId");
        let (call_id, refusing) = permission.unzip();
        let is_refused = outcome.text("outcome").is_some_and(|outcome| outcome == "cancelled")
            || option
                .as_ref()
                .is_some_and(|option| refusing.is_some_and(|list| list.contains(option)));
        if let Some(call_id) = call_id.as_ref().filter(|_| is_refused) {
            self.speech.deny(call_id);
        }
        let subtype = if is_refused { "permission_denied" } else { "permission_granted" };
        out.system(stamp, subtype, json!({ "tool_id": call_id, "option": option }));
    }

    fn take_error(
        &mut self,
        error: &Fields<'_>,
        method: Option<&str>,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let is_prompt = method == Some("session/prompt");
        if is_prompt {
            self.speech.end_turn(stamp, self.millis, out);
        }
        let message = error.string("message").unwrap_or_default();
        let report = ErrorReport {
            code: error
                .get("code")
                .map_or_else(|| "error".to_owned(), |code| code.source().to_owned()),
            category: if is_prompt { "api" } else { "session" }.to_owned(),
            message: message.clone(),
            retryable: false,
            details: error.json("data"),
        };
        out.error(stamp, &report);
        if is_prompt {
            self.is_prompted = false;
            self.ending.fail(message);
        }
    }
}

impl Normalize for Dialogue {
    fn take(&mut self, record: &Record<'_>, out: &mut Outbox<'_>) {
        let Some(envelope) = Envelope::read(record) else { return };
        (self.time, self.millis) = (envelope.time, envelope.millis);
        self.opening.begin(envelope.time);
        self.ending.moment(envelope.millis);
        match &envelope.method {
            Some(method) => self.take_method(method, &envelope, out),
            None => self.take_answer(&envelope, out),
        }
    }

    fn settle(&mut self, out: &mut Outbox<'_>) {
        self.opening.put(out);
        self.speech.close_prompt(out);
        self.speech.close_reply(out);
    }

    fn finish(&mut self, out: &mut Outbox<'_>) {
        self.speech.end_turn(&Stamp::at(self.time), self.millis, out);
        let is_dangling = self.speech.calls.any_open();
        self.speech.calls.finish(out);
        let end = self.ending.complete(is_dangling);
        self.opening.complete(out, end);
    }
}

/// Tells whether it is the agent who asks for this.
fn is_agents(method: &str) -> bool {
    let families = ["fs/", "terminal/", "elicitation/"];
    method == "session/request_permission"
        || families.iter().any(|family| method.starts_with(family))
}

/// Returns which call a permission is asked for, and the options that refuse it.
fn permission(params: &Fields<'_>) -> Option<(String, Vec<String>)> {
    let call_id = params.fields("toolCall")?.string("toolCallId")?;
    let options = params.items("options").into_iter().filter_map(Value::fields);
    let refusing =
        options.filter(|option| option.text("kind").is_some_and(|kind| kind.starts_with("reject")));
    Some((call_id, refusing.filter_map(|option| option.string("optionId")).collect()))
}

/// Guesses what is answered in a log that has only the answers.
fn guess(result: &Fields<'_>) -> Option<String> {
    let shapes = [
        ("agentCapabilities", "initialize"),
        ("protocolVersion", "initialize"),
        ("sessionId", "session/new"),
        ("outcome", "session/request_permission"),
    ];
    shapes.iter().find(|(key, _)| result.has(key)).map(|(_, method)| (*method).to_owned())
}
