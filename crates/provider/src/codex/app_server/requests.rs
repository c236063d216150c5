//! Requests and their answers, in both directions.
//!
//! Client and server number their requests each for themselves, so an id alone does not say whose
//! answer it is. What a client asks the agent to do comes back as items; it is not told twice.

use std::collections::HashMap;

use quipu_event::Json;
use quipu_event::payload::{ErrorReport, ToolCall, ToolResult, ToolStatus};
use serde_json::json;

use super::AppServer;
use super::envelope::{Envelope, Sender};
use super::methods::{self, Asked};
use crate::calls::Seen;
use crate::outbox::{Outbox, Stamp};
use crate::value::{Fields, Value};

/// Requests that have not been answered.
#[derive(Default)]
pub(super) struct Pending {
    of_client: HashMap<String, Request>,
    of_server: HashMap<String, Request>,
}

struct Request {
    method: String,
    thread_id: String,
    /// The call that it is about.
    call_id: String,
    /// Whether the call is told of by this request alone.
    is_only_word: bool,
}

impl Pending {
    /// Takes the request that is answered; the answer's sender is the other end.
    fn answer(&mut self, id: &str, sender: Option<Sender>, result: &Fields<'_>) -> Option<Request> {
        let keys = ["decision", "answers", "contentItems", "scope", "action"];
        let from_client = match sender {
            Some(sender) => sender == Sender::Client,
            None if !self.of_client.contains_key(id) => true,
            None => self.of_server.contains_key(id) && keys.iter().any(|key| result.has(key)),
        };
        if from_client { self.of_server.remove(id) } else { self.of_client.remove(id) }
    }
}

impl AppServer {
    /// Takes a request; one that nobody knows is left alone.
    pub(super) fn take_request(
        &mut self,
        out: &mut Outbox<'_>,
        method: &str,
        id: String,
        envelope: &Envelope<'_, '_>,
    ) {
        let params = envelope.params();
        let key = ["threadId", "conversationId"].into_iter().find_map(|key| params.string(key));
        let thread_id = key.unwrap_or_default();
        let call = ["itemId", "callId"].into_iter().find_map(|key| params.string(key));
        let call_id = call.unwrap_or_default();
        let stamp = self.threads.stamp_if_known(&thread_id, envelope.time);
        let asked = methods::asked(method);
        let mut is_only_word = false;
        match asked {
            Asked::Nothing => return,
            Asked::Opening if !self.opening.is_put() => self.opening.absorb(out),
            Asked::Approval => {
                let facts = json!({ "tool_id": call_id, "reason": params.string("reason") });
                out.system(&stamp, "permission_requested", facts);
            }
            Asked::Tool => is_only_word = self.take_tool_request(out, &stamp, &thread_id, &params),
            _ => {
                let model = params.string("model").filter(|_| asked == Asked::Turn);
                let facts = json!({ "method": method, "model": model });
                out.system(&stamp, "request", facts);
                if model.is_some() {
                    self.threads.get(&thread_id).thread.voice.model = model;
                }
            }
        }
        let request = Request { method: method.to_owned(), thread_id, call_id, is_only_word };
        let is_of_server = matches!(asked, Asked::Approval | Asked::Tool | Asked::Client);
        let pending = &mut self.pending;
        if is_of_server { &mut pending.of_server } else { &mut pending.of_client }
            .insert(id, request);
    }

    /// Takes an answer.
    pub(super) fn take_response(
        &mut self,
        out: &mut Outbox<'_>,
        id: &str,
        envelope: &Envelope<'_, '_>,
    ) {
        let result = envelope.message.fields("result").unwrap_or_default();
        let request = self.pending.answer(id, envelope.sender, &result);
        let thread_id = request.as_ref().map(|request| &*request.thread_id).unwrap_or_default();
        let stamp = self.threads.stamp_if_known(thread_id, envelope.time);
        let asked = request.as_ref().map(|request| methods::asked(&request.method));
        // Where only the server is heard, nothing tells what it refuses.
        let is_opening = matches!(asked, None | Some(Asked::Opening));
        if let Some(error) = envelope.message.fields("error") {
            let report = refusal(&error);
            if is_opening {
                self.refused = Some(report.message.clone());
            }
            return out.error(&stamp, &report);
        }
        if is_opening {
            self.refused = None;
        }
        let method = request.as_ref().map(|request| &*request.method);
        if let Some(request) = &request {
            match methods::asked(&request.method) {
                Asked::Approval => return self.take_decision(out, &stamp, request, &result),
                Asked::Tool => return self.take_tool_answer(out, &stamp, request, &result),
                _ => {}
            }
        }
        if self.take_thread_answer(out, &stamp, method, &result) {
            return;
        }
        if let Some(turn) = result.fields("turn").and_then(|turn| turn.string("id")) {
            self.threads.get(thread_id).thread.know_turn(&turn);
        }
        if let Some(agent) = result.text("userAgent").filter(|_| !self.opening.is_put()) {
            self.opening.agent.cli_version = version_of(&agent);
            return self.opening.absorb(out);
        }
        out.system(&stamp, "response", json!({ "method": method }));
    }

    fn take_decision(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        request: &Request,
        result: &Fields<'_>,
    ) {
        let word = result.get("decision").and_then(decision);
        let word = word.as_deref();
        let is_refusal =
            matches!(word, Some("decline" | "cancel" | "denied" | "abort" | "timed_out"));
        if is_refusal {
            let thread = &mut self.threads.get(&request.thread_id).thread;
            return thread.refuse(out, stamp, &request.call_id, word);
        }
        let facts = json!({ "tool_id": request.call_id, "decision": word });
        out.system(stamp, "permission_granted", facts);
    }

    /// Takes a call of a tool that the client provides; returns whether nothing else tells of it.
    fn take_tool_request(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        thread_id: &str,
        params: &Fields<'_>,
    ) -> bool {
        let call = ToolCall {
            name: params.string("tool").unwrap_or_default(),
            call_id: params.string("callId").unwrap_or_default(),
            input: params.json("arguments").unwrap_or_default(),
            provider: Some("agent".to_owned()),
            ..ToolCall::default()
        };
        let call_id = call.call_id.clone();
        self.opening.put(out);
        let voice = &mut self.threads.get(thread_id).thread.voice;
        let is_new = voice.call(out, stamp, call) == Seen::New;
        if !is_new {
            out.system(stamp, "request", json!({ "method": "item/tool/call", "tool_id": call_id }));
        }
        is_new
    }

    fn take_tool_answer(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        request: &Request,
        result: &Fields<'_>,
    ) {
        let call_id = request.call_id.clone();
        if !request.is_only_word {
            let facts = json!({ "method": request.method, "tool_id": call_id });
            return out.system(stamp, "response", facts);
        }
        let failed = result.flag("success") == Some(false);
        let answer = ToolResult {
            call_id: call_id.clone(),
            output: result.get("contentItems").map_or_else(Json::null, Value::json),
            status: Some(if failed { ToolStatus::Failed } else { ToolStatus::Completed }),
            ..ToolResult::default()
        };
        let voice = &mut self.threads.get(&request.thread_id).thread.voice;
        let call = ToolCall { call_id: call_id.clone(), ..ToolCall::default() };
        if voice.result(out, stamp, call, answer) == Seen::Again {
            out.system(stamp, "repeated", json!({ "tool_id": call_id }));
        }
    }
}

/// A decision is a word, or an object under the word.
fn decision(value: Value<'_>) -> Option<String> {
    let word = value.text().map(|word| word.into_owned());
    word.or_else(|| value.fields()?.iter().next().map(|(word, _)| word.to_owned()))
}

fn refusal(error: &Fields<'_>) -> ErrorReport {
    const OVERLOADED: i64 = -32001;
    let code = error.integer("code");
    ErrorReport {
        code: "request_failed".to_owned(),
        category: "session".to_owned(),
        message: error.string("message").unwrap_or_default(),
        retryable: code == Some(OVERLOADED),
        details: error.json("code"),
    }
}

/// `name/0.1.2 (system …)` names the server's version.
fn version_of(user_agent: &str) -> Option<String> {
    let (_, rest) = user_agent.split_once('/')?;
    Some(rest.split([' ', '(']).next()?.to_owned())
}
