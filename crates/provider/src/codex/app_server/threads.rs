//! The threads of one connection: the first is the main agent, the others are subagents.

use quipu_event::Timestamp;

use super::super::live::Thread;
use crate::outbox::{Outbox, Stamp};

/// Every thread that has been seen, in order.
#[derive(Default)]
pub(super) struct Threads {
    all: Vec<(String, State)>,
    main: Option<String>,
}

/// A thread, and where it comes from.
#[derive(Default)]
pub(super) struct State {
    pub(super) thread: Thread,
    pub(super) origin: Origin,
}

/// Where a thread comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Origin {
    /// Nothing was said of its beginning.
    #[default]
    Unknown,
    /// It began on this connection.
    New,
    /// It was resumed or forked: it had turns and a total before.
    Resumed,
}

impl Threads {
    /// Returns the id of the main thread.
    pub(super) fn main(&self) -> Option<&str> {
        self.main.as_deref()
    }

    /// Tells whether `id` is the main thread, as far as is known.
    pub(super) fn is_main(&self, id: &str) -> bool {
        id.is_empty() || self.main.as_deref().is_none_or(|main| main.is_empty() || main == id)
    }

    /// Returns who a thread is that is only asked about, and may not exist.
    pub(super) fn stamp_if_known(&self, id: &str, time: Option<Timestamp>) -> Stamp {
        let is_known = self.all.iter().any(|(name, _)| name == id);
        if is_known { self.stamp(id, time) } else { Stamp::at(time) }
    }

    /// Makes the first thread that comes along the main one; returns whether `id` is it.
    pub(super) fn claim(&mut self, id: &str) -> bool {
        if !self.is_main(id) {
            return false;
        }
        // A thread may have been spoken of before it had a name.
        if let Some((name, _)) = self.all.iter_mut().find(|(name, _)| name.is_empty()) {
            id.clone_into(name);
        }
        if self.main.as_deref().is_none_or(str::is_empty) {
            self.main = Some(id.to_owned());
        }
        true
    }

    /// Returns a thread; an id that is not given means the main one.
    pub(super) fn get(&mut self, id: &str) -> &mut State {
        let id = if id.is_empty() { self.main.clone().unwrap_or_default() } else { id.to_owned() };
        let place = self.all.iter().position(|(name, _)| *name == id).unwrap_or_else(|| {
            self.all.push((id, State::default()));
            self.all.len() - 1
        });
        &mut self.all[place].1
    }

    /// Returns who a thread is, at `time`.
    pub(super) fn stamp(&self, id: &str, time: Option<Timestamp>) -> Stamp {
        if self.is_main(id) { Stamp::at(time) } else { Stamp::of_subagent(id, time) }
    }

    /// Ends what the other threads have finished saying, so that `id` need not wait behind it.
    pub(super) fn rest_others(&mut self, out: &mut Outbox<'_>, id: &str) {
        let is_main = self.is_main(id);
        let main = self.main.as_deref().unwrap_or_default();
        let others =
            self.all.iter_mut().filter(|(name, _)| name != id && !(is_main && name == main));
        for (_, state) in others {
            state.thread.rest(out);
        }
    }

    /// Gives every thread with its name.
    pub(super) fn each(&mut self, mut visit: impl FnMut(Stamp, &mut Thread)) {
        for (id, state) in &mut self.all {
            let is_main = id.is_empty() || self.main.as_deref() == Some(id);
            let stamp = if is_main { Stamp::at(None) } else { Stamp::of_subagent(id, None) };
            visit(stamp, &mut state.thread);
        }
    }
}
