//! Which run a person means by a few characters of its id, or by `last`.

use quipu_event::RunId;

use crate::error::ReadError;
use crate::layout::Layout;
use crate::runs::{beginnings_unordered, run_ids_unordered};

/// The word that names the run that started last.
pub const LAST: &str = "last";

/// How many candidates an ambiguous name is answered with.
const SHOWN: usize = 5;

/// No run, or more than one, goes by a name.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// No run has this id or begins with it.
    #[error("no run {name:?} in {storage}")]
    NoneSuch {
        /// What was asked for.
        name: String,
        /// Where it was looked for.
        storage: String,
    },
    /// There are no runs at all.
    #[error("there are no runs in {storage}")]
    NoRuns {
        /// Where they were looked for.
        storage: String,
    },
    /// Several runs begin with it.
    #[error("{name:?} could be any of {count} runs: {}", shown(candidates, *count))]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// Some of the runs it could be.
        candidates: Vec<RunId>,
        /// How many there are.
        count: usize,
    },
    /// The storage cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Finds the run that `name` means: an exact id, any unique beginning of one, or `last`.
///
/// `last` is the run that started last and was not called by another run; only where there is no
/// such run is it one that was called.
pub fn find_run(layout: &Layout, name: &str) -> Result<RunId, FindError> {
    let storage = layout.storage().display().to_string();
    let exact = RunId::parse(name).ok().filter(|id| layout.transcript(id).is_file());
    if let Some(id) = exact {
        return Ok(id);
    }
    if name == LAST {
        return newest(layout)?.ok_or(FindError::NoRuns { storage });
    }
    let mut candidates = run_ids_unordered(layout)?;
    candidates.retain(|id| id.as_str().starts_with(name));
    candidates.sort();
    let name = name.to_owned();
    match candidates.len() {
        1 => Ok(candidates.remove(0)),
        0 => Err(FindError::NoneSuch { name, storage }),
        count => {
            candidates.truncate(SHOWN);
            Err(FindError::Ambiguous { name, candidates, count })
        }
    }
}

/// Finds the run that was called by no other and started last. Runs without a first event come last,
/// and called ones behind all others.
fn newest(layout: &Layout) -> Result<Option<RunId>, ReadError> {
    let runs = beginnings_unordered(layout)?;
    let newest = runs.into_iter().min_by(|a, b| {
        let called = a.is_called.cmp(&b.is_called);
        called.then_with(|| b.started.cmp(&a.started)).then_with(|| a.run_id.cmp(&b.run_id))
    });
    Ok(newest.map(|run| run.run_id))
}

fn shown(candidates: &[RunId], count: usize) -> String {
    let mut text = candidates.iter().map(RunId::as_str).collect::<Vec<_>>().join(", ");
    if count > candidates.len() {
        text.push_str(", …");
    }
    text
}
