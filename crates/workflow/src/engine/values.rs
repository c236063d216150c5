//! What steps came to, as later steps see it.
//!
//! A parallel branch has a space of its own: what it learns is seen inside it at once, and outside
//! when the parallel step ends, in the order of the branches. So branches never see half of each
//! other, and a run that is resumed sees what it saw before.

use std::collections::HashMap;
use std::sync::Arc;

use quipu_event::payload::Status;

use super::work::Outcome;

/// What a step came to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StepValue {
    pub(super) status: Status,
    pub(super) attempt: u32,
    pub(super) outcome: Outcome,
}

/// The last failure, for the namespace `error`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    pub(super) step: String,
    pub(super) message: String,
    pub(super) exit_code: Option<i64>,
    pub(super) kind: &'static str,
}

/// A place where values are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SpaceId(usize);

impl SpaceId {
    /// The space of the run itself.
    pub(super) const ROOT: SpaceId = SpaceId(0);
}

#[derive(Debug, Default)]
struct Space {
    outer: Option<SpaceId>,
    steps: HashMap<String, Arc<StepValue>>,
    failure: Option<Arc<Failure>>,
}

/// All values of a run.
#[derive(Debug)]
pub(super) struct Values {
    spaces: Vec<Space>,
    unused: Vec<usize>,
}

impl Values {
    pub(super) fn new() -> Self {
        Values { spaces: vec![Space::default()], unused: Vec::new() }
    }

    /// Opens a space inside another.
    pub(super) fn open(&mut self, outer: SpaceId) -> SpaceId {
        let space = Space { outer: Some(outer), ..Space::default() };
        match self.unused.pop() {
            Some(index) => {
                self.spaces[index] = space;
                SpaceId(index)
            }
            None => {
                self.spaces.push(space);
                SpaceId(self.spaces.len() - 1)
            }
        }
    }

    /// Closes a space and lets the one around it know what it learned.
    pub(super) fn merge(&mut self, space: SpaceId) {
        let closed = std::mem::take(&mut self.spaces[space.0]);
        self.unused.push(space.0);
        let Some(outer) = closed.outer else { return };
        let outer = &mut self.spaces[outer.0];
        outer.steps.extend(closed.steps);
        if closed.failure.is_some() {
            outer.failure = closed.failure;
        }
    }

    pub(super) fn set(&mut self, space: SpaceId, step: &str, value: StepValue) {
        self.spaces[space.0].steps.insert(step.to_owned(), Arc::new(value));
    }

    pub(super) fn set_failure(&mut self, space: SpaceId, failure: Failure) {
        self.spaces[space.0].failure = Some(Arc::new(failure));
    }

    pub(super) fn get(&self, space: SpaceId, step: &str) -> Option<&StepValue> {
        self.outward(space).find_map(|space| space.steps.get(step)).map(Arc::as_ref)
    }

    pub(super) fn failure(&self, space: SpaceId) -> Option<&Failure> {
        self.outward(space).find_map(|space| space.failure.as_deref())
    }

    /// Lists the names of the steps that have a value.
    pub(super) fn names(&self, space: SpaceId) -> Vec<String> {
        let mut names: Vec<_> =
            self.outward(space).flat_map(|space| space.steps.keys().cloned()).collect();
        names.sort();
        names.dedup();
        names
    }

    fn outward(&self, space: SpaceId) -> impl Iterator<Item = &Space> {
        std::iter::successors(Some(&self.spaces[space.0]), |space| {
            space.outer.map(|outer| &self.spaces[outer.0])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(output: &str) -> StepValue {
        let outcome = Outcome { output: output.to_owned(), ..Outcome::default() };
        StepValue { status: Status::Succeeded, attempt: 1, outcome }
    }

    fn seen(values: &Values, space: SpaceId, step: &str) -> Option<String> {
        values.get(space, step).map(|value| value.outcome.output.clone())
    }

    #[test]
    fn a_branch_sees_what_is_around_it_and_nothing_beside_it() {
        let mut values = Values::new();
        values.set(SpaceId::ROOT, "before", value("b"));
        let (left, right) = (values.open(SpaceId::ROOT), values.open(SpaceId::ROOT));
        values.set(left, "step", value("left"));
        assert_eq!(seen(&values, left, "before").as_deref(), Some("b"));
        assert_eq!(seen(&values, left, "step").as_deref(), Some("left"));
        assert_eq!(seen(&values, right, "step"), None);
        assert_eq!(seen(&values, SpaceId::ROOT, "step"), None);
    }

    #[test]
    fn what_branches_learned_is_merged_in_the_order_given() {
        let mut values = Values::new();
        let (left, right) = (values.open(SpaceId::ROOT), values.open(SpaceId::ROOT));
        values.set(right, "step", value("right"));
        values.set(left, "step", value("left"));
        values.merge(left);
        values.merge(right);
        assert_eq!(seen(&values, SpaceId::ROOT, "step").as_deref(), Some("right"));
    }

    #[test]
    fn a_closed_space_is_used_again() {
        let mut values = Values::new();
        let first = values.open(SpaceId::ROOT);
        values.merge(first);
        let second = values.open(SpaceId::ROOT);
        assert_eq!(first, second);
        assert_eq!(values.names(second), Vec::<String>::new());
    }
}
