//! Pairs tool calls with their results, whichever comes first.
//!
//! Each call is put once. A result takes its call's name and input with it; one that comes before
//! its call waits a little for it. A call that is never answered stays as it is.

use std::collections::{HashMap, HashSet, VecDeque};

use quipu_event::payload::{ToolCall, ToolResult};
use quipu_event::{Json, Timestamp};

use crate::outbox::{Outbox, Scraps, Stamp};
use crate::said::Given;

/// A result waits for its call until this many others have come.
const PATIENCE: u64 = 64;

/// The calls of one input.
#[derive(Default)]
pub(crate) struct Calls {
    open: HashMap<String, OpenCall>,
    answered: HashSet<String>,
    early: VecDeque<Early>,
    /// How many calls and results there were.
    steps: u64,
}

struct OpenCall {
    name: String,
    input: Json,
    time: Option<Timestamp>,
}

struct Early {
    stamp: Stamp,
    result: ToolResult,
    scraps: Scraps,
    step: u64,
}

/// What became of a call or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It is new, and was put or waits for its counterpart.
    New,
    /// There was one of this id before; nothing was put.
    Again,
}

impl Calls {
    /// Puts a call, unless it was put before; a result that has been waiting for it follows.
    pub(crate) fn call(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, call: ToolCall) -> Seen {
        self.step(out);
        if self.knows(&call.call_id) {
            return Seen::Again;
        }
        out.tool_call(stamp, &call);
        let open = OpenCall { name: call.name, input: call.input, time: stamp.time };
        self.open.insert(call.call_id.clone(), open);
        let is_answer = |early: &Early| early.result.call_id == call.call_id;
        if let Some(early) = self.early.iter().position(is_answer)
            && let Some(early) = self.early.remove(early)
        {
            self.put(out, early);
        }
        Seen::New
    }

    /// Puts the result of a call; name, input and duration are the call's if the result has none.
    pub(crate) fn result(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        mut result: ToolResult,
    ) -> Seen {
        let output = Given::Json(std::mem::take(&mut result.output));
        self.answer(out, stamp, result, output)
    }

    /// Puts the result of a call whose output is `output`, from where that stands.
    pub(crate) fn answer(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        result: ToolResult,
        output: Given<'_>,
    ) -> Seen {
        self.step(out);
        let is_waiting = self.early.iter().any(|early| early.result.call_id == result.call_id);
        if is_waiting || self.answered.contains(&result.call_id) {
            return Seen::Again;
        }
        if self.open.contains_key(&result.call_id) {
            let result = self.close(stamp, result);
            out.tool_result(stamp, result, output);
            return Seen::New;
        }
        let result = ToolResult { output: output.into_json(), ..result };
        let mut scraps = Scraps::default();
        out.absorb(&mut scraps);
        self.early.push_back(Early { stamp: stamp.clone(), result, scraps, step: self.steps });
        Seen::New
    }

    /// Returns the name of an open call.
    pub(crate) fn name_of(&self, call_id: &str) -> Option<&str> {
        self.open.get(call_id).map(|call| &*call.name)
    }

    /// Tells whether there was a call of this id.
    pub(crate) fn knows(&self, call_id: &str) -> bool {
        self.open.contains_key(call_id) || self.answered.contains(call_id)
    }

    /// Tells whether a call is still without an answer.
    pub(crate) fn any_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Puts the results whose calls never came.
    pub(crate) fn finish(&mut self, out: &mut Outbox<'_>) {
        while let Some(early) = self.early.pop_front() {
            self.put(out, early);
        }
    }

    fn step(&mut self, out: &mut Outbox<'_>) {
        self.steps += 1;
        while let Some(early) = self.early.pop_front_if(|early| early.step + PATIENCE < self.steps)
        {
            self.put(out, early);
        }
    }

    fn put(&mut self, out: &mut Outbox<'_>, early: Early) {
        let Early { stamp, result, scraps, .. } = early;
        let mut result = self.close(&stamp, result);
        let output = Given::Json(std::mem::take(&mut result.output));
        out.put_with(scraps, |out| out.tool_result(&stamp, result, output));
    }

    /// Gives a result what its call knows, and closes the call.
    fn close(&mut self, stamp: &Stamp, mut result: ToolResult) -> ToolResult {
        if let Some(call) = self.open.remove(&result.call_id) {
            if result.name.is_empty() {
                result.name = call.name;
            }
            if result.input.is_null() {
                result.input = call.input;
            }
            if let (None, Some(start), Some(end)) = (result.duration_ms, call.time, stamp.time) {
                result.duration_ms = Some(end.millis_since(start));
            }
        }
        self.answered.insert(result.call_id.clone());
        result
    }
}

#[cfg(test)]
mod tests;
