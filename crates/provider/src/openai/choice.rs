//! One choice of a completion, folded from its deltas or taken from its whole message.
//!
//! Pieces stand in the order in which they arrived: a run of reasoning, a run of text, each call
//! where its first fragment stood. It puts nothing.

use std::borrow::Cow;

use quipu_event::payload::ToolCall;
use quipu_event::{ContentBlock, Fidelity, Json};

use super::wire::{filled, other, refusal, thinking, tool_use};
use crate::value::{Fields, Value, json_inside, json_text};

/// What one choice has said so far.
#[derive(Default)]
pub(crate) struct Choice {
    /// Which of the choices it is.
    pub(crate) index: u64,
    /// Why it stopped, once it has.
    pub(crate) finish: Option<String>,
    pieces: Vec<Piece>,
    tools: Vec<Tool>,
}

enum Piece {
    Text(String),
    Thinking {
        text: String,
        signature: Option<String>,
    },
    Refusal(String),
    /// The number of a tool.
    Tool(usize),
    Other(ContentBlock),
}

#[derive(Default)]
struct Tool {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// Its arguments are free text, not JSON.
    is_custom: bool,
    /// The old way of calling one function, without an id.
    is_legacy: bool,
}

/// How calls are told apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Fragments of calls, joined by number and id.
    Delta,
    /// Each is a call of its own.
    Whole,
}

impl Choice {
    /// Begins the choice number `index`.
    pub(crate) fn new(index: u64) -> Self {
        Choice { index, ..Choice::default() }
    }

    /// Tells whether it has said nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Adds a delta or a whole message.
    pub(crate) fn add(&mut self, message: &Fields<'_>, form: Form) {
        self.add_reasoning(message);
        if let Some(content) = message.get("content") {
            self.add_content(content);
        }
        if let Some(transcript) = message.fields("audio").and_then(|a| a.string("transcript")) {
            self.add_text(transcript.into());
        }
        if let Some(text) = filled(message, "refusal") {
            match self.pieces.last_mut() {
                Some(Piece::Refusal(last)) => last.push_str(&text),
                _ => self.pieces.push(Piece::Refusal(text.into_owned())),
            }
        }
        for image in message.items("images") {
            self.pieces.push(Piece::Other(other("image_url", image.json())));
        }
        for call in message.items("tool_calls").into_iter().filter_map(Value::fields) {
            self.add_call(&call, form);
        }
        if let Some(function) = message.fields("function_call") {
            let legacy = self.tools.iter().position(|tool| tool.is_legacy);
            let number = legacy.unwrap_or_else(|| self.begin_tool());
            self.tools[number].is_legacy = true;
            self.tools[number].add(&function, "arguments");
        }
    }

    /// Adds text.
    pub(crate) fn add_text(&mut self, text: Cow<'_, str>) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Text(last)) => last.push_str(&text),
            _ => self.pieces.push(Piece::Text(text.into_owned())),
        }
    }

    /// Returns its blocks and calls; calls without an id are named after `response`.
    pub(crate) fn speak(self, response: &str) -> (Vec<ContentBlock>, Vec<ToolCall>) {
        let mut calls = Vec::new();
        let names = self.tools.iter().enumerate();
        let calls_of: Vec<ToolCall> = names
            .map(|(number, tool)| tool.call(&format!("{response}/{}.{number}", self.index)))
            .collect();
        let block = |piece| match piece {
            Piece::Text(text) => ContentBlock::text(Fidelity::AgentEmitted, text),
            Piece::Thinking { text, signature } => thinking(text, signature),
            Piece::Refusal(text) => refusal(&text),
            Piece::Other(block) => block,
            Piece::Tool(number) => {
                let call: &ToolCall = &calls_of[number];
                calls.push(call.clone());
                tool_use(&call.name, &call.call_id, call.input.clone())
            }
        };
        let blocks = self.pieces.into_iter().map(block).collect();
        (blocks, calls)
    }

    fn add_content(&mut self, content: Value<'_>) {
        if let Some(text) = content.text() {
            return self.add_text(text);
        }
        for part in content.items() {
            let fields = part.fields().unwrap_or_default();
            let nested = fields.items("thinking").into_iter().filter_map(Value::fields);
            let thought: String = nested.filter_map(|part| part.string("text")).collect();
            if fields.has("thinking") {
                let whole = fields.text("thinking").unwrap_or(Cow::Owned(thought));
                self.add_thinking(whole);
            } else if let Some(text) = fields.text("text") {
                self.add_text(text);
            } else if let Some(text) = fields.text("refusal") {
                self.pieces.push(Piece::Refusal(text.into_owned()));
            } else {
                let kind = fields.text("type").unwrap_or_default();
                self.pieces.push(Piece::Other(other(&kind, part.json())));
            }
        }
    }

    /// Adds reasoning; where it stands plain and in details, the details add only the seal.
    fn add_reasoning(&mut self, message: &Fields<'_>) {
        let keys = ["reasoning_content", "reasoning", "reasoning_text"];
        let plain = keys.iter().find_map(|key| filled(message, key));
        let is_plain = plain.is_some();
        if let Some(text) = plain {
            self.add_thinking(text);
        }
        for detail in message.items("reasoning_details").into_iter().filter_map(Value::fields) {
            let text = filled(&detail, "text").or_else(|| filled(&detail, "summary"));
            if let Some(text) = text.filter(|_| !is_plain) {
                self.add_thinking(text);
            }
            if let Some(seal) = filled(&detail, "signature").or_else(|| filled(&detail, "data")) {
                self.seal(&seal);
            }
        }
        if let Some(seal) = filled(message, "reasoning_opaque") {
            self.seal(&seal);
        }
    }

    fn add_thinking(&mut self, more: Cow<'_, str>) {
        match self.pieces.last_mut() {
            _ if more.is_empty() => {}
            Some(Piece::Thinking { text, signature: None }) => text.push_str(&more),
            _ => {
                self.pieces.push(Piece::Thinking { text: more.into_owned(), signature: None });
            }
        }
    }

    fn seal(&mut self, seal: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Thinking { signature: Some(signature), .. }) if signature == seal => {}
            Some(Piece::Thinking { signature, .. }) if signature.is_none() => {
                *signature = Some(seal.to_owned());
            }
            _ => {
                let (text, signature) = (String::new(), Some(seal.to_owned()));
                self.pieces.push(Piece::Thinking { text, signature });
            }
        }
    }

    fn add_call(&mut self, call: &Fields<'_>, form: Form) {
        let function = call.fields("function").or_else(|| call.fields("custom"));
        let function = function.unwrap_or_default();
        let is_custom = call.has("custom") || call.text("type").as_deref() == Some("custom");
        let (index, id) = (call.count("index"), filled(call, "id"));
        let known = match form {
            Form::Delta => self.find_tool(index, id.as_deref(), &function),
            Form::Whole => None,
        };
        let number = known.unwrap_or_else(|| self.begin_tool());
        let tool = &mut self.tools[number];
        tool.index = tool.index.or(index);
        tool.is_custom |= is_custom;
        if let (true, Some(id)) = (tool.id.is_empty(), id) {
            tool.id = id.into_owned();
        }
        tool.add(&function, if is_custom { "input" } else { "arguments" });
    }

    /// Finds the call that a fragment belongs to.
    ///
    /// Some count all calls as number 0 or do not count at all: another id, or another beginning
    /// where the last call was whole, is another call.
    fn find_tool(&self, index: Option<u64>, id: Option<&str>, more: &Fields<'_>) -> Option<usize> {
        let same_number = |tool: &Tool| index.is_none() || tool.index == index;
        let number = match (index, id) {
            (None, Some(id)) => return self.tools.iter().position(|tool| tool.id == id),
            _ => self.tools.iter().rposition(same_number)?,
        };
        let tool = &self.tools[number];
        let is_other = match id {
            Some(id) => !tool.id.is_empty() && tool.id != id,
            None => {
                let begins = filled(more, "arguments").is_some_and(|text| text.starts_with('{'));
                begins && filled(more, "name").is_some() && tool.is_whole()
            }
        };
        if !is_other {
            return Some(number);
        }
        self.tools.iter().position(|tool| id.is_some_and(|id| tool.id == id))
    }

    fn begin_tool(&mut self) -> usize {
        self.tools.push(Tool::default());
        self.pieces.push(Piece::Tool(self.tools.len() - 1));
        self.tools.len() - 1
    }
}

impl Tool {
    /// Adds a fragment; a name or arguments that come whole a second time are not added.
    fn add(&mut self, function: &Fields<'_>, key: &str) {
        if let Some(name) = function.text("name")
            && name != self.name
            && self.arguments.is_empty()
        {
            self.name.push_str(&name);
        }
        let Some(value) = function.get(key) else { return };
        let more = value.text().unwrap_or(Cow::Borrowed(value.source()));
        if !(more.len() > 1 && more == self.arguments && self.is_whole()) {
            self.arguments.push_str(&more);
        }
    }

    fn is_whole(&self) -> bool {
        self.arguments.ends_with('}') && Value::parse(&self.arguments).is_ok()
    }

    fn call(&self, name_otherwise: &str) -> ToolCall {
        let id = if self.id.is_empty() { name_otherwise } else { &self.id };
        ToolCall {
            name: self.name.clone(),
            call_id: id.to_owned(),
            input: self.input(),
            provider: Some("agent".to_owned()),
            ..ToolCall::default()
        }
    }

    /// Returns the arguments; a function that takes none may be called with an empty text.
    fn input(&self) -> Json {
        match self.arguments.trim() {
            _ if self.is_custom => json_text(&self.arguments),
            "" => json_inside("{}"),
            _ => json_inside(&self.arguments),
        }
    }
}
