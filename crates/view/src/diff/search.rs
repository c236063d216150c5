//! What differs in each step, and where in the first run it does.
//!
//! Two runs number their events each for itself, and one may have noted more about itself than the
//! other. So what only the second run has stands behind what came before it in both, never where
//! its own number says.

use super::align::align;
use super::compare::{Change, Difference};
use super::item::{Item, What};
use super::outline::GroupKey;

/// A place in the first run: behind which of its events, and behind which of the second run's there.
pub(super) type Place = (u64, u64);

/// The differences of two runs while their steps are gone through.
#[derive(Default)]
pub(super) struct Search {
    differences: Vec<Difference>,
    same: u64,
    /// Events that stand for each other, by their ordinals: of the second run, of the first.
    pairs: Vec<(u64, u64)>,
    /// The last thing of the first run that the step at hand has come to.
    passed: Option<u64>,
    /// Differences in front of which their steps have nothing of the first run.
    unplaced: Vec<usize>,
}

impl Search {
    /// Compares what was said and done in one step.
    pub(super) fn step(&mut self, key: &GroupKey, a: &[Item], b: &[Item]) {
        self.passed = None;
        let prints_a: Vec<_> = a.iter().map(Item::print).collect();
        let prints_b: Vec<_> = b.iter().map(Item::print).collect();
        let pairs = align(&prints_a, &prints_b);
        self.same += pairs.len() as u64;
        let (mut next_a, mut next_b) = (0, 0);
        for &(at_a, at_b) in pairs.iter().chain([&(a.len(), b.len())]) {
            self.gap(key, &a[next_a..at_a], &b[next_b..at_b]);
            if let (Some(x), Some(y)) = (a.get(at_a), b.get(at_b)) {
                self.pair(x, y);
            }
            (next_a, next_b) = (at_a + 1, at_b + 1);
        }
    }

    /// Returns the differences in the order of the first run, and how much was the same.
    pub(super) fn finish(mut self) -> (Vec<Difference>, u64) {
        self.pairs.sort_unstable();
        for at in self.unplaced {
            let place = &mut self.differences[at].place;
            let before = self.pairs.partition_point(|(b, _)| *b < place.1);
            place.0 = before.checked_sub(1).map_or(0, |last| self.pairs[last].1);
        }
        self.differences.sort_by_key(|difference| difference.place);
        (self.differences, self.same)
    }

    /// Pairs what is akin between two places that are the same, in order; the rest is on one side only.
    fn gap(&mut self, key: &GroupKey, a: &[Item], b: &[Item]) {
        let kinds = |items: &[Item]| {
            items.iter().map(|item| super::print::print(&(item.what, &item.name))).collect()
        };
        let (kinds_a, kinds_b): (Vec<u64>, Vec<u64>) = (kinds(a), kinds(b));
        let pairs = align(&kinds_a, &kinds_b);
        let (mut next_a, mut next_b) = (0, 0);
        for &(at_a, at_b) in pairs.iter().chain([&(a.len(), b.len())]) {
            for item in &a[next_a..at_a] {
                self.differ(key, Change::OnlyA, Some(item), None);
            }
            for item in &b[next_b..at_b] {
                self.differ(key, Change::OnlyB, None, Some(item));
            }
            if let (Some(x), Some(y)) = (a.get(at_a), b.get(at_b)) {
                debug_assert!(x.is_akin(y));
                let is_outcome = x.what == What::Tool && x.said == y.said;
                let change = if is_outcome { Change::Outcome } else { Change::Said };
                self.differ(key, change, Some(x), Some(y));
                self.pair(x, y);
            }
            (next_a, next_b) = (at_a + 1, at_b + 1);
        }
    }

    fn pair(&mut self, a: &Item, b: &Item) {
        self.passed = Some(a.ordinal);
        self.pairs.push((b.ordinal, a.ordinal));
    }

    fn differ(&mut self, key: &GroupKey, change: Change, a: Option<&Item>, b: Option<&Item>) {
        let place = match (a, b) {
            (Some(a), _) => {
                self.passed = Some(a.ordinal);
                (a.ordinal, 0)
            }
            (None, b) => {
                if self.passed.is_none() {
                    self.unplaced.push(self.differences.len());
                }
                (self.passed.unwrap_or_default(), b.map_or(u64::MAX, |b| b.ordinal))
            }
        };
        let (a, b) = (a.cloned(), b.cloned());
        self.differences.push(Difference { step: key.clone(), change, a, b, place });
    }
}
