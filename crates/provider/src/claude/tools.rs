//! Tool calls, their answers, and the subagents that some of them start.

use std::borrow::Cow;
use std::collections::HashSet;

use quipu_event::Json;
use quipu_event::payload::{ToolCall, ToolResult, ToolStatus};
use serde_json::json;

use super::persisted::Persisted;
use super::prompt::is_refusal;
use super::subagents::{Subagents, starts_subagents};
use super::wire;
use crate::calls::{Calls, Seen};
use crate::outbox::{Outbox, Stamp};
use crate::said::Given;
use crate::value::Value;

/// The tool calls of one input.
#[derive(Default)]
pub(super) struct Tools {
    pub(super) subagents: Subagents,
    pub(super) persisted: Persisted,
    calls: Calls,
    refused: HashSet<String>,
    /// The last call that came without an id, until it is answered.
    nameless: Option<String>,
    invented: u64,
}

/// What a tool answered.
pub(super) struct Answer<'a> {
    pub(super) call_id: Option<Cow<'a, str>>,
    pub(super) content: Option<Value<'a>>,
    pub(super) is_error: bool,
    /// Whether the record says that the call was not allowed.
    pub(super) is_refused: bool,
    /// What the agent keeps for itself beside the answer.
    pub(super) details: Option<Value<'a>>,
}

impl Tools {
    /// Puts a call, once.
    pub(super) fn call(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        name: &str,
        call_id: &str,
        input: Json,
    ) {
        if starts_subagents(name) {
            self.subagents.expect(call_id, Value::parse(input.as_str()).ok());
        }
        let server = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
        let provider = server.map_or("agent".into(), |(server, _)| format!("mcp:{server}"));
        let call = ToolCall {
            name: name.to_owned(),
            call_id: call_id.to_owned(),
            input,
            provider: Some(provider),
            ..ToolCall::default()
        };
        self.calls.call(out, stamp, call);
    }

    /// Puts an answer; returns whether it was the first one to its call.
    pub(super) fn answer(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        answer: Answer<'_>,
    ) -> Seen {
        let call_id = answer.call_id.map(Cow::into_owned).filter(|id| !id.is_empty());
        let call_id = call_id.or_else(|| self.nameless.take());
        let call_id = call_id.unwrap_or_else(|| self.invent_id("result"));
        let text = answer.content.filter(|_| answer.is_error).and_then(wire::answer_text);
        let is_refused = answer.is_refused
            || self.refused.contains(&call_id)
            || text.as_deref().is_some_and(is_refusal);
        let status = match (answer.is_error, is_refused) {
            (_, true) => ToolStatus::Blocked,
            (true, false) => ToolStatus::Failed,
            (false, false) => ToolStatus::Completed,
        };
        let error = text.map(|text| wire::short(&text));
        let name = self.calls.name_of(&call_id).map(str::to_owned);
        let starts_subagent = name.as_deref().is_some_and(starts_subagents);
        let result = ToolResult {
            call_id: call_id.clone(),
            error: error.clone(),
            status: Some(status),
            ..ToolResult::default()
        };
        let content = answer.content.or(answer.details);
        let mut joined = content.and_then(|note| self.persisted.find(out, note, answer.details));
        let output = match &mut joined {
            Some(joined) => Given::Json(std::mem::take(&mut joined.body)),
            None => Given::from(content),
        };
        let seen = self.calls.answer(out, stamp, result, output);
        if let Some(joined) = joined.filter(|_| seen == Seen::New) {
            joined.tell(out, stamp, &call_id);
        }
        if is_refused && seen == Seen::New && self.refuse(&call_id) {
            let facts = json!({ "tool_id": call_id, "name": name, "message": error });
            out.system(stamp, "permission_denied", facts);
        }
        if starts_subagent
            && seen == Seen::New
            && let Some(details) = answer.details.and_then(Value::fields)
        {
            self.subagents.answered(out, stamp.time, &call_id, &details);
        }
        seen
    }

    /// Notes that a call was not allowed; returns whether that is new.
    pub(super) fn refuse(&mut self, call_id: &str) -> bool {
        self.refused.insert(call_id.to_owned())
    }

    /// Makes an id for a call that has none.
    pub(super) fn invent_id(&mut self, message_id: &str) -> String {
        self.invented += 1;
        let id = format!("{message_id}#{}", self.invented);
        self.nameless = Some(id.clone());
        id
    }

    /// Tells whether a call has no answer yet.
    pub(super) fn is_open(&self, call_id: &str) -> bool {
        self.calls.name_of(call_id).is_some()
    }

    /// Tells whether there was such a call.
    pub(super) fn knows(&self, call_id: &str) -> bool {
        self.calls.knows(call_id)
    }

    /// Puts the answers whose calls never came.
    pub(super) fn finish(&mut self, out: &mut Outbox<'_>) {
        self.calls.finish(out);
    }
}
