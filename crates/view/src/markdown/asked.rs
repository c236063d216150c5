//! Calls that a model asked for and that have not been made yet.
//!
//! What a message asks for is followed by a `tool.call` that says the same, and is shown there. A
//! call that never comes, as other writers leave it, is shown when its agent speaks again, or at the
//! end. So few calls wait at a time that memory does not grow with the run.

use std::collections::VecDeque;

use quipu_event::{Event, Json, StepPath};

use super::opening::{add, open};
use super::{Length, value};

/// So many calls wait; the oldest is shown when there are more.
const WAITING: usize = 64;

/// Calls that have not been made yet.
#[derive(Default)]
pub(crate) struct Asked {
    calls: VecDeque<Call>,
}

struct Call {
    path: StepPath,
    source: Option<Box<str>>,
    name: String,
    id: String,
    input: Json,
}

impl Asked {
    /// Notes that a message asks for a call.
    pub(crate) fn note(&mut self, event: &Event, name: &str, id: &str, input: &Json) {
        self.calls.push_back(Call {
            path: event.path.clone(),
            source: event.source.clone(),
            name: name.to_owned(),
            id: id.to_owned(),
            input: input.clone(),
        });
    }

    /// Forgets a call that was made.
    pub(crate) fn made(&mut self, event: &Event, id: &str) {
        let is_it = |call: &Call| call.id == id && call.path == event.path;
        if let Some(at) = self.calls.iter().position(is_it) {
            self.calls.remove(at);
        }
    }

    /// Appends the calls that whoever speaks in `event` asked for in vain.
    pub(crate) fn speak(&mut self, out: &mut String, event: &Event, length: Length) {
        if self.calls.is_empty() {
            return;
        }
        let surplus = self.calls.len().saturating_sub(WAITING);
        let mut at = 0;
        self.calls.retain(|call| {
            at += 1;
            let is_theirs = call.path == event.path && call.source == event.source;
            if is_theirs || at <= surplus {
                call.write(out, length);
            }
            !is_theirs && at > surplus
        });
    }

    /// Appends all calls that were asked for in vain.
    pub(crate) fn finish(&mut self, out: &mut String, length: Length) {
        self.calls.drain(..).for_each(|call| call.write(out, length));
    }
}

impl Call {
    fn write(&self, out: &mut String, length: Length) {
        open(out, "→", &self.name);
        add(out, "asked for; no call was recorded");
        out.push_str("\n\n");
        value::facts(out, &self.input, length);
    }
}
