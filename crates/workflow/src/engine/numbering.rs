//! Which attempt an execution is, so that path and attempt together never repeat.
//!
//! A step may be executed several times at one path: it is retried, a jump comes back to it, or the
//! loop around it is entered again. Counting every path would take memory for every iteration;
//! instead each container remembers the highest number used inside it, and begins above that when
//! it is entered again.

use std::collections::HashMap;

/// The numbers used among the steps of one container: the run, one iteration, one parallel step.
#[derive(Clone, Debug)]
pub(super) struct Numbering {
    /// The first number anybody here gets.
    base: u32,
    /// The last number each step got.
    used: HashMap<String, u32>,
    /// The highest number used inside each step that is a container.
    inside: HashMap<String, u32>,
}

impl Numbering {
    pub(super) fn from_base(base: u32) -> Self {
        Numbering { base, used: HashMap::new(), inside: HashMap::new() }
    }

    /// Gives the next number for a step.
    pub(super) fn next(&mut self, step: &str) -> u32 {
        let next = self.used.get(step).map_or(self.base, |used| used + 1);
        self.used.insert(step.to_owned(), next);
        next
    }

    /// Returns the first number that is free inside a step.
    pub(super) fn base_inside(&self, step: &str) -> u32 {
        self.inside.get(step).map_or(self.base, |used| used + 1)
    }

    /// Takes note of the highest number used inside a step.
    pub(super) fn note_inside(&mut self, step: &str, highest: u32) {
        let inside = self.inside.entry(step.to_owned()).or_insert(highest);
        *inside = (*inside).max(highest);
    }

    /// Returns the highest number used here and further inside.
    pub(super) fn highest(&self) -> u32 {
        let numbers = self.used.values().chain(self.inside.values());
        numbers.copied().max().unwrap_or(self.base.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_that_is_entered_again_begins_above_what_it_used() {
        let mut run = Numbering::from_base(1);
        assert_eq!((run.next("loop"), run.base_inside("loop")), (1, 1));
        let mut iteration = Numbering::from_base(run.base_inside("loop"));
        assert_eq!((iteration.next("a"), iteration.next("a"), iteration.next("b")), (1, 2, 1));
        run.note_inside("loop", iteration.highest());
        assert_eq!((run.next("loop"), run.base_inside("loop")), (2, 3));
        assert_eq!(Numbering::from_base(3).next("a"), 3);
    }
}
