//! Replies whose usage nobody has told.
//!
//! A model that replied was used, also where no `usage` event says how much. Whether an event that
//! comes is of a reply is not asked more closely than its scope allows: one of a turn or a session
//! is of everybody who spoke before it.

use std::collections::BTreeMap;

use quipu_event::payload::{Usage, UsageScope};

use super::bill::PartKey;

/// Who speaks: a subagent, or nothing for the main agent.
type Speaker = Option<Box<str>>;

/// The replies of one place that are not paid for.
#[derive(Clone, Debug, Default)]
pub(super) struct Unpaid {
    replies: BTreeMap<Speaker, BTreeMap<PartKey, u64>>,
    /// Usage of one message that came when there was none to pay for: it is of the next.
    ahead: BTreeMap<Speaker, Option<String>>,
}

impl Unpaid {
    /// Takes a reply.
    pub(super) fn note_reply(&mut self, by: Speaker, message_id: Option<&str>, key: PartKey) {
        let is_paid = match self.ahead.remove(&by) {
            Some(Some(paid)) => message_id == Some(paid.as_str()),
            Some(None) => true,
            None => false,
        };
        if !is_paid {
            *self.replies.entry(by).or_default().entry(key).or_default() += 1;
        }
    }

    /// Takes a `usage` event.
    pub(super) fn note_usage(&mut self, by: Speaker, usage: &Usage) {
        match usage.scope {
            Some(UsageScope::Turn | UsageScope::Session) => self.clear(),
            _ if self.replies.remove(&by).is_some() => drop(self.ahead.remove(&by)),
            _ => drop(self.ahead.insert(by, usage.message_id.clone())),
        }
    }

    /// Takes note that everything so far is paid for.
    pub(super) fn clear(&mut self) {
        *self = Unpaid::default();
    }

    /// Returns the models that replied.
    pub(super) fn models(&self) -> impl Iterator<Item = &String> {
        self.replies.values().flat_map(BTreeMap::keys).filter_map(|key| key.model.as_ref())
    }

    /// Returns how many replies of whom are not paid for.
    pub(super) fn into_replies(self) -> impl Iterator<Item = (PartKey, u64)> {
        self.replies.into_values().flatten()
    }
}
