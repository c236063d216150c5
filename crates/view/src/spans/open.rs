//! The steps, subagents and tool calls under way, and which of them something belongs to.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use quipu_event::StepPath;

use super::lanes::Lane;
use super::{Key, Span};
use crate::path::pieces;

/// So many tool calls may be without an answer; the oldest beyond that are given up.
const MOST_CALLS: usize = 4096;
/// So many calls are remembered after their answer.
const MOST_ANSWERED: usize = 256;

/// A call, by its conversation and its id.
pub(super) type Call = (Lane, String);

/// What is under way.
#[derive(Debug, Default)]
pub(super) struct Open {
    pub(super) steps: BTreeMap<StepPath, Span>,
    pub(super) subagents: BTreeMap<Box<str>, Span>,
    pub(super) calls: BTreeMap<Call, Span>,
    /// Calls that were given up: an answer that comes all the same is no second call.
    given_up: BTreeSet<Call>,
    /// The last calls that were answered: some writers say only then what a call had started.
    answered: VecDeque<(String, Key)>,
}

impl Open {
    /// Returns the innermost step under way that `path` lies in or is.
    pub(super) fn step_around(&self, path: &StepPath) -> Option<&Span> {
        if let Some(step) = self.steps.get(path) {
            return Some(step);
        }
        self.step_outside(path)
    }

    /// Returns the innermost step under way that `path` lies in.
    pub(super) fn step_outside(&self, path: &StepPath) -> Option<&Span> {
        let levels = pieces(path.as_str());
        let outer = levels.iter().rev().filter(|level| level.prefix != path.as_str());
        outer.into_iter().find_map(|level| self.steps.get(&StepPath::from(level.prefix)))
    }

    /// Returns the key of what an event of this conversation belongs to.
    pub(super) fn owner(&self, lane: &Lane) -> Key {
        let subagent = lane.0.as_ref().and_then(|source| self.subagents.get(source));
        subagent.or_else(|| self.step_around(&lane.1)).map_or(Key::Run, |span| span.key.clone())
    }

    /// Returns when that began.
    pub(super) fn owner_start(&self, lane: &Lane) -> Option<i64> {
        let subagent = lane.0.as_ref().and_then(|source| self.subagents.get(source));
        subagent.or_else(|| self.step_around(&lane.1)).map(|span| span.start)
    }

    /// Returns the call with this id, whoever made it, also if it was answered a while ago.
    pub(super) fn call_with_id(&self, call_id: &str) -> Option<Key> {
        let under_way = self.calls.iter().find(|((_, id), _)| id == call_id);
        let answered = || self.answered.iter().rev().find(|(id, _)| id == call_id);
        under_way.map(|(_, span)| &span.key).or_else(|| answered().map(|(_, key)| key)).cloned()
    }

    /// Returns the call that an answer ends.
    pub(super) fn answer(&mut self, call: &Call) -> Option<Span> {
        let span = self.calls.remove(call)?;
        if self.answered.len() == MOST_ANSWERED {
            self.answered.pop_front();
        }
        self.answered.push_back((call.1.clone(), span.key.clone()));
        Some(span)
    }

    /// Adds a call, and returns the one that had its name and one that there is no room for.
    pub(super) fn add_call(&mut self, call: Call, span: Span) -> Vec<Span> {
        let mut over: Vec<Span> = self.calls.insert(call, span).into_iter().collect();
        if self.calls.len() > MOST_CALLS {
            let oldest = self.calls.iter().min_by_key(|(_, span)| span.seq);
            let oldest = oldest.map(|(call, _)| call.clone());
            over.extend(oldest.and_then(|call| self.give_up(&call)));
        }
        over
    }

    /// Gives up the calls that `is_over` holds for.
    pub(super) fn close_calls(&mut self, is_over: impl Fn(&Lane) -> bool) -> Vec<Span> {
        let over: Vec<Call> =
            self.calls.keys().filter(|(lane, _)| is_over(lane)).cloned().collect();
        over.iter().filter_map(|call| self.give_up(call)).collect()
    }

    /// Tells whether this call was given up, and forgets it.
    pub(super) fn was_given_up(&mut self, call: &Call) -> bool {
        self.given_up.remove(call)
    }

    fn give_up(&mut self, call: &Call) -> Option<Span> {
        if self.given_up.len() >= MOST_CALLS {
            self.given_up.pop_first();
        }
        self.given_up.insert(call.clone());
        self.calls.remove(call)
    }
}

/// Tells whether `path` is `outer` or lies in it.
pub(super) fn lies_in(path: &StepPath, outer: &StepPath) -> bool {
    let rest = path.as_str().strip_prefix(outer.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
