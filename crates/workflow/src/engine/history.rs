//! What a run did before it was resumed, as its transcript tells it.

use std::collections::BTreeMap;
use std::ops::Bound;

use quipu_event::RunId;

use super::work::Outcome;

/// What is known of earlier executions, by path and attempt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// By path, so that what lies inside a step is found beside it.
    past: BTreeMap<Box<str>, BTreeMap<u32, Past>>,
}

/// One earlier execution of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// The number of its last line.
    pub seq: u64,
    /// The step's name.
    pub name: String,
    /// What came of it; nothing if it was cut short and has to run again.
    pub outcome: Option<Outcome>,
    /// The run it called.
    pub child: Option<RunId>,
}

impl History {
    /// Takes note of an execution.
    pub fn insert(&mut self, path: &str, attempt: u32, past: Past) {
        self.past.entry(path.into()).or_default().insert(attempt, past);
    }

    /// Tells whether the run is a new one.
    pub fn is_empty(&self) -> bool {
        self.past.is_empty()
    }

    /// Tells whether an earlier execution is known, and was over.
    pub fn is_finished(&self, path: &str, attempt: u32) -> bool {
        self.get(path, attempt).is_some_and(|past| past.outcome.is_some())
    }

    /// Returns an earlier execution.
    pub(super) fn get(&self, path: &str, attempt: u32) -> Option<&Past> {
        self.past.get(path)?.get(&attempt)
    }

    /// Lists what happened inside the step at `path`, in the order in which it ended.
    pub(super) fn inside(&self, path: &str) -> Vec<(u32, &Past)> {
        let mut found = Vec::new();
        for opening in [".", "["] {
            let prefix = format!("{path}{opening}");
            let from =
                self.past.range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded));
            for (_, attempts) in from.take_while(|(path, _)| path.starts_with(&prefix)) {
                found.extend(attempts.iter().map(|(&attempt, past)| (attempt, past)));
            }
        }
        found.sort_by_key(|(_, past)| past.seq);
        found
    }
}
