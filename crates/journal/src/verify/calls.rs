//! Is each tool call made once, and answered at most once?

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use quipu_event::{Event, Kind, StepPath};

use super::FindingKind;

/// Which tool calls were made.
///
/// An agent numbers its calls within one question: the same id may be used by another step, by
/// another attempt, or in the next turn of a conversation. In a run that is one session, an id is
/// used once.
#[derive(Default)]
pub(super) struct Calls {
    made: HashSet<u64>,
    open: HashSet<u64>,
    /// Whether the session goes on from another one, whose calls it may answer.
    is_fork: bool,
    /// The line that last asked an agent something, for each step that is being executed.
    rounds: HashMap<StepPath, u64>,
}

impl Calls {
    pub(super) fn note_round(&mut self, event: &Event) {
        self.is_fork |= event.kind == Kind::System
            && event.payload.as_str().starts_with("{\"subtype\":\"inherited\"");
        if event.path.is_root() {
            return;
        }
        match event.kind {
            Kind::StepStarted | Kind::MessageUser => {
                self.rounds.insert(event.path.clone(), event.seq);
            }
            Kind::StepCompleted => {
                self.rounds.remove(&event.path);
            }
            _ => {}
        }
    }

    pub(super) fn check_call(
        &mut self,
        event: &Event,
        call_id: &str,
        found: &mut impl FnMut(FindingKind),
    ) {
        let round = self.rounds.get(&event.path).copied().unwrap_or_default();
        if !self.made.insert(hash((event.path.as_str(), round, call_id))) {
            found(FindingKind::CallTwice { call_id: call_id.to_owned() });
        }
        self.open.insert(hash((event.path.as_str(), call_id)));
    }

    pub(super) fn check_result(
        &mut self,
        event: &Event,
        call_id: &str,
        found: &mut impl FnMut(FindingKind),
    ) {
        let is_open = self.open.remove(&hash((event.path.as_str(), call_id)));
        if !is_open && !self.is_fork {
            found(FindingKind::ResultWithoutCall { call_id: call_id.to_owned() });
        }
    }
}

/// Ids are compared by hash: a run may make millions of calls, and all of them must be known.
fn hash(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
