//! Calls that have no result yet, and files of which nobody has told yet that a call touched them.
//!
//! An id names a call only where it was made: two steps, or two subagents, may use the same one.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use super::ledger::At;
use super::touched::{Action, Touched};

/// More than so many open calls are not remembered; the oldest are given up first.
const MOST_OPEN: usize = 1024;
/// So many calls wait for a word about their files.
const MOST_WAITING: usize = 64;

/// A call without a result.
#[derive(Clone, Debug)]
pub(super) struct OpenCall {
    pub(super) call_id: String,
    pub(super) event_id: String,
    pub(super) tool: String,
    pub(super) action: Action,
    pub(super) arguments: Map<String, Value>,
    /// What its arguments say that it is about.
    pub(super) files: Vec<Touched>,
    pub(super) at: At,
    /// What was written while it was open.
    pub(super) written: Vec<String>,
    /// Whether the transcript has a word of its own about its files.
    pub(super) has_told_files: bool,
}

/// Files that a call touched, to be told unless the transcript does.
pub(super) struct Derived {
    pub(super) kind: &'static str,
    pub(super) call_id: String,
    pub(super) parent: Option<String>,
    pub(super) files: Vec<Touched>,
    pub(super) reason: Option<String>,
    pub(super) at: At,
}

#[derive(Default)]
pub(super) struct Calls {
    open: VecDeque<OpenCall>,
    waiting: VecDeque<Derived>,
}

impl Calls {
    /// Remembers a call, and returns one that there is no more room for.
    pub(super) fn begin(&mut self, call: OpenCall) -> Option<OpenCall> {
        self.open.push_back(call);
        (self.open.len() > MOST_OPEN).then(|| self.open.pop_front()).flatten()
    }

    /// Forgets the call that a result answers, and returns it.
    pub(super) fn end(&mut self, at: &At, call_id: &str) -> Option<OpenCall> {
        let place = self.place(at, call_id);
        place.and_then(|place| self.open.remove(place))
    }

    /// Takes note of a word of the transcript about a file of a call, and returns the call's event.
    pub(super) fn touch(
        &mut self,
        at: &At,
        call_id: &str,
        written: Option<&str>,
    ) -> Option<String> {
        if call_id.is_empty() {
            return None;
        }
        let mut parent = None;
        self.waiting.retain(|derived| {
            let is_of = derived.call_id == call_id && derived.at.is_beside(at);
            if is_of {
                parent.clone_from(&derived.parent);
            }
            !is_of
        });
        let place = self.place(at, call_id);
        let Some(call) = place.and_then(|place| self.open.get_mut(place)) else { return parent };
        call.has_told_files = true;
        call.written.extend(written.map(str::to_owned));
        Some(call.event_id.clone())
    }

    /// Lets files wait, and returns those that have waited long enough.
    pub(super) fn wait(&mut self, derived: Derived) -> Option<Derived> {
        self.waiting.push_back(derived);
        (self.waiting.len() > MOST_WAITING).then(|| self.waiting.pop_front()).flatten()
    }

    /// Returns the files that nobody told of.
    pub(super) fn settled(&mut self) -> Option<Derived> {
        self.waiting.pop_front()
    }

    /// Returns the calls that never had a result.
    pub(super) fn dangling(&mut self) -> Option<OpenCall> {
        self.open.pop_front()
    }

    fn place(&self, at: &At, call_id: &str) -> Option<usize> {
        let is_it = |call: &OpenCall| call.call_id == call_id && call.at.is_beside(at);
        self.open.iter().rposition(is_it).filter(|_| !call_id.is_empty())
    }
}
