//! The state of a chat, told message by message.
//!
//! A message that was told and has been written again is told as far as it is new
//! ([`super::told`]).
//!
//! Calls and answers stand in the same message, and the answers once more in the next. They are
//! paired here and not by [`crate::calls`], because every message is told at the place where it
//! began, while that would put the answers behind all of them.

pub(super) mod input;

use std::collections::{HashMap, HashSet};

use quipu_event::payload::{Message, ToolCall, ToolResult, ToolStatus, Usage};
use quipu_event::{BlockContent, ContentBlock, Fidelity, Json, Kind, Timestamp};
use serde_json::json;

use super::held::Last;
use super::told::Told;
use super::usage;
use super::wire::{Answer, Part, ToolCallRecord, exit_code, parts, thought, tool_call, tool_use};
use crate::outbox::{Outbox, Stamp};
use crate::said::Given;
use crate::value::Fields;

const AGENT: Fidelity = Fidelity::AgentEmitted;

/// Returns the types of messages that a chat has.
pub(super) fn told_types() -> &'static [&'static str] {
    &["user", "gemini", "info", "warning", "error"]
}

/// What has been told so far, as far as it matters for the rest.
#[derive(Default)]
pub(super) struct Retelling {
    /// The first model that replied.
    pub(super) model: Option<String>,
    /// Where the agent works, as it was told itself.
    pub(super) cwd: Option<String>,
    /// When the last call ended.
    pub(super) last_end: Option<Timestamp>,
    /// The id of the chat, if it is a subagent's.
    pub(super) subagent: Option<String>,
    /// The ids of the replies that calls belong to, if they are written down with earlier ones.
    pub(super) homes: HashMap<String, String>,
    /// Whether messages may still be written again.
    pub(super) remembers: bool,
    calls: HashMap<String, OpenCall>,
    answered: HashSet<String>,
    /// Such calls that wait for their reply.
    waiting: HashMap<String, Vec<ToolCallRecord>>,
    /// What has been told of messages, by their ids.
    told: HashMap<String, Told>,
    /// How the message at hand leaves things.
    left: Option<Last>,
}

struct OpenCall {
    name: String,
    input: Json,
    time: Option<Timestamp>,
}

impl Retelling {
    /// Tells whether there are calls of a reply that stand elsewhere.
    pub(super) fn awaits(&self, id: Option<&str>) -> bool {
        id.is_some_and(|id| self.waiting.contains_key(id))
    }

    /// Tells what is new in one message; returns how that leaves things, if it does at all.
    pub(super) fn tell(
        &mut self,
        id: Option<String>,
        fields: &Fields<'_>,
        is_owed: bool,
        out: &mut Outbox<'_>,
    ) -> Option<Last> {
        let stamp = self.stamp(fields.time("timestamp"));
        let kind = fields.text("type");
        let told = id.as_ref().and_then(|id| self.told.remove(id));
        let is_again = told.is_some();
        let mut told = told.unwrap_or_default();
        match kind.as_deref() {
            Some("gemini") => self.reply(id.clone(), fields, (&mut told, is_again), &stamp, out),
            Some("user") => self.user(id.clone(), fields, (&mut told, is_again), &stamp, out),
            Some("error") => self.error(fields, &mut told, &stamp, out),
            Some(level @ ("info" | "warning")) => {
                self.notice(level, fields, &mut told, &stamp, out);
            }
            _ if is_again => {}
            _ => {
                let facts = json!({ "message_id": id, "message_type": kind });
                out.system(&stamp, "unknown_message", facts);
            }
        }
        if is_owed && !out.has_filled() {
            out.system(&stamp, "repeated", json!({ "message_id": id }));
        }
        if let Some(id) = id.filter(|_| self.remembers) {
            self.told.insert(id, told);
        }
        self.left.take()
    }

    fn reply(
        &mut self,
        id: Option<String>,
        fields: &Fields<'_>,
        (told, is_again): (&mut Told, bool),
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let model = fields.string("model");
        self.model = self.model.take().or_else(|| model.clone());
        let (mut blocks, mut calls) = (thoughts(fields), Vec::new());
        for part in parts(fields.get("content")) {
            match part {
                Part::Call(call) => calls.push(*call),
                part => blocks.extend(block(part)),
            }
        }
        for recorded in self.recorded_calls(id.as_deref(), fields, is_again) {
            // What was done with a call says more than the call alone.
            match calls.iter_mut().find(|call| call.id.is_some() && call.id == recorded.id) {
                Some(call) => *call = recorded,
                None => calls.push(recorded),
            }
        }
        for (number, call) in calls.iter_mut().enumerate() {
            let made_up = || format!("{}#{number}", id.as_deref().unwrap_or_default());
            let call_id = call.id.get_or_insert_with(made_up);
            blocks.push(tool_use(&call.name, call_id, &call.args));
        }
        let usage = fields.fields("tokens").map(|tokens| usage::of_message(&tokens));
        let is_empty = blocks.is_empty() && !told.has_said();
        let blocks = told.news(blocks, self.remembers);
        if !blocks.is_empty() {
            let (model, message_id) = (model.clone(), id.clone());
            let reply = Message { model, message_id, ..Message::assistant(blocks) };
            out.message(stamp, Kind::MessageAssistant, reply);
        } else if usage.is_none() && !is_again {
            out.system(stamp, "metadata", json!({ "message_id": id, "message_type": "gemini" }));
        }
        if let Some(usage) = usage.and_then(|usage| told.more_usage(usage)) {
            out.usage(stamp, &Usage { model, message_id: id, ..usage });
        }
        self.tool_calls(calls, told, stamp, out);
        if is_empty {
            // Calls are written down when they have ended: this one was to have some.
            self.left = Some(Last::Interrupted);
        }
    }

    /// Returns the calls of a reply, with those that an earlier one has for it.
    fn recorded_calls(
        &mut self,
        id: Option<&str>,
        fields: &Fields<'_>,
        is_again: bool,
    ) -> Vec<ToolCallRecord> {
        let mut awaited = id.and_then(|id| self.waiting.remove(id)).unwrap_or_default();
        let mut own = Vec::new();
        for call in fields.items("toolCalls").into_iter().filter_map(tool_call) {
            match call.id.as_ref().and_then(|call_id| self.homes.remove(call_id)) {
                Some(home) => self.waiting.entry(home).or_default().push(call),
                None => own.push(call),
            }
        }
        // Calls without ids are told apart by their number, which they keep.
        let (first, then) =
            if is_again { (&mut own, &mut awaited) } else { (&mut awaited, &mut own) };
        first.append(then);
        std::mem::take(first)
    }

    /// Tells all calls of a reply, then all answers.
    fn tool_calls(
        &mut self,
        calls: Vec<ToolCallRecord>,
        told: &mut Told,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let mut answered = Vec::new();
        self.left = Some(Last::Well);
        for call in &calls {
            self.call(call, stamp, out);
        }
        for call in calls {
            let call_id = call.id.unwrap_or_default();
            if call.is_cancelled || call.answer.is_none() && call.status.is_none() {
                self.left = Some(Last::Interrupted);
            }
            let Some(status) = call.status else { continue };
            self.last_end = self.last_end.max(call.time);
            if told.answered.contains(&call_id) {
                continue;
            }
            answered.push(call_id.clone());
            let answer = call.answer.unwrap_or_else(|| Answer {
                call_id: None,
                name: None,
                output: Json::null(),
                error: None,
            });
            let stamp = self.stamp(call.time.or(stamp.time));
            self.answer(call_id.clone(), answer, status, &stamp, out);
            if let Some(agent_id) = call.agent_id {
                let facts = json!({ "agent_id": agent_id, "tool_id": call_id });
                out.system(&stamp, "subagent_completed", facts);
            }
        }
        told.answered.extend(answered);
    }

    fn call(&mut self, call: &ToolCallRecord, stamp: &Stamp, out: &mut Outbox<'_>) {
        let call_id = call.id.clone().unwrap_or_default();
        if self.calls.contains_key(&call_id) {
            return;
        }
        let (name, input) = (call.name.clone(), call.args.clone());
        let open = OpenCall { name: name.clone(), input: input.clone(), time: stamp.time };
        self.calls.insert(call_id.clone(), open);
        let provider = Some(call.provider.clone());
        let event =
            ToolCall { name, call_id: call_id.clone(), input, provider, ..ToolCall::default() };
        out.tool_call(stamp, &event);
        if let Some(agent_id) = &call.agent_id {
            let name = &call.agent_name;
            let facts = json!({ "agent_id": agent_id, "tool_id": call_id, "name": name });
            out.system(stamp, "subagent_started", facts);
        }
    }

    /// Tells an answer, or that it was told before.
    fn answer(
        &mut self,
        call_id: String,
        answer: Answer,
        status: ToolStatus,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        if !self.answered.insert(call_id.clone()) {
            return out.system(stamp, "repeated", json!({ "tool_id": call_id }));
        }
        let call = self.calls.get(&call_id);
        let start = call.and_then(|call| call.time);
        let name = call.map(|call| call.name.clone()).or(answer.name).unwrap_or_default();
        // Gemini calls it a success if the command could be run at all.
        let exit_code = exit_code(&name, &answer.output).filter(|code| *code != 0);
        let (status, error) = match (status, exit_code) {
            (ToolStatus::Completed, Some(code)) => {
                (ToolStatus::Failed, Some(format!("exit code {code}")))
            }
            (ToolStatus::Completed, None) => (ToolStatus::Completed, None),
            (status, _) => (status, answer.error),
        };
        let result = ToolResult {
            name,
            call_id,
            input: call.map(|call| call.input.clone()).unwrap_or_default(),
            error,
            status: Some(status),
            duration_ms: start.zip(stamp.time).map(|(start, end)| end.millis_since(start)),
            ..ToolResult::default()
        };
        out.tool_result(stamp, result, Given::Json(answer.output));
    }

    fn stamp(&self, time: Option<Timestamp>) -> Stamp {
        match &self.subagent {
            Some(id) => Stamp::of_subagent(id, time),
            None => Stamp::at(time),
        }
    }
}

fn thoughts(fields: &Fields<'_>) -> Vec<ContentBlock> {
    let thoughts = fields.items("thoughts").into_iter().filter_map(thought);
    thoughts.map(|thought| ContentBlock::thinking(AGENT, thought)).collect()
}

fn block(part: Part) -> Option<ContentBlock> {
    let content = match part {
        Part::Text(text) => BlockContent::Text { text },
        Part::Thought(thinking, signature) => BlockContent::Thinking { thinking, signature },
        Part::Other(block_type, content) => {
            BlockContent::Other { block_type, content: Some(content) }
        }
        Part::Call(_) | Part::Answer(_) => return None,
    };
    Some(content.vouched_by(AGENT))
}
