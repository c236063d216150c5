//! The state of a chat, told message by message.
//!
//! A message that was told and has been written again is told as far as it is new
//! ([`super::told`]).
//!
//! Calls and answers stand in the same message, and the answers once more in the next. They are
//! paired here and not by [`crate::calls`], because every message is told at the place where it
//! began, while that would put the answers behind all of them.

use std::collections::{HashMap, HashSet};

use quipu_event::payload::{ErrorReport, Message, ToolCall, ToolResult, ToolStatus, Usage};
use quipu_event::{BlockContent, ContentBlock, Fidelity, Json, Kind, Purpose, Timestamp};
use serde_json::json;

use super::held::Last;
use super::told::Told;
use super::usage;
use super::wire::{Answer, Part, ToolCallRecord, exit_code, parts, short, status_of, text_of};
use super::wire::{thought, tool_call, tool_use};
use crate::outbox::{Outbox, Stamp};
use crate::said::Given;
use crate::value::Fields;

const AGENT: Fidelity = Fidelity::AgentEmitted;

/// Returns the types of messages that a chat has.
pub(super) fn told_types() -> &'static [&'static str] {
    &["user", "gemini", "info", "warning", "error"]
}

/// Tells whether somebody asked for something in a message.
pub(super) fn is_prompt(message: &Fields<'_>) -> bool {
    let is_asked = |part| match part {
        Part::Text(text) => added(&text).is_none_or(|(_, rest)| !rest.is_empty()),
        part => matches!(part, Part::Other(..)),
    };
    let is_user = message.text("type").as_deref() == Some("user");
    is_user && parts(message.get("content")).into_iter().any(is_asked)
}

/// Tells whether a message only has answers of tools.
pub(super) fn is_only_answers(message: &Fields<'_>) -> bool {
    let parts = parts(message.get("content"));
    !parts.is_empty() && parts.iter().all(|part| matches!(part, Part::Answer(_)))
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

    /// Tells what has the role of the user: a prompt, answers of tools, or what the agent added.
    fn user(
        &mut self,
        id: Option<String>,
        fields: &Fields<'_>,
        (told, is_again): (&mut Told, bool),
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let (mut blocks, mut context, mut answers) = (Vec::new(), None, Vec::new());
        for part in parts(fields.get("content")) {
            match part {
                Part::Answer(answer) => answers.push(answer),
                Part::Text(text) => match added(&text) {
                    Some((kind, rest)) => {
                        self.cwd = self.cwd.take().or_else(|| workspace(&text));
                        context = Some(kind);
                        blocks.extend(
                            block(Part::Text(rest.to_owned())).filter(|_| !rest.is_empty()),
                        );
                    }
                    None => blocks.extend(block(Part::Text(text))),
                },
                part => blocks.extend(block(part)),
            }
        }
        let (has_answers, mut answered) = (!answers.is_empty(), Vec::new());
        for (number, answer) in answers.into_iter().enumerate() {
            let made_up = || format!("{}#{number}", id.as_deref().unwrap_or_default());
            let call_id = answer.call_id.clone().unwrap_or_else(made_up);
            let status = status_of(&answer);
            if told.answered.contains(&call_id) {
                continue;
            }
            if !self.answered.contains(&call_id) {
                self.left = Some(Last::Well);
            }
            answered.push(call_id.clone());
            self.answer(call_id, answer, status, stamp, out);
        }
        told.answered.extend(answered);
        if let Some(kind) = context.filter(|kind| told.note.as_deref() != Some(*kind)) {
            told.note = Some(kind.to_owned());
            out.system(stamp, "context", json!({ "topic": kind }));
        }
        let is_silent = blocks.is_empty() && (context.is_some() || has_answers);
        let blocks = told.news(blocks, self.remembers);
        if !blocks.is_empty() || !is_silent && !is_again {
            let blocks = blocks.into_iter().map(|block| block.with_purpose(Purpose::Prompt));
            let prompt = Message { message_id: id, ..Message::user(blocks.collect()) };
            out.message(stamp, Kind::MessageUser, prompt);
            // It waits for a reply.
            self.left = Some(Last::Interrupted);
        }
    }

    fn error(&mut self, fields: &Fields<'_>, told: &mut Told, stamp: &Stamp, out: &mut Outbox<'_>) {
        let message = short(&text_of(fields.get("content")));
        self.left = Some(Last::Failed(message.clone()));
        if told.note.replace(message.clone()).as_ref() == Some(&message) {
            return;
        }
        let (code, category) = ("agent_error".to_owned(), "session".to_owned());
        let report = ErrorReport { code, category, message, ..ErrorReport::default() };
        out.error(stamp, &report);
    }

    fn notice(
        &mut self,
        level: &str,
        fields: &Fields<'_>,
        told: &mut Told,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let message = short(&text_of(fields.get("content")));
        if told.note.replace(message.clone()).as_ref() == Some(&message) {
            return;
        }
        let facts = json!({ "level": level, "message": message });
        if message.starts_with("Request cancelled") {
            self.left = Some(Last::Interrupted);
            return out.system(stamp, "interrupted", facts);
        }
        out.system(stamp, "notice", facts);
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

/// Tells what the agent itself put into the user's mouth, and returns what is left of the text.
fn added(text: &str) -> Option<(&'static str, &str)> {
    let text = text.trim_start();
    if text.starts_with("<session_context>") {
        let rest = text.split_once("</session_context>").map_or("", |(_, rest)| rest.trim_start());
        return Some(("session_context", rest));
    }
    if text.starts_with("This is the Gemini CLI. We are setting up the context") {
        return Some(("session_context", ""));
    }
    (text == "System: Please continue.").then_some(("continue", ""))
}

/// Returns the first directory that the session's context names.
fn workspace(context: &str) -> Option<String> {
    let markers = ["Workspace Directories:**\n  - ", "I'm currently working in the directory: "];
    let (_, rest) = markers.into_iter().find_map(|marker| context.split_once(marker))?;
    rest.lines().next().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty())
}
