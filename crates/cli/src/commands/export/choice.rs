//! Which runs are exported.

use std::collections::BTreeMap;
use std::time::SystemTime;

use quipu_event::{RunId, Timestamp};
use quipu_journal::{Layout, RunListing, find_run, list_runs, look_at};

use super::Args;
use crate::exit::UserError;

/// The runs to export, and how much there is to read at least.
pub(super) struct Choice {
    pub(super) runs: Vec<RunId>,
    pub(super) bytes: u64,
}

/// Returns the runs that were asked for, callers before those they call.
pub(super) fn choose(layout: &Layout, args: &Args) -> anyhow::Result<Choice> {
    if !args.all && args.since.is_none() {
        let mut choice = Choice { runs: Vec::new(), bytes: 0 };
        for name in &args.runs {
            let run = find_run(layout, name)?;
            choice.bytes += look_at(layout, &run).map_or(0, |listing| listing.bytes);
            choice.runs.push(run);
        }
        return Ok(choice);
    }
    let since = args.since.map(|since| since.0);
    let mut listed = list_runs(layout)?;
    listed.retain(|run| since.is_none_or(|since| started_since(run, since)));
    if listed.is_empty() {
        let message = match since {
            Some(_) => "no run started since then",
            None => "there are no runs",
        };
        let hint = format!("the storage is {}", layout.storage().display());
        return Err(UserError::new(message).with_hint(hint).into());
    }
    let bytes = listed.iter().map(|run| run.bytes).sum();
    Ok(Choice { runs: callers_first(listed), bytes })
}

fn started_since(run: &RunListing, since: SystemTime) -> bool {
    let Some(first) = &run.first else { return false };
    let since = since.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |span| span.as_micros());
    i128::from(first.timestamp.as_micros()) >= since as i128
}

/// Puts runs without a caller among them first, the oldest first: each brings those it calls.
fn callers_first(listed: Vec<RunListing>) -> Vec<RunId> {
    let parent_of = |run: &RunListing| run.first.as_ref()?.parent_run_id.clone();
    let known: BTreeMap<RunId, Option<Timestamp>> = listed
        .iter()
        .map(|run| (run.run_id.clone(), run.first.as_ref().map(|first| first.timestamp)))
        .collect();
    let is_called = |run: &RunListing| parent_of(run).is_some_and(|run| known.contains_key(&run));
    let (called, callers): (Vec<_>, Vec<_>) = listed.into_iter().rev().partition(is_called);
    callers.into_iter().chain(called).map(|run| run.run_id).collect()
}
