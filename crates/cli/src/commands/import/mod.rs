//! `quipu import`: takes over the files of other recorders.

mod summary;

use std::path::{Path, PathBuf};

use quipu_collect::import::{Found, ImportError, Request, System, find, import};
use quipu_journal::OpenError;

use super::record::Keeping;
use crate::Context;
use crate::exit::{Exit, UserError};
use summary::Summary;

/// Take over the files of other recorders
///
/// PATH is a file, the folder of a run, or a folder that holds many of them; whose they are is
/// found out. Each becomes a run of its own, under its own id where that is free, with the exact
/// foreign text beside each event. Importing again adds what is new and otherwise does nothing.
/// Known are AWF transcripts, kgent and Flow Studio runs, and WINK debug bundles.
///
/// What cannot be read is kept as `unknown` and told with its file and line; the exit code is 3.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu import ~/.local/share/awf/transcripts\n  \
    quipu import swarm/runs --dry-run\n  \
    quipu import bundles/9c98_20261115.zip runs/run_42 --json")]
pub(crate) struct Args {
    /// What to import (repeatable)
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    keeping: Keeping,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let request = Request { options: args.keeping.options(context)?, dry_run: args.dry_run };
    // All paths are looked at before anything is written: a mistyped one should cost nothing.
    let mut runs: Vec<Found> = Vec::new();
    for path in &args.paths {
        runs.extend(find(path).map_err(|error| not_found(path, error))?);
    }
    let mut summary = Summary::new(args.dry_run);
    for found in &runs {
        match import(&layout, found, &request) {
            Ok(outcome) => summary.add(outcome),
            Err(error) => summary.fail(context.screen, found.path(), &error, exit_of(&error)),
        }
    }
    summary.tell(context.screen)
}

/// A path that leads nowhere is the user's; everything else is as bad as it is.
fn not_found(path: &Path, error: ImportError) -> anyhow::Error {
    match error {
        ImportError::Unknown { .. } => {
            let known: Vec<_> = System::ALL.iter().map(|system| system.about()).collect();
            let hint = format!("known are {}", known.join("; "));
            UserError::new(error.to_string()).with_hint(hint).into()
        }
        ImportError::OwnTranscript { .. } => {
            let hint = "copy it into the transcripts of a storage; nothing has to be changed in it";
            UserError::new(error.to_string()).with_hint(hint).into()
        }
        ImportError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            UserError::new(format!("there is no {}", path.display())).into()
        }
        ImportError::Archive { .. } | ImportError::TooLarge { .. } => {
            UserError::new(error.to_string()).into()
        }
        other => other.into(),
    }
}

fn exit_of(error: &ImportError) -> Exit {
    match error {
        ImportError::Archive { .. } | ImportError::TooLarge { .. } => Exit::Damaged,
        ImportError::Open(OpenError::NotATranscript { .. }) => Exit::Damaged,
        ImportError::Open(OpenError::Locked { .. } | OpenError::Exists { .. }) => Exit::User,
        ImportError::Meanwhile { .. } => Exit::User,
        _ => Exit::System,
    }
}
