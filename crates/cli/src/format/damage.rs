//! Damage met while reading: what counts as damage, and how it is told at the end.

use std::path::Path;

use quipu_event::RunId;
use quipu_journal::{Damage, DamageKind, ReadProblem, writer_of};

use super::count;
use super::entry::short_id;
use super::note::{hint, note};
use crate::exit::Exit;
use crate::settings::Settings;

/// How much damage was met so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DamageCount {
    lines: u64,
}

impl DamageCount {
    /// Counts a damaged line and returns what is wrong with it.
    ///
    /// An unfinished last line of a run that somebody writes is no damage, and nothing is
    /// returned for it. A file that cannot be read is an error.
    pub(crate) fn note(&mut self, problem: ReadProblem) -> anyhow::Result<Option<Damage>> {
        match problem {
            ReadProblem::Io(error) => Err(error.into()),
            ReadProblem::Damaged { path, damage } => {
                if matches!(damage.what, DamageKind::TornTail(_)) && is_being_written(&path) {
                    return Ok(None);
                }
                self.lines += 1;
                Ok(Some(damage))
            }
        }
    }

    /// Counts so many damaged lines.
    pub(crate) fn add(&mut self, lines: u64) {
        self.lines += lines;
    }

    /// Returns how many lines were damaged.
    pub(crate) fn lines(self) -> u64 {
        self.lines
    }

    /// Adds the damage met elsewhere.
    pub(crate) fn merge(&mut self, other: DamageCount) {
        self.lines += other.lines;
    }

    /// Tells of the damage and returns the exit code it leads to.
    pub(crate) fn conclude(self, settings: &Settings, run: Option<&RunId>) -> Exit {
        if self.lines == 0 {
            return Exit::Ok;
        }
        note(&format!("{} damaged", count::of(self.lines, "line")));
        let verify = settings.command(format_args!("verify {}", run.map_or("--all", short_id)));
        hint(&format!("`{verify}` says more"));
        Exit::Damaged
    }
}

/// Tells whether somebody writes the transcript at `path`, so that its last line may be in the
/// making. A file that cannot be asked is taken as left alone.
pub(crate) fn is_being_written(path: &Path) -> bool {
    matches!(writer_of(path), Ok(Some(_)))
}
