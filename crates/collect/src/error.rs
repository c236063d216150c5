//! What can go wrong while collecting, with the file it went wrong with.

use std::io;
use std::path::PathBuf;

use quipu_event::RunId;
use quipu_journal::{OpenError, ReadError, RecordError};

/// Something could not be collected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CollectError {
    /// A session's file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The session's transcript could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The session's transcript could not be read back.
    #[error(transparent)]
    Transcript(#[from] ReadError),
    /// The session's transcript could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Somebody else has recorded the session in the meantime.
    #[error("run {run} was written by somebody else in the meantime")]
    Overtaken {
        /// The run.
        run: RunId,
    },
    /// Changes of files could not be watched.
    #[error("cannot watch {}", path.display())]
    Watch {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: notify::Error,
    },
}

impl CollectError {
    /// Tells whether another process records the same run just now.
    pub fn is_locked(&self) -> bool {
        matches!(self, CollectError::Open(OpenError::Locked { .. }))
    }

    /// Tells whether all is well once the transcript has been read again.
    pub(crate) fn is_overtaken(&self) -> bool {
        matches!(
            self,
            CollectError::Overtaken { .. } | CollectError::Open(OpenError::Exists { .. })
        )
    }

    /// Makes an error of what the system said about `path`.
    pub(crate) fn read(path: impl Into<PathBuf>, source: io::Error) -> Self {
        CollectError::Read { path: path.into(), source }
    }
}
