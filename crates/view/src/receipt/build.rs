//! Events → receipt.

mod run;

use std::collections::HashMap;
use std::sync::Arc;

use quipu_event::{Event, Kind, RunId, Timestamp};

use super::join::CalledRun;
use super::{Receipt, join};
use crate::price::{PriceTable, Pricer};
use run::RunBuilder;

/// How a receipt is to be made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiptOptions {
    /// Whether each iteration, each attempt and each subagent is told for itself.
    pub each: bool,
    /// Usage before this moment is left out.
    pub since: Option<Timestamp>,
    /// Usage from this moment on is left out.
    pub until: Option<Timestamp>,
}

/// Tells whether events of this type have a place on a receipt. All others may be left out.
pub fn is_needed(kind: &str) -> bool {
    kind == Kind::Usage.as_str()
        || kind == Kind::MessageAssistant.as_str()
        || kind.starts_with("step.")
        || kind.starts_with("run.")
}

/// A receipt while its events arrive.
///
/// The first event says which run it is. Events of other runs among them, which some writers put
/// into the file of the calling run, become receipts of their own beside it.
#[derive(Clone, Debug)]
pub struct ReceiptBuilder {
    options: ReceiptOptions,
    pricer: Pricer,
    /// The run itself comes first.
    runs: Vec<RunBuilder>,
    by_id: HashMap<RunId, usize>,
}

impl ReceiptBuilder {
    /// Begins a receipt with the prices of `table`.
    pub fn new(table: Arc<PriceTable>, options: ReceiptOptions) -> Self {
        ReceiptBuilder {
            options,
            pricer: Pricer::new(table),
            runs: Vec::new(),
            by_id: HashMap::new(),
        }
    }

    /// Takes the next event.
    pub fn add(&mut self, event: &Event) {
        let position = match self.by_id.get(&event.run_id) {
            Some(&position) => position,
            None => {
                self.runs.push(RunBuilder::new(event, self.options));
                self.by_id.insert(event.run_id.clone(), self.runs.len() - 1);
                self.runs.len() - 1
            }
        };
        self.runs[position].add(event, &mut self.pricer);
    }

    /// Takes note that something happened at `moment` which was not worth an event.
    pub fn hear_until(&mut self, moment: Timestamp) {
        if let Some(run) = self.runs.first_mut() {
            run.hear_until(moment);
        }
    }

    /// Returns the receipt, or nothing if there was no event.
    pub fn finish(self) -> Option<Receipt> {
        let table = self.pricer.table();
        let mut runs = self.runs.into_iter().map(|run| run.finish(table));
        let root = runs.next()?;
        let mut others: HashMap<RunId, Receipt> =
            runs.map(|receipt| (receipt.run_id.clone(), receipt)).collect();
        if others.is_empty() {
            return Some(root);
        }
        let mut root = join(root, &mut |run| others.remove(run));
        // A run that has a file of its own is asked for there.
        root.called.retain(|run| run.receipt.is_some());
        let mut strays: Vec<Receipt> = others.into_values().collect();
        strays.sort_by(|a, b| a.run_id.cmp(&b.run_id));
        root.called.extend(strays.into_iter().map(|receipt| CalledRun {
            by: receipt.parent_run_id.clone(),
            path: String::new(),
            run_id: receipt.run_id.clone(),
            receipt: Some(receipt),
        }));
        Some(root)
    }
}
