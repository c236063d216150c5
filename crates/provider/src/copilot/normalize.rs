//! Copilot's events → drafts, for the stream and the file alike.

use std::collections::{BTreeMap, HashSet};

use quipu_event::Kind;
use quipu_event::payload::ErrorReport;
use serde_json::json;

use crate::calls::{Calls, Seen};
use crate::normalizer::Normalize;
use crate::opening::Opening;
use crate::outbox::{Outbox, Stamp};
use crate::record::Record;

use super::ending::Ending;
use super::ledger::Ledger;
use super::speech::{Said, Thread};
use super::wire::{self, Event};
use super::{notes, tools};

/// Reads standard output.
pub(super) fn start_stream() -> Box<dyn Normalize> {
    Box::new(Events::new("stream"))
}

/// Reads a session file.
pub(super) fn start_session() -> Box<dyn Normalize> {
    Box::new(Events::new("session"))
}

/// The events of one input.
pub(super) struct Events {
    is_stream: bool,
    pub(super) opening: Opening,
    calls: Calls,
    /// What each agent is about to say; the main agent has no name.
    pub(super) threads: BTreeMap<String, Thread>,
    pub(super) ledger: Ledger,
    pub(super) ending: Ending,
    /// Calls that a permission was refused for.
    denied: HashSet<String>,
    /// The system prompt that stood last, as it is repeated before every prompt.
    pub(super) system_prompt: Option<u64>,
}

impl Events {
    fn new(surface: &str) -> Self {
        Events {
            is_stream: surface == "stream",
            opening: Opening::new("copilot", surface),
            calls: Calls::default(),
            threads: BTreeMap::new(),
            ledger: Ledger::default(),
            ending: Ending::default(),
            denied: HashSet::new(),
            system_prompt: None,
        }
    }

    fn take_event(&mut self, event: &Event<'_>, record: &Record<'_>, out: &mut Outbox<'_>) {
        let stamp = event.stamp();
        match event.kind.split_once('.').map_or(&*event.kind, |(family, _)| family) {
            "assistant" => self.take_assistant(event, &stamp, out),
            "tool" | "permission" => self.take_tool(event, &stamp, out),
            "session" => self.take_session(event, &stamp, out),
            "user" | "system" => self.take_input(event, &stamp, out),
            "subagent" => self.take_subagent(event, out),
            "model" => take_model(event, &stamp, out),
            "abort" => self.interrupt(event, &stamp, out),
            "result" if !record.fields.has("data") => self.take_result(record, &stamp, out),
            _ => notes::put(out, &stamp, &event.kind, &event.data),
        }
    }

    fn take_assistant(&mut self, event: &Event<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        match &*event.kind {
            "assistant.message_start"
            | "assistant.message_delta"
            | "assistant.reasoning_delta"
            | "assistant.tool_call_delta" => self.thread(event).piece(event, out),
            "assistant.message" => self.message(event, stamp, out),
            "assistant.reasoning" => {
                if !self.thread(event).reasoning(event, out) {
                    let reasoning_id = event.data.string("reasoningId");
                    out.system(stamp, "repeated", json!({ "reasoning_id": reasoning_id }));
                }
            }
            "assistant.turn_start" => {
                self.ending.go_on();
                self.thread(event).begin_turn();
                out.system(stamp, "turn_started", json!({ "turn": event.data.string("turnId") }));
            }
            "assistant.turn_end" => {
                self.put_drafts(&event.thread, out);
                out.system(stamp, "turn_completed", json!({ "turn": event.data.string("turnId") }));
            }
            "assistant.turn_retry" => self.retry(event, stamp, out),
            "assistant.usage" => self.usage_record(event, stamp, out),
            kind => notes::put(out, stamp, kind, &event.data),
        }
    }

    fn message(&mut self, event: &Event<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        if self.thread(event).continue_message(event, out) {
            return;
        }
        self.put_said(&event.thread, out);
        self.ending.go_on();
        let model = event.model().or_else(|| self.opening.agent.model.clone());
        let mut usage = self.ledger.message_output(&event.data, model);
        if !self.is_stream
            && let Some(usage) = usage.take()
        {
            self.ledger.hold(stamp.clone(), usage);
        }
        self.thread(event).message(event, usage, out);
    }

    fn retry(&mut self, event: &Event<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let facts = json!({
            "turn": event.data.string("turnId"),
            "model": event.data.string("model"),
            "reason": event.data.string("reason"),
        });
        let mut discarded = self.thread(event).discard();
        let mut scraps = discarded.pop().unwrap_or_default();
        for scraps in discarded {
            out.put_with(scraps, |out| out.system(stamp, "discarded", json!({})));
        }
        out.absorb(&mut scraps);
        out.put_with(scraps, |out| out.system(stamp, "retry", facts));
    }

    fn take_tool(&mut self, event: &Event<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let call_id = event.data.string("toolCallId");
        let seen = match &*event.kind {
            "tool.execution_start" => {
                wire::tool_execution(&event.data).map(|call| self.calls.call(out, stamp, call))
            }
            "tool.execution_complete" => tools::result(&event.data, &self.denied)
                .map(|result| self.calls.result(out, stamp, result)),
            "permission.requested" => return permission_request(event, stamp, out),
            "permission.completed" => return self.permission(event, stamp, out),
            kind => return notes::put(out, stamp, kind, &event.data),
        };
        match seen {
            Some(Seen::New) => {}
            // The call was put where the model asked for it.
            Some(Seen::Again) if event.kind.ends_with("_start") => {
                out.system(stamp, "tool_started", json!({ "tool_id": call_id }));
            }
            Some(Seen::Again) => out.system(stamp, "repeated", json!({ "tool_id": call_id })),
            None => out.system(stamp, "progress", json!({ "topic": event.kind })),
        }
    }

    fn permission(&mut self, event: &Event<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let call_id = event.data.string("toolCallId");
        let outcome = event.data.fields("result").and_then(|result| result.string("kind"));
        let is_denied = outcome.as_ref().is_some_and(|outcome| !outcome.starts_with("approved"));
        let subtype = if is_denied { "permission_denied" } else { "permission_granted" };
        let facts = json!({ "tool_id": call_id, "outcome": outcome });
        if is_denied {
            self.denied.extend(call_id);
        }
        out.system(stamp, subtype, facts);
    }

    fn take_subagent(&mut self, event: &Event<'_>, out: &mut Outbox<'_>) {
        let call_id = event.data.string("toolCallId");
        let is_named = !event.thread.is_empty();
        let agent_id = if is_named { Some(event.thread.clone()) } else { call_id.clone() };
        let name = event.data.string("agentName");
        let stamp = Stamp::at(event.time);
        match &*event.kind {
            "subagent.started" => {
                let model = event.data.string("model");
                let facts = json!({ "agent_id": agent_id, "tool_id": call_id, "name": name, "model": model });
                out.system(&stamp, "subagent_started", facts);
            }
            "subagent.completed" | "subagent.failed" => {
                self.put_drafts(agent_id.as_deref().unwrap_or_default(), out);
                let facts = json!({
                    "agent_id": agent_id,
                    "tool_id": call_id,
                    "name": name,
                    "status": event.kind.trim_start_matches("subagent."),
                    "duration_ms": event.data.count("durationMs"),
                    "total_tokens": event.data.count("totalTokens"),
                    "tool_calls": event.data.count("totalToolCalls"),
                });
                out.system(&stamp, "subagent_completed", facts);
            }
            kind => notes::put(out, &event.stamp(), kind, &event.data),
        }
    }

    /// Pieces of a message stay where they are: the whole message may still be on its way.
    fn interrupt(&mut self, event: &Event<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        self.ending.interrupt();
        out.system(stamp, "interrupted", json!({ "reason": event.data.string("reason") }));
    }

    fn take_result(&mut self, record: &Record<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        self.put_everything(out);
        self.ending.take_result(record);
        out.system(
            stamp,
            "session_ended",
            json!({
                "session_id": record.fields.string("sessionId"),
                "exit_code": record.fields.integer("exitCode"),
            }),
        );
    }

    pub(super) fn thread(&mut self, event: &Event<'_>) -> &mut Thread {
        self.threads.entry(event.thread.clone()).or_default()
    }

    /// Puts what is whole, as something else happens.
    ///
    /// A message waits while its own thread may still add to it: its reasoning, or a further part.
    fn go_on(&mut self, event: &Event<'_>, out: &mut Outbox<'_>) {
        let is_speech = matches!(&*event.kind, "assistant.message" | "assistant.reasoning");
        let threads: Vec<String> = self.threads.keys().cloned().collect();
        for thread in threads {
            if !is_speech || thread != event.thread {
                self.put_said(&thread, out);
            }
        }
        if !is_speech {
            self.put_usage(&event.thread, out);
        }
    }

    /// Puts the message of a thread that goes on, its usage and its calls.
    fn put_said(&mut self, thread: &str, out: &mut Outbox<'_>) {
        let Some(said) = self.threads.get_mut(thread).and_then(Thread::take_said) else { return };
        let Said { stamp, message, calls, usage, accounted, scraps } = said;
        let message_id = message.message_id.clone();
        out.put_with(scraps, |out| {
            out.message(&stamp, Kind::MessageAssistant, message);
            if let Some(usage) = &usage {
                out.usage(&stamp, usage);
            }
        });
        if let Some(mut accounted) = accounted {
            accounted.usage.message_id = message_id;
            accounted.put(out);
        }
        for call in calls {
            self.calls.call(out, &stamp, call);
        }
    }

    /// Puts usage whose message did not come.
    pub(super) fn put_usage(&mut self, thread: &str, out: &mut Outbox<'_>) {
        let waiting = self.threads.get_mut(thread).and_then(|thread| thread.usage.take());
        if let Some((_, accounted)) = waiting {
            accounted.put(out);
        }
    }

    /// Puts what there is of a thread's message that will not be finished.
    pub(super) fn put_drafts(&mut self, thread: &str, out: &mut Outbox<'_>) {
        let Some(drafts) = self.threads.get_mut(thread) else { return };
        for (stamp, call) in drafts.put_drafts(out) {
            self.calls.call(out, &stamp, call);
        }
    }

    pub(super) fn put_everything(&mut self, out: &mut Outbox<'_>) {
        let threads: Vec<String> = self.threads.keys().cloned().collect();
        for thread in threads {
            self.put_said(&thread, out);
            self.put_usage(&thread, out);
            self.put_drafts(&thread, out);
        }
    }
}

impl Normalize for Events {
    fn take(&mut self, record: &Record<'_>, out: &mut Outbox<'_>) {
        let Some(event) = Event::read(record) else { return };
        self.opening.begin(event.time);
        if event.thread.is_empty() && self.opening.agent.model.is_none() {
            self.opening.agent.model = event.model();
        }
        if !event.is_ephemeral {
            self.go_on(&event, out);
        }
        self.take_event(&event, record, out);
        let is_under_way =
            matches!(&*event.kind, "assistant.message" | "assistant.turn_end" | "abort");
        if self.opening.agent.model.is_some() || is_under_way {
            self.opening.put(out);
        }
    }

    fn settle(&mut self, out: &mut Outbox<'_>) {
        self.opening.put(out);
        let threads: Vec<String> = self.threads.keys().cloned().collect();
        for thread in threads {
            self.put_said(&thread, out);
        }
    }

    fn finish(&mut self, out: &mut Outbox<'_>) {
        self.put_everything(out);
        self.ledger.put_held(out);
        let is_dangling = self.calls.any_open();
        self.calls.finish(out);
        let end = self.ending.complete(self.is_stream, is_dangling);
        self.opening.complete(out, end);
    }
}

fn permission_request(event: &Event<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
    let request = event.data.fields("permissionRequest").unwrap_or_default();
    let facts = json!({
        "tool_id": request.string("toolCallId").or_else(|| event.data.string("toolCallId")),
        "request_id": event.data.string("requestId"),
    });
    out.system(stamp, "permission_requested", facts);
}

fn take_model(event: &Event<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
    match &*event.kind {
        "model.call_failure" => out.error(stamp, &error_report(event, "model_call_failed", "api")),
        kind => notes::put(out, stamp, kind, &event.data),
    }
}

pub(super) fn error_report(event: &Event<'_>, code: &str, category: &str) -> ErrorReport {
    let data = &event.data;
    let status = data.count("statusCode");
    let message = data.string("message").or_else(|| data.string("errorMessage"));
    ErrorReport {
        code: data.string("errorType").unwrap_or_else(|| code.to_owned()),
        category: if status.is_some() { "api" } else { category }.to_owned(),
        message: message.or_else(|| Some(format!("HTTP {}", status?))).unwrap_or_default(),
        retryable: status.is_some_and(|status| status == 429 || status >= 500),
        details: None,
    }
}
