//! Why an import could not be made.

use std::io;
use std::path::PathBuf;

use quipu_event::RunId;
use quipu_journal::{OpenError, ReadError, RecordError};

/// An import could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Nobody's files that we know.
    #[error("{} holds no run of a recorder that is known", path.display())]
    Unknown {
        /// What was given.
        path: PathBuf,
    },
    /// A transcript of our own.
    #[error("{} is a transcript of quipu already", path.display())]
    OwnTranscript {
        /// What was given.
        path: PathBuf,
    },
    /// The archive cannot be read.
    #[error("cannot read the archive {}: {what}", path.display())]
    Archive {
        /// The archive.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A file is larger than an import takes.
    #[error("{} has {bytes} bytes, more than the {limit} that an import takes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How large it is, as far as is known.
        bytes: u64,
        /// How large it may be.
        limit: u64,
    },
    /// Somebody else wrote the run meanwhile.
    #[error("run {run} was written by somebody else meanwhile; import again")]
    Meanwhile {
        /// The run.
        run: RunId,
    },
    /// The disk refused a foreign file.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Our own run could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Our own run could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Our own run could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl ImportError {
    pub(super) fn io(path: impl Into<PathBuf>, source: io::Error) -> Self {
        ImportError::Io { path: path.into(), source }
    }
}
