//! The live stream, `opencode run --format json`.

use quipu_event::payload::{RunCompleted, Status, ToolCall, ToolResult, ToolStatus};
use quipu_event::{BlockContent, ContentBlock, Fidelity};
use serde_json::json;

use super::wire::{self, ToolPart};
use crate::calls::{Calls, Seen};
use crate::normalizer::Normalize;
use crate::opening::Opening;
use crate::outbox::{Outbox, Stamp};
use crate::record::Record;
use crate::registry::Likeness;
use crate::reply::Reply;
use crate::value::Fields;

/// Tells how much a record looks like one of the stream.
pub(super) fn likeness(record: &Record<'_>) -> Likeness {
    let fields = &record.fields;
    let has_session = fields.has("sessionID") && fields.has("timestamp");
    let is_part = fields.fields("part").is_some_and(|part| part.has("messageID"));
    let is_error = fields.has("error") && fields.text("type").as_deref() == Some("error");
    match has_session && (is_part || is_error) {
        true => Likeness::Sure,
        false => Likeness::No,
    }
}

/// The types of records there are.
const KINDS: [&str; 6] = ["step_start", "text", "reasoning", "tool_use", "step_finish", "error"];

/// The stream of one or more runs.
pub(super) struct Stream {
    opening: Opening,
    session_id: Option<String>,
    calls: Calls,
    reply: Option<Reply>,
    /// How the run ends if nothing more comes.
    end: RunCompleted,
}

impl Stream {
    pub(super) fn new() -> Self {
        Stream {
            opening: Opening::new("opencode", "stream"),
            session_id: None,
            calls: Calls::default(),
            reply: None,
            end: ended(Status::Aborted, None),
        }
    }

    /// Notes whose record it is; another session than the last one is another run.
    fn session(&mut self, fields: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let session_id = fields.string("sessionID");
        if !self.opening.is_put() {
            self.opening.started.session_id.clone_from(&session_id);
            self.opening.absorb(out);
            self.opening.put(out);
        } else if session_id.is_some() && session_id != self.session_id {
            self.close_reply(out);
            out.system(stamp, "session_started", json!({ "session_id": session_id }));
        }
        self.session_id = session_id.or(self.session_id.take());
    }

    /// Returns the reply that a part belongs to; the record goes with it.
    fn reply(&mut self, part: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) -> &mut Reply {
        let message_id = part.string("messageID");
        if self.reply.as_ref().is_some_and(|reply| reply.message.message_id != message_id) {
            self.close_reply(out);
        }
        self.end = ended(Status::Aborted, None);
        let reply = self.reply.get_or_insert_with(|| {
            let mut reply = Reply::open(out, stamp.clone());
            reply.message.message_id = message_id;
            reply
        });
        reply.absorb(out);
        reply
    }

    fn close_reply(&mut self, out: &mut Outbox<'_>) {
        if let Some(reply) = self.reply.take() {
            reply.close(out);
        }
    }

    fn text(&mut self, part: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        if part.flag("synthetic") == Some(true) {
            self.close_reply(out);
            let metadata = part.fields("metadata").unwrap_or_default();
            let is_compaction = metadata.flag("compaction_continue") == Some(true);
            let (subtype, kind) = match is_compaction {
                true => ("compaction", "continue"),
                false => ("context", "synthetic"),
            };
            let facts = json!({ "topic": kind, "message_id": part.string("messageID") });
            return out.system(stamp, subtype, facts);
        }
        let text = part.string("text").unwrap_or_default();
        self.reply(part, stamp, out).add(ContentBlock::text(Fidelity::AgentEmitted, text));
    }

    fn reasoning(&mut self, part: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let thinking = part.string("text").unwrap_or_default();
        let content = BlockContent::Thinking { thinking, signature: wire::signature(part) };
        self.reply(part, stamp, out).add(content.vouched_by(Fidelity::AgentEmitted));
    }

    fn tool(&mut self, part: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let Some(call_id) = part.string("callID").or_else(|| part.string("id")) else { return };
        let ToolPart { name, input, start, end, result, subagent } = ToolPart::read(part);
        if !self.calls.knows(&call_id) {
            let (tool_name, tool_id, tool_input) = (name.clone(), call_id.clone(), input.clone());
            let content = BlockContent::ToolUse { tool_name, tool_id, tool_input };
            self.reply(part, stamp, out).add(content.vouched_by(Fidelity::AgentEmitted));
        }
        let (began, ended) = (Stamp::at(start.or(stamp.time)), Stamp::at(end.or(stamp.time)));
        let provider = Some("agent".to_owned());
        let call =
            ToolCall { name, call_id: call_id.clone(), input, provider, ..ToolCall::default() };
        let mut seen = self.calls.call(out, &began, call);
        let agent_id = subagent.as_ref().map(|subagent| &subagent.id);
        if let Some(subagent) = &subagent {
            let facts = json!({ "agent_id": agent_id, "tool_id": call_id, "name": subagent.name });
            out.system(&began, "subagent_started", facts);
        }
        if let Some(result) = result {
            self.end = match result.status {
                Some(ToolStatus::Blocked) => self::ended(Status::Blocked, result.error.clone()),
                _ => self::ended(Status::Aborted, None),
            };
            let result = ToolResult { call_id: call_id.clone(), ..result };
            seen = self.calls.result(out, &ended, result);
        }
        if let Some(agent_id) = agent_id {
            let facts = json!({ "agent_id": agent_id, "tool_id": call_id });
            out.system(&ended, "subagent_completed", facts);
        }
        if seen == Seen::Again {
            out.system(stamp, "repeated", json!({ "tool_id": call_id }));
        }
    }

    fn step_finish(&mut self, part: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let reason = part.string("reason");
        let was_blocked = self.end.status == Some(Status::Blocked);
        let before = std::mem::replace(&mut self.end, ended(Status::Aborted, None));
        let reply = self.reply(part, stamp, out);
        if let Some(usage) = wire::usage(part) {
            wire::add(&mut reply.usage, usage);
        }
        reply.message.stop_reason.clone_from(&reason);
        match reason.as_deref() {
            // The run goes on, unless somebody said no.
            Some("tool-calls") if was_blocked => self.end = before,
            Some("tool-calls") => {}
            Some("unknown" | "other") | None => self.close_reply(out),
            Some("error") => {
                self.close_reply(out);
                self.end = ended(Status::Failed, None);
            }
            Some(_) => {
                self.close_reply(out);
                self.end = ended(Status::Succeeded, None);
            }
        }
    }

    fn error(&mut self, fields: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        self.close_reply(out);
        let report = wire::error_report(&fields.fields("error").unwrap_or_default());
        let is_abort = report.code == "aborted";
        let status = if is_abort { Status::Aborted } else { Status::Failed };
        out.error(stamp, &report);
        self.end = ended(status, Some(report.message));
    }
}

impl Normalize for Stream {
    fn take(&mut self, record: &Record<'_>, out: &mut Outbox<'_>) {
        let fields = &record.fields;
        let stamp = Stamp::at(wire::millis(fields, "timestamp"));
        self.opening.begin(stamp.time);
        let kind = fields.text("type").filter(|kind| KINDS.contains(&&**kind));
        let part = fields.fields("part").unwrap_or_default();
        if kind.is_some() {
            self.session(fields, &stamp, out);
        }
        match kind.as_deref() {
            Some("step_start") => drop(self.reply(&part, &stamp, out)),
            Some("text") => self.text(&part, &stamp, out),
            Some("reasoning") => self.reasoning(&part, &stamp, out),
            Some("tool_use") => self.tool(&part, &stamp, out),
            Some("step_finish") => self.step_finish(&part, &stamp, out),
            Some("error") => self.error(fields, &stamp, out),
            _ => {}
        }
    }

    fn settle(&mut self, out: &mut Outbox<'_>) {
        self.close_reply(out);
    }

    fn finish(&mut self, out: &mut Outbox<'_>) {
        self.close_reply(out);
        self.calls.finish(out);
        self.opening.complete(out, self.end.clone());
    }
}

fn ended(status: Status, error: Option<String>) -> RunCompleted {
    RunCompleted { status: Some(status), error, ..RunCompleted::default() }
}
