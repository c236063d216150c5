//! Which lines of a rollout are the thread's own, and which it inherited.
//!
//! A forked thread or a spawned agent begins its file with a copy of its parent's history,
//! stamped with the moment of the copy. What was said and paid there was said and paid in the
//! parent. The file alone tells where the copy ends: by an ordinal, or by the first turn whose id,
//! a UUID that begins with the time, is not older than the thread's own.

use quipu_event::Timestamp;

use super::wire::{Line, LineKind, Thread};
use crate::value::Fields;

/// Without ids, a turn that begins so much later than the file does is the thread's own.
const COPIED_WITHIN_MS: u64 = 1_000;

/// The thread whose file this is, and how far its copy of another one goes.
#[derive(Default)]
pub(super) struct Lineage {
    id: Option<String>,
    /// When the thread was made, by its id.
    born: Option<u64>,
    /// When its file was begun.
    begun: Option<Timestamp>,
    own_from_ordinal: Option<u64>,
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// The lines are the thread's own; a parent's `session_meta` may still come.
    #[default]
    Young,
    /// The lines are copied.
    Inheriting,
    /// The thread has begun a turn of its own: whatever comes is its own.
    Grown,
}

impl Lineage {
    /// Takes the thread's own `session_meta`, which is the first one.
    pub(super) fn begin(&mut self, thread: &Thread, time: Option<Timestamp>) {
        self.id.clone_from(&thread.id);
        self.born = thread.id.as_deref().and_then(uuid_millis);
        self.begun = time;
        self.own_from_ordinal = thread.own_from_ordinal;
        let has_copy = thread.forked_from.is_some() || thread.own_from_ordinal.is_some();
        if has_copy && !thread.has_history_elsewhere {
            self.state = State::Inheriting;
        }
    }

    /// Tells whether a line was copied from another thread.
    pub(super) fn is_inherited(&mut self, line: &Line<'_>) -> bool {
        if line.kind == LineKind::SessionMeta && self.state != State::Grown {
            self.take_meta(&line.payload);
        }
        match (self.own_from_ordinal, line.ordinal) {
            (Some(first), Some(ordinal)) if self.state == State::Inheriting => {
                if ordinal >= first {
                    self.state = State::Grown;
                }
            }
            _ => self.look_for_turn(line),
        }
        self.state == State::Inheriting
    }

    /// A second thread's `session_meta` begins the copy of its lines; a resume repeats the own one.
    fn take_meta(&mut self, meta: &Fields<'_>) {
        match (&self.id, meta.text("id")) {
            (Some(own), Some(id)) if *own == id => self.state = State::Grown,
            (Some(_), Some(_)) if self.state == State::Young => self.state = State::Inheriting,
            _ => {}
        }
    }

    fn look_for_turn(&mut self, line: &Line<'_>) {
        let is_own = match self.state {
            State::Grown => return,
            State::Young => self.is_own_turn(line).is_some(),
            State::Inheriting => self.is_own_turn(line) == Some(true),
        };
        if is_own {
            self.state = State::Grown;
        }
    }

    /// Tells whether a line begins a turn of the thread itself; nothing if it begins none.
    fn is_own_turn(&self, line: &Line<'_>) -> Option<bool> {
        let turn_id = match line.kind {
            LineKind::TurnContext => line.payload.text("turn_id"),
            LineKind::Event => match &*line.payload.text("type")? {
                "task_started" | "turn_started" => line.payload.text("turn_id"),
                "user_message" => None,
                _ => return None,
            },
            _ => return None,
        };
        if let (Some(turn), Some(born)) = (turn_id.as_deref().and_then(uuid_millis), self.born) {
            return Some(turn >= born);
        }
        // Where nothing tells the time there is nothing that tells a copy.
        let (Some(now), Some(begun)) = (line.time, self.begun) else { return Some(true) };
        Some(now.millis_since(begun) >= COPIED_WITHIN_MS)
    }
}

/// Returns the milliseconds at the beginning of a UUID of version 7.
fn uuid_millis(id: &str) -> Option<u64> {
    let bytes = id.as_bytes();
    if bytes.len() != 36 || bytes[8] != b'-' || bytes[14] != b'7' || !id.is_ascii() {
        return None;
    }
    let (high, low) = (&id[..8], &id[9..13]);
    Some(u64::from_str_radix(high, 16).ok()? << 16 | u64::from_str_radix(low, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use super::uuid_millis;

    #[test]
    fn only_ids_of_version_seven_tell_the_time() {
        assert_eq!(uuid_millis("019d7e2f-0041-7310-951c-94020254dfc9"), Some(0x019d_7e2f_0041));
        assert_eq!(uuid_millis("019d7e2f-0041-4310-951c-94020254dfc9"), None);
        assert_eq!(uuid_millis("4"), None);
    }
}
