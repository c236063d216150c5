//! What can go wrong on the way out.

use std::io;

use quipu_event::RunId;
use quipu_journal::ReadError;

use crate::folder::FolderError;

/// A run could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Its transcript cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The files cannot be written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A view could not make its files.
    #[error("run {run}: {reason}")]
    View {
        /// The run.
        run: RunId,
        /// What kept it.
        reason: String,
    },
    /// No thread could be started.
    #[error("cannot start a thread to write from")]
    Thread(#[source] io::Error),
    /// A view failed in a way that it must not.
    #[error("the view stopped in the middle of its work")]
    Panicked,
}
