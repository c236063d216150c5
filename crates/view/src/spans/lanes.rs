//! Who speaks where: when a reply was asked for, and the last reply until its tokens are known.

use std::collections::BTreeMap;

use quipu_event::StepPath;
use quipu_event::payload::Usage;

use super::{Span, Work};

/// So many conversations are followed at a time.
const MOST: usize = 4096;

/// A conversation: an agent at a place.
pub(super) type Lane = (Option<Box<str>>, StepPath);

/// The conversations of a run.
#[derive(Debug, Default)]
pub(super) struct Lanes(BTreeMap<Lane, State>);

#[derive(Debug, Default)]
struct State {
    /// When the agent was last given something to reply to.
    asked: i64,
    reply: Option<Span>,
}

impl Lanes {
    /// Notes that the agent was given something, and returns the reply that came before.
    pub(super) fn ask(&mut self, lane: Lane, time: i64) -> Option<Span> {
        let state = self.0.entry(lane).or_default();
        state.asked = time;
        state.reply.take()
    }

    /// Notes that the agent was given the answer of a tool.
    pub(super) fn answer(&mut self, lane: Lane, time: i64) {
        self.0.entry(lane).or_default().asked = time;
    }

    /// Returns when the next reply was asked for.
    pub(super) fn asked(&self, lane: &Lane) -> Option<i64> {
        self.0.get(lane).map(|state| state.asked)
    }

    /// Keeps a reply until its tokens are known, and returns the one before.
    pub(super) fn reply(&mut self, lane: Lane, reply: Span) -> Option<Span> {
        let state = self.0.entry(lane).or_default();
        state.asked = reply.end;
        state.reply.replace(reply)
    }

    /// Returns the reply that these tokens are of, if it is the last one there.
    pub(super) fn counted(&mut self, lane: &Lane, usage: &Usage) -> Option<&mut Span> {
        let of_message = usage.scope.as_ref().is_none_or(|scope| scope.as_str() == "message");
        let reply = self.0.get_mut(lane)?.reply.as_mut().filter(|_| of_message)?;
        let Work::Reply(message) = &reply.work else { return None };
        let same = match (&usage.message_id, &message.message_id) {
            (Some(of), Some(own)) => of == own,
            (None, _) => true,
            (Some(_), None) => false,
        };
        (same && reply.tokens.is_empty()).then_some(reply)
    }

    /// Forgets the conversations that `is_over` holds for, and returns their last replies.
    pub(super) fn close(&mut self, is_over: impl Fn(&Lane) -> bool) -> Vec<Span> {
        let over: Vec<Lane> = self.0.keys().filter(|lane| is_over(lane)).cloned().collect();
        over.iter().filter_map(|lane| self.0.remove(lane)?.reply).collect()
    }

    /// Forgets everything when there is too much of it, and returns the last replies.
    pub(super) fn make_room(&mut self) -> Vec<Span> {
        if self.0.len() < MOST { Vec::new() } else { self.close(|_| true) }
    }
}
