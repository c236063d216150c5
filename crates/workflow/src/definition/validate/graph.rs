//! The steps as a graph: which can follow which, and which run inside of which.

use std::collections::{BTreeMap, BTreeSet};

use super::super::parse::{Notes, Role};

/// The steps as a graph.
pub(super) struct Graph<'n> {
    /// Where the run can go from each step.
    next: BTreeMap<&'n str, Vec<&'n str>>,
    /// Which steps run inside of each.
    inside: BTreeMap<&'n str, Vec<&'n str>>,
    /// Inside of which loops each step runs.
    loops: BTreeMap<&'n str, Vec<&'n str>>,
    /// Inside of which parallel steps each step runs.
    forks: BTreeMap<&'n str, Vec<&'n str>>,
}

impl<'n> Graph<'n> {
    pub(super) fn of(notes: &'n Notes) -> Self {
        let (mut next, mut inside) = (BTreeMap::new(), BTreeMap::new());
        let (mut loops, mut forks) = (BTreeMap::new(), BTreeMap::new());
        for target in &notes.targets {
            let (from, name) = (target.from.as_str(), target.name.as_str());
            if !notes.steps.contains_key(name) {
                continue;
            }
            match target.role {
                Role::Next(_) => next.entry(from).or_insert_with(Vec::new).push(name),
                Role::Body | Role::Branch => {
                    inside.entry(from).or_insert_with(Vec::new).push(name);
                    let around = if target.role == Role::Body { &mut loops } else { &mut forks };
                    around.entry(name).or_insert_with(Vec::new).push(from);
                }
                Role::Session => {}
            }
        }
        Graph { next, inside, loops, forks }
    }

    /// Tells whether a step runs inside of another.
    pub(super) fn is_inside(&self, step: &str) -> bool {
        self.loops.contains_key(step) || self.forks.contains_key(step)
    }

    /// Tells whether two steps run side by side.
    pub(super) fn are_branches(&self, one: &str, other: &str) -> bool {
        let forks = |step: &str| self.forks.get(step).into_iter().flatten();
        forks(one).any(|outer| forks(other).any(|also| also == outer))
    }

    /// Returns the steps that run inside of a step.
    pub(super) fn inside(&self, step: &str) -> &[&'n str] {
        self.inside.get(step).map_or(&[], Vec::as_slice)
    }

    /// Returns all steps that a run that begins at `step` can come to, `step` too.
    pub(super) fn reachable(&self, step: &'n str) -> BTreeSet<&'n str> {
        let mut seen = BTreeSet::from([step]);
        let mut open = vec![step];
        while let Some(from) = open.pop() {
            let ways = self.next.get(from).into_iter().chain(self.inside.get(from)).flatten();
            open.extend(ways.filter(|next| seen.insert(next)));
        }
        seen
    }

    /// Returns all steps that can begin when what came of `step` is known. Steps of the same loop can
    /// follow each other in any order; branches of a parallel step know nothing of each other, and
    /// what comes after it knows of all.
    pub(super) fn later(&self, step: &'n str) -> BTreeSet<&'n str> {
        let (mut begun, mut over) = (BTreeSet::new(), BTreeSet::from([step]));
        let mut open = vec![step];
        // What runs inside of it may begin after it did.
        let mut begin: Vec<&'n str> = self.inside(step).to_vec();
        loop {
            while let Some(from) = open.pop() {
                begin.extend(self.next.get(from).into_iter().flatten());
                for outer in self.loops.get(from).into_iter().flatten() {
                    begin.push(outer);
                }
                let around = self.forks.get(from).into_iter().flatten();
                open.extend(around.filter(|outer| over.insert(outer)));
            }
            let Some(next) = begin.pop() else { return begun };
            if begun.insert(next) {
                begin.extend(self.inside(next));
                if over.insert(next) {
                    open.push(next);
                }
            }
        }
    }
}
