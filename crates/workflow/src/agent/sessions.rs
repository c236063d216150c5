//! What this process remembers of sessions, for agents that do not keep them elsewhere.
//!
//! Nothing here outlives the process. Agents with a program keep their own sessions on disk; of those
//! only token counts are remembered here.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use quipu_event::payload::TokenCounts;
use quipu_event::{Event, RunId};
use serde_json::Value;

/// The sessions that live in this process.
#[derive(Debug, Default)]
pub struct Sessions {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    histories: HashMap<String, Vec<Value>>,
    totals: HashMap<String, TokenCounts>,
}

impl Sessions {
    /// Returns a name for a session that begins now.
    pub fn new_name(prefix: &str) -> String {
        format!("{prefix}-{}", RunId::random().as_str())
    }

    /// Returns the messages of a session, as its API takes them; nothing if it is not known here.
    pub fn history(&self, session: &str) -> Option<Vec<Value>> {
        self.lock().histories.get(session).cloned()
    }

    /// Remembers the messages of a session, in place of those before.
    ///
    /// A run that goes on in another process puts its sessions back with this.
    pub fn remember(&self, session: &str, messages: Vec<Value>) {
        self.lock().histories.insert(session.to_owned(), messages);
    }

    /// Puts a session back that another process held, from the events of the steps that held it.
    pub fn restore<'a>(&self, session: &str, events: impl IntoIterator<Item = &'a Event>) {
        self.remember(session, super::http::from_events(events));
    }

    /// Returns what a session had used up when it was last heard of.
    pub(super) fn total(&self, session: &str) -> Option<TokenCounts> {
        self.lock().totals.get(session).copied()
    }

    /// Adds to what a session has used up.
    ///
    /// A run that goes on in another process tells so what its sessions had used up before: some
    /// agents count it again.
    pub fn count(&self, session: &str, more: &TokenCounts) {
        self.lock().totals.entry(session.to_owned()).or_default().add(more);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Every change is one insertion: there is no half of one to be afraid of.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
