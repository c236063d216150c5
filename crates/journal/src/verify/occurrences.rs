//! Does each try of a step start once? A path and an attempt together name one occurrence.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use quipu_event::Event;
use quipu_event::payload::Payload;

/// Which tries of which steps have been, and where each started first.
///
/// A start that comes while the same one is open is not told of here: what is open has its own
/// account, and a call of a run may stand inside the step that makes it. A step at the run's own path
/// does not say where it is, and is nobody's occurrence.
#[derive(Default)]
pub(super) struct Occurrences(HashMap<u64, Occurrence>);

struct Occurrence {
    first: FirstStart,
    /// How many starts have no end yet.
    open: u32,
}

/// Where an occurrence started.
#[derive(Clone, Copy)]
pub(super) struct FirstStart {
    pub(super) line: u64,
    pub(super) seq: u64,
}

impl Occurrences {
    /// Takes in the start or end of a step. Returns where it first started, if this is a start and it
    /// had ended before.
    pub(super) fn add(
        &mut self,
        line: u64,
        event: &Event,
        payload: &Payload,
    ) -> Option<FirstStart> {
        if event.path.is_root() {
            return None;
        }
        match payload {
            Payload::StepStarted(step) => {
                let first = FirstStart { line, seq: event.seq };
                let occurrence = (self.0.entry(name(event, step.attempt)))
                    .or_insert(Occurrence { first, open: 0 });
                let is_again = occurrence.open == 0 && occurrence.first.line != line;
                occurrence.open += 1;
                is_again.then_some(occurrence.first)
            }
            Payload::StepCompleted(step) => {
                if let Some(occurrence) = self.0.get_mut(&name(event, step.attempt)) {
                    occurrence.open = occurrence.open.saturating_sub(1);
                }
                None
            }
            _ => None,
        }
    }
}

/// Names are compared by hash: a loop may leave millions of them, and all of them must be known.
fn name(event: &Event, attempt: Option<u32>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (event.path.as_str(), attempt.unwrap_or(1)).hash(&mut hasher);
    hasher.finish()
}
