//! Starts and ends of steps in the log, in pairs: its readers refuse a step that starts twice before
//! it ends, which is what the iterations of a parallel loop do. All but the first are told beside it.

use std::collections::{HashMap, HashSet};

use quipu_event::StepPath;

/// What an execution is called that begins while another of the same step is at work.
pub(super) const BESIDE: &str = "loop_iteration";

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// The execution that has the step's own start.
    open: HashMap<String, StepPath>,
    beside: HashSet<(String, StepPath)>,
    known: HashSet<String>,
}

impl Pairs {
    /// Tells whether no start of `step` was told yet.
    pub(super) fn is_new(&self, step: &str) -> bool {
        !self.known.contains(step)
    }

    /// Returns the kind of the line that says that `step` begins at `path`.
    pub(super) fn begin(&mut self, step: &str, path: &StepPath) -> &'static str {
        if self.open.contains_key(step) {
            self.beside.insert((step.to_owned(), path.clone()));
            return BESIDE;
        }
        if self.is_new(step) {
            self.known.insert(step.to_owned());
        }
        self.open.insert(step.to_owned(), path.clone());
        "step_start"
    }

    /// Returns the kind of the line that says that it ends there.
    pub(super) fn end(&mut self, step: &str, path: &StepPath) -> &'static str {
        if self.beside.remove(&(step.to_owned(), path.clone())) {
            return BESIDE;
        }
        if self.open.get(step).is_some_and(|at| at == path) {
            self.open.remove(step);
        }
        "step_end"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_at_the_same_time_are_told_beside_the_first() {
        let (mut pairs, zero, one) = (Pairs::default(), "a[0].b".into(), "a[1].b".into());
        assert!(pairs.is_new("b"));
        assert_eq!(pairs.begin("b", &zero), "step_start");
        assert_eq!(pairs.begin("b", &one), BESIDE);
        assert_eq!(pairs.end("b", &zero), "step_end");
        assert_eq!(pairs.end("b", &one), BESIDE);
        assert_eq!(pairs.begin("b", &one), "step_start");
        assert_eq!(pairs.end("b", &one), "step_end");
        assert!(!pairs.is_new("b"));
    }
}
