//! The conversation: who said what, on either surface.
//!
//! Both surfaces wrap the same messages in different records. They read their records; what is
//! said in them comes here.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use quipu_event::payload::{ErrorReport, Message, RunCompleted, SpokenMessage, Status};
use quipu_event::{Json, Kind, Purpose};
use serde_json::json;

use super::prompt::{Voice, command_name, voice_of};
use super::replies::{Billing, Line, Replies};
use super::tools::{Answer, Tools};
use super::wire;
use crate::calls::Seen;
use crate::outbox::{Outbox, Stamp};
use crate::said::{Said, SaidBlock, Spoken};
use crate::value::Value;

/// What is said in the user's role.
pub(super) struct Heard<'a> {
    pub(super) stamp: Stamp,
    pub(super) content: Option<Value<'a>>,
    /// What the agent keeps for itself beside a tool's answer.
    pub(super) details: Option<Value<'a>>,
    /// What the record says of itself, if not that a person speaks.
    pub(super) voice: Option<Voice>,
    /// Whether it repeats what may have been seen before.
    pub(super) is_replay: bool,
    /// Whether it answers a call that was not allowed.
    pub(super) is_refused: bool,
}

/// How things stood when the last of them was said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Ending {
    /// Nothing speaks against success.
    #[default]
    Well,
    /// The last reply was an error.
    Failed(String),
    /// A person stopped the agent.
    Interrupted,
    /// The last prompt has no answer.
    Unanswered,
}

/// A conversation.
pub(super) struct Talk {
    pub(super) tools: Tools,
    pub(super) replies: Replies,
    pub(super) ending: Ending,
    prompts: HashSet<u64>,
}

impl Talk {
    pub(super) fn new(billing: Billing) -> Self {
        Talk {
            tools: Tools::default(),
            replies: Replies::new(billing),
            ending: Ending::Well,
            prompts: HashSet::new(),
        }
    }

    /// Takes a record of a reply.
    pub(super) fn reply(&mut self, out: &mut Outbox<'_>, line: Line<'_>) {
        self.replies.pass(out, &mut self.tools, &line.stamp);
        self.replies.take(out, &mut self.tools, line);
        self.ending = Ending::Well;
    }

    /// Puts the error that the agent reports in the place of a reply.
    pub(super) fn api_error(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, report: ErrorReport) {
        self.replies.close_thread(out, &mut self.tools, stamp);
        out.error(stamp, &report);
        self.ending = Ending::Failed(report.message);
    }

    /// Takes what is said in the user's role: answers of tools, prompts, and what only looks so.
    pub(super) fn hear(&mut self, out: &mut Outbox<'_>, heard: Heard<'_>) {
        let stamp = &heard.stamp;
        self.replies.pass(out, &mut self.tools, stamp);
        let blocks = heard.content.map(wire::blocks).unwrap_or_default();
        let is_answer = |block: &SaidBlock<'_>| matches!(block, SaidBlock::ToolResult { .. });
        let answers = blocks.iter().filter(|block| is_answer(block)).count();
        let (mut said, mut is_put) = (Vec::new(), false);
        for block in blocks {
            let SaidBlock::ToolResult { id: call_id, content, is_error } = block else {
                said.push(block);
                continue;
            };
            // What the agent keeps for itself is about one answer.
            let details = heard.details.filter(|_| answers == 1);
            let is_refused = heard.is_refused && is_error;
            let answer = Answer { call_id: Some(call_id), content, is_error, is_refused, details };
            is_put |= self.tools.answer(out, stamp, answer) == Seen::New;
        }
        if answers > 0 && !is_put {
            out.system(stamp, "repeated", json!({ "topic": "tool_result" }));
        }
        if answers == 0 || !said.is_empty() {
            self.say(out, &heard, said);
        }
    }

    /// Takes what is said in the user's role by whoever it is.
    fn say(&mut self, out: &mut Outbox<'_>, heard: &Heard<'_>, mut said: Vec<SaidBlock<'_>>) {
        let voice = heard.voice.unwrap_or_else(|| voice_of_all(&said));
        if voice == Voice::Prompt && heard.voice.is_none() && said.len() > 1 {
            said.retain(|block| voice_of_block(block) == Voice::Prompt);
        }
        let stamp = &heard.stamp;
        let text = first_text(&said).filter(|_| voice != Voice::Prompt).map(Said::text);
        let text = text.as_deref();
        match voice {
            Voice::Prompt => self.prompt(out, heard, said),
            Voice::LocalCommand => {
                let command = text.and_then(command_name);
                out.system(stamp, "local_command", json!({ "command": command }));
            }
            Voice::Interruption => {
                self.replies.close_thread(out, &mut self.tools, stamp);
                let reason = text.map(wire::short);
                out.system(stamp, "interrupted", json!({ "reason": reason }));
                self.ending = Ending::Interrupted;
            }
            Voice::Summary => {
                let length = text.map(|text| text.chars().count());
                out.system(stamp, "compaction_summary", json!({ "characters": length }));
            }
            Voice::Context(kind) => out.system(stamp, "context", json!({ "topic": kind })),
        }
    }

    fn prompt(&mut self, out: &mut Outbox<'_>, heard: &Heard<'_>, said: Vec<SaidBlock<'_>>) {
        let print = print(&said);
        if heard.is_replay && self.prompts.contains(&print) {
            out.system(&heard.stamp, "context", json!({ "topic": "replay" }));
            return;
        }
        self.prompts.insert(print);
        self.replies.close_thread(out, &mut self.tools, &heard.stamp);
        // Where nobody has replied yet, the file may be a subagent's own.
        let is_main = heard.stamp.source.is_none();
        if is_main || self.replies.is_empty() {
            self.replies.forget_calls();
            self.ending = Ending::Unanswered;
        }
        put_prompt(out, &heard.stamp, &said);
    }

    /// Closes what is open, and puts what was waiting for something that never came.
    pub(super) fn finish(&mut self, out: &mut Outbox<'_>) {
        self.replies.close_all(out, &mut self.tools);
        self.tools.finish(out);
        self.replies.put_unbilled(out);
    }

    /// Returns the end of a run that does not say itself how it ended.
    pub(super) fn end(&self) -> RunCompleted {
        let status = match &self.ending {
            Ending::Failed(_) => Status::Failed,
            Ending::Interrupted | Ending::Unanswered => Status::Aborted,
            Ending::Well if self.replies.is_dangling(&self.tools) => Status::Aborted,
            Ending::Well => Status::Succeeded,
        };
        let error = match &self.ending {
            Ending::Failed(message) => Some(message.clone()),
            _ => None,
        };
        RunCompleted { status: Some(status), error, ..RunCompleted::default() }
    }
}

/// Puts a prompt.
pub(super) fn put_prompt(out: &mut Outbox<'_>, stamp: &Stamp, said: &[SaidBlock<'_>]) {
    let rest = Message::user(Vec::new());
    let mut prompt = SpokenMessage::by(&rest.role);
    for block in said {
        let purpose = matches!(block, SaidBlock::Text(_)).then_some(Purpose::Prompt);
        // Foreign values are bounded where they are written, so this is not expected to fail.
        if prompt.add(&Spoken(block, purpose), block.room()).is_ok() {
            out.count_spoken(block);
        }
    }
    out.spoken(stamp, Kind::MessageUser, prompt, &rest);
}

/// Makes the report of an error that the provider's API gave.
pub(super) fn api_report(code: Option<&str>, status: Option<u64>, message: &str) -> ErrorReport {
    let code = code.unwrap_or("api_error");
    let passes = ["rate_limit", "server_error", "overloaded"];
    let details = status.and_then(|status| Json::encode(&json!({ "status": status })).ok());
    ErrorReport {
        code: code.to_owned(),
        category: "api".to_owned(),
        message: wire::short(message),
        retryable: passes.contains(&code) || status.is_some_and(|status| status >= 500),
        details,
    }
}

/// Tells who speaks: a person, if any of it is a person's, else whoever speaks first.
fn voice_of_all(said: &[SaidBlock<'_>]) -> Voice {
    let mut voices = said.iter().map(voice_of_block);
    let first = voices.next().unwrap_or(Voice::Context("empty"));
    if voices.any(|voice| voice == Voice::Prompt) { Voice::Prompt } else { first }
}

fn voice_of_block(block: &SaidBlock<'_>) -> Voice {
    match block {
        SaidBlock::Text(text) => voice_of(&text.text()),
        _ => Voice::Prompt,
    }
}

fn first_text<'s, 'a>(said: &'s [SaidBlock<'a>]) -> Option<&'s Said<'a>> {
    said.iter().find_map(|block| match block {
        SaidBlock::Text(text) => Some(text),
        _ => None,
    })
}

fn print(said: &[SaidBlock<'_>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    first_text(said).hash(&mut hasher);
    hasher.finish()
}
