//! Tool calls that wait for their answers, and the one line that a call and its answer become.
//!
//! An answer decides when its line is written. A call without one is written when nothing more can
//! come of its execution, or when too many wait.

use std::borrow::Cow;
use std::collections::HashMap;

use quipu_event::payload::{ToolResult, ToolStatus};
use quipu_event::{Json, MAX_DEPTH, Timestamp, mend_surrogates};

use super::said::text_of;
use super::wire::{Tool, Verbatim, line};

/// Tools whose answer is what a file holds.
const READERS: [&str; 3] = ["Read", "read_file", "read"];

/// So many calls wait for an answer; the oldest beyond that is written without one.
const MOST_OPEN: usize = 1024;

/// The calls of one execution that have no answer yet.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: HashMap<String, OpenCall>,
    made: u64,
    /// Whether calls have events of their own, so that blocks of messages only repeat them.
    has_events: bool,
}

#[derive(Debug)]
struct OpenCall {
    order: u64,
    at: Timestamp,
    name: String,
    input: Json,
}

/// What a tool answered.
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) is_error: bool,
    /// Whether the run has only a part of it.
    pub(super) is_cut: bool,
}

impl Calls {
    /// Notes a call; returns the lines of those that give way to it and were never answered.
    pub(super) fn call(&mut self, id: &str, name: &str, input: &Json, at: Timestamp) -> Vec<u8> {
        if !self.has_events {
            // What a message announced so far comes as events from here on.
            self.has_events = true;
            self.open.clear();
        }
        self.note(id, name, input, at)
    }

    /// Notes a call that only a message tells of; without effect where calls have events.
    ///
    /// Returns the line of a call that gives way to it.
    pub(super) fn announce(
        &mut self,
        id: &str,
        name: &str,
        input: &Json,
        at: Timestamp,
    ) -> Vec<u8> {
        if self.has_events || self.open.contains_key(id) {
            return Vec::new();
        }
        self.note(id, name, input, at)
    }

    /// Returns the line of a call that is answered now.
    pub(super) fn answer(&mut self, result: &ToolResult, at: Timestamp) -> Vec<u8> {
        self.has_events = true;
        let call = self.open.remove(&result.call_id);
        let name = call.as_ref().map(|call| call.name.as_str()).filter(|name| !name.is_empty());
        let input = call.as_ref().map(|call| &call.input).filter(|input| !input.is_null());
        let name = name.unwrap_or(&result.name);
        written(at, name, input.unwrap_or(&result.input), Some(&Answer::of(result)))
    }

    /// Returns the line of a call that a message answers, if a message made it.
    pub(super) fn answer_announced(
        &mut self,
        id: &str,
        answer: &Answer,
        at: Timestamp,
    ) -> Option<Vec<u8>> {
        if self.has_events { None } else { self.answer_own(id, answer, at) }
    }

    /// Returns the line of the call `id`, if it waits.
    pub(super) fn answer_own(
        &mut self,
        id: &str,
        answer: &Answer,
        at: Timestamp,
    ) -> Option<Vec<u8>> {
        let call = self.open.remove(id)?;
        Some(written(at, &call.name, &call.input, Some(answer)))
    }

    /// Forgets a call that was not carried out.
    pub(super) fn take_back(&mut self, id: &str) {
        self.open.remove(id);
    }

    /// Returns the lines of all calls that were never answered, in their order.
    pub(super) fn close(&mut self) -> Vec<u8> {
        let mut left: Vec<_> = self.open.drain().map(|(_, call)| call).collect();
        left.sort_by_key(|call| call.order);
        left.iter().flat_map(OpenCall::unanswered).collect()
    }

    fn note(&mut self, id: &str, name: &str, input: &Json, at: Timestamp) -> Vec<u8> {
        self.made += 1;
        let (name, input) = (name.to_owned(), input.clone());
        let call = OpenCall { order: self.made, at, name, input };
        let same = self.open.insert(id.to_owned(), call);
        let leaving = same.or_else(|| self.oldest_of_too_many());
        leaving.map(|call| call.unanswered()).unwrap_or_default()
    }

    fn oldest_of_too_many(&mut self) -> Option<OpenCall> {
        if self.open.len() <= MOST_OPEN {
            return None;
        }
        let oldest = self.open.iter().min_by_key(|(_, call)| call.order)?.0.clone();
        self.open.remove(&oldest)
    }
}

impl OpenCall {
    fn unanswered(&self) -> Vec<u8> {
        written(self.at, &self.name, &self.input, None)
    }
}

impl Answer {
    fn of(result: &ToolResult) -> Self {
        let is_error = result.status.as_ref().is_some_and(|s| *s != ToolStatus::Completed);
        let text = text_of(&result.output);
        let error = result.error.as_deref().filter(|error| !error.is_empty() && text.is_empty());
        Answer { text: error.map_or(text, str::to_owned), is_error, is_cut: false }
    }
}

/// Returns the line of a call.
pub(super) fn written(at: Timestamp, name: &str, input: &Json, answer: Option<&Answer>) -> Vec<u8> {
    // What could not be read is no content of a file.
    let is_content = |answer: &&Answer| READERS.contains(&name) && !answer.is_error;
    let content = answer.filter(is_content).map(|answer| answer.text.as_str());
    let output = answer.filter(|answer| !is_content(answer)).map(|answer| answer.text.as_str());
    line(&Tool {
        timestamp: moment(at),
        role: "tool",
        tool_name: name,
        tool_input: Verbatim(object(input)),
        content,
        tool_output: output,
        truncated: answer.filter(|answer| answer.is_cut).map(|_| true),
    })
}

/// Returns a time with microseconds: no finer, because not all readers of times take more.
pub(super) fn moment(at: Timestamp) -> String {
    Timestamp::from_micros(at.as_micros()).to_string()
}

/// Returns an input as the object that readers expect.
fn object(input: &Json) -> Cow<'_, str> {
    let text = mend_surrogates(input.as_str());
    if input.is_null() {
        return "{}".into();
    }
    if Json::text_nests_deeper_than(&text, MAX_DEPTH) {
        return format!("{{\"input\":{}}}", serde_json::Value::from(text.as_ref())).into();
    }
    if input.is_object() { text } else { format!("{{\"input\":{text}}}").into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_beyond_what_can_wait_are_written_in_their_order() {
        let mut calls = Calls::default();
        let at = Timestamp::from_micros(0);
        let mut call = |n: usize| calls.call(&n.to_string(), &format!("T{n}"), &Json::null(), at);
        assert!((0..MOST_OPEN).all(|n| call(n).is_empty()));
        let given_up = String::from_utf8(call(MOST_OPEN)).unwrap();
        assert!(given_up.contains("\"T0\""), "{given_up}");
        assert_eq!(calls.open.len(), MOST_OPEN);
    }
}
