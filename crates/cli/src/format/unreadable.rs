//! Transcripts that could not be read, and so are missing from what is shown of all runs.

use quipu_journal::ReadError;

use super::count;
use super::note::warning;
use crate::exit::Exit;

/// So many are told one by one; the rest are counted.
const TOLD: usize = 5;

/// Tells of them and returns the exit code they lead to.
pub(crate) fn tell(unreadable: &[ReadError]) -> Exit {
    for error in unreadable.iter().take(TOLD) {
        warning(&format!("{} cannot be read: {}", error.path.display(), error.source));
    }
    if let Some(more @ 1..) = unreadable.len().checked_sub(TOLD) {
        warning(&format!("{} cannot be read either", count::of(more as u64, "transcript")));
    }
    if unreadable.is_empty() { Exit::Ok } else { Exit::System }
}
