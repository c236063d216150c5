//! What all runs cost, gathered by all cores, one run at a time each.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quipu_event::RunId;
use quipu_journal::{Layout, ReadError};
use quipu_view::PriceTable;
use quipu_view::receipt::ReceiptOptions;

use super::group::Group;
use super::{By, Groups};
use crate::commands::receipt::read;
use crate::exit::chain;
use crate::format::damage::DamageCount;

/// What was gathered.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) groups: Groups,
    /// How many runs used anything.
    runs: u64,
    pub(super) price_lists: BTreeSet<String>,
    pub(super) damage: DamageCount,
    /// Files that could not be read.
    pub(super) failures: Vec<String>,
}

/// Gathers what `runs` cost.
pub(super) fn gather(
    layout: &Layout,
    runs: &[RunId],
    prices: &Arc<PriceTable>,
    options: ReceiptOptions,
    by: By,
) -> Gathered {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut gathered = Gathered::default();
        while let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = gathered.take(layout, run, prices, options, by) {
                gathered.note_failure(&error);
            }
        }
        gathered
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads.min(runs.len())).map(|_| scope.spawn(work)).collect();
        let mut total = work();
        for worker in workers {
            total.merge(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        total
    })
}

impl Gathered {
    /// Returns the sum over all groups.
    pub(super) fn total(&self) -> Group {
        let mut total = Group { runs: self.runs, ..Group::default() };
        for (_, group) in self.groups.sorted(By::Day) {
            total.used.add(&group.used);
        }
        total
    }

    fn take(
        &mut self,
        layout: &Layout,
        run: &RunId,
        prices: &Arc<PriceTable>,
        options: ReceiptOptions,
        by: By,
    ) -> Result<(), ReadError> {
        let path = layout.transcript(run);
        let Some(receipt) = read(&path, prices, options, &mut self.damage)? else { return Ok(()) };
        // Some writers tell a called run in the file of its caller; it may have its own besides.
        let told = receipt.called.iter().filter_map(|called| called.receipt.as_ref());
        let told = told.filter(|told| !layout.transcript(&told.run_id).is_file());
        for receipt in std::iter::once(&receipt).chain(told) {
            self.runs += u64::from(!receipt.own().is_empty());
            self.price_lists.extend(receipt.prices.iter().cloned());
            self.groups.add(receipt, by);
        }
        Ok(())
    }

    fn note_failure(&mut self, error: &ReadError) {
        // A run that was removed meanwhile is no longer there to be counted.
        if error.source.kind() != io::ErrorKind::NotFound {
            self.failures.push(chain(error));
        }
    }

    fn merge(&mut self, other: Gathered) {
        self.groups.merge(other.groups);
        self.runs += other.runs;
        self.price_lists.extend(other.price_lists);
        self.damage.merge(other.damage);
        self.failures.extend(other.failures);
    }
}
