//! A run's receipt and those of the runs it called.
//!
//! Where the other receipts come from is the caller's business.

use std::collections::{HashSet, VecDeque};

use quipu_event::RunId;

use super::{Bill, Receipt};

/// A run that was called, directly or by a run that was called.
#[derive(Clone, Debug, PartialEq)]
pub struct CalledRun {
    /// The run that called it; nothing if nobody knows.
    pub by: Option<RunId>,
    /// The step that called it.
    pub path: String,
    /// Which run.
    pub run_id: RunId,
    /// What it cost by itself; nothing if there is no such run to be had.
    pub receipt: Option<Receipt>,
}

impl CalledRun {
    /// Returns what it used by itself. A run that is not to be had used nobody knows what.
    pub fn bill(&self) -> Bill {
        match &self.receipt {
            Some(receipt) => receipt.own(),
            None => Bill { lacking_runs: 1, ..Bill::default() },
        }
    }
}

/// Puts the receipts of all runs that were called beside `receipt`.
///
/// `lookup` answers with a run's receipt, or nothing if there is none to be had. Each run is asked
/// for once, so runs that call each other in a circle come to an end and nothing is paid twice.
pub fn join(mut receipt: Receipt, lookup: &mut dyn FnMut(&RunId) -> Option<Receipt>) -> Receipt {
    let mut seen = HashSet::from([receipt.run_id.clone()]);
    let present = receipt.called.iter().map(|run| run.run_id.clone());
    seen.extend(present);
    let mut calls: VecDeque<(RunId, String, RunId)> = calls_of(&receipt).collect();
    for run in &receipt.called {
        calls.extend(run.receipt.iter().flat_map(calls_of));
    }
    while let Some((by, path, run_id)) = calls.pop_front() {
        if !seen.insert(run_id.clone()) {
            continue;
        }
        let mut found = lookup(&run_id);
        if let Some(found) = &mut found {
            calls.extend(calls_of(found));
            // Runs told in that run's own file are called like all others.
            for stray in found.called.drain(..) {
                if seen.insert(stray.run_id.clone()) {
                    calls.extend(stray.receipt.iter().flat_map(calls_of));
                    receipt.called.push(stray);
                }
            }
        }
        receipt.called.push(CalledRun { by: Some(by), path, run_id, receipt: found });
    }
    receipt
}

fn calls_of(receipt: &Receipt) -> impl Iterator<Item = (RunId, String, RunId)> + use<> {
    let by = receipt.run_id.clone();
    let calls = receipt.calls.clone().into_iter();
    calls.map(move |(path, run_id)| (by.clone(), path, run_id))
}
