//! The steps as a graph: which can follow which, and which run inside of which.

use std::collections::{BTreeMap, BTreeSet};

use super::super::parse::{Notes, Role};

/// The steps as a graph.
pub(super) struct Graph<'n> {
    /// Where the run can go from each step.
    next: BTreeMap<&'n str, Vec<&'n str>>,
    /// Which steps run inside of each.
    inside: BTreeMap<&'n str, Vec<&'n str>>,
    /// Which steps run inside of another.
    parents: BTreeMap<&'n str, Vec<&'n str>>,
}

impl<'n> Graph<'n> {
    pub(super) fn of(notes: &'n Notes) -> Self {
        let (mut next, mut inside, mut parents) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for target in &notes.targets {
            let (from, name) = (target.from.as_str(), target.name.as_str());
            if !notes.steps.contains_key(name) {
                continue;
            }
            match target.role {
                Role::Next(_) => next.entry(from).or_insert_with(Vec::new).push(name),
                Role::Body | Role::Branch => {
                    inside.entry(from).or_insert_with(Vec::new).push(name);
                    parents.entry(name).or_insert_with(Vec::new).push(from);
                }
                Role::Session => {}
            }
        }
        Graph { next, inside, parents }
    }

    /// Tells whether a step runs inside of another.
    pub(super) fn is_inside(&self, step: &str) -> bool {
        self.parents.contains_key(step)
    }

    /// Returns the steps that run inside of a step.
    pub(super) fn inside(&self, step: &str) -> &[&'n str] {
        self.inside.get(step).map_or(&[], Vec::as_slice)
    }

    /// Returns all steps that a run that begins at `step` can come to, `step` too.
    pub(super) fn reachable(&self, step: &'n str) -> BTreeSet<&'n str> {
        let mut seen = BTreeSet::from([step]);
        self.spread(&mut seen, vec![step], |from| {
            self.next.get(from).into_iter().chain(self.inside.get(from)).flatten()
        });
        seen
    }

    /// Returns all steps that can begin after `step` did. Steps of the same loop or parallel step
    /// can follow each other in any order.
    pub(super) fn later(&self, step: &'n str) -> BTreeSet<&'n str> {
        let mut seen = BTreeSet::new();
        self.spread(&mut seen, vec![step], |from| {
            let ways = self.next.get(from).into_iter().chain(self.inside.get(from));
            ways.chain(self.parents.get(from)).flatten()
        });
        seen
    }

    fn spread<'g, I: Iterator<Item = &'g &'n str>>(
        &self,
        seen: &mut BTreeSet<&'n str>,
        mut open: Vec<&'n str>,
        ways: impl Fn(&'n str) -> I,
    ) where
        'n: 'g,
    {
        while let Some(step) = open.pop() {
            for next in ways(step) {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
    }
}
