//! What can go wrong with a journal, with the facts that a person needs to act on it.

use std::io;
use std::path::PathBuf;

use quipu_event::{MAX_DEPTH, RunId};

use crate::lock::Holder;

/// A run could not be opened for writing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A run of this id has a transcript already.
    #[error("run {run} exists already at {}", path.display())]
    Exists {
        /// The run.
        run: RunId,
        /// Its transcript.
        path: PathBuf,
    },
    /// There is no such run.
    #[error("no transcript of run {run} at {}", path.display())]
    Missing {
        /// The run.
        run: RunId,
        /// Where its transcript would be.
        path: PathBuf,
    },
    /// Another recorder writes this run.
    #[error("run {run} is being written by {holder}")]
    Locked {
        /// The run.
        run: RunId,
        /// Who holds it.
        holder: Holder,
    },
    /// The file has content, none of which is an event.
    #[error("{} is not a transcript: none of its lines is an event", path.display())]
    NotATranscript {
        /// The file.
        path: PathBuf,
    },
    /// The disk refused.
    #[error("cannot open {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The file was opened and put in order, and then could not be written to.
    #[error("cannot record what recovery found")]
    Record(#[from] RecordError),
}

/// An event was not recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The write or sync failed. Said once; from now on the recorder answers `Poisoned`.
    #[error("cannot write to {}; nothing more of this run will be recorded", path.display())]
    Write {
        /// The transcript.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// An earlier write failed, so the recorder has stopped numbering.
    #[error("recording of {} stopped after a failed write: {reason}", path.display())]
    Poisoned {
        /// The transcript.
        path: PathBuf,
        /// The first failure.
        reason: String,
    },
    /// The recorder was closed.
    #[error("the recorder of {} is closed", path.display())]
    Closed {
        /// The transcript.
        path: PathBuf,
    },
    /// The payload nests deeper than ordinary readers follow.
    #[error("the payload nests deeper than {MAX_DEPTH} levels; the event was not recorded")]
    TooDeep,
    /// The mask hook failed, so the event was not let through unmasked.
    #[error("the mask hook failed; the event was not recorded")]
    Mask,
}

/// A note could not be left or recorded. One that was left goes on waiting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoteError {
    /// The disk refused.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The run could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The run could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// A transcript could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}", path.display())]
pub struct ReadError {
    /// The file or directory.
    pub path: PathBuf,
    /// What the system said.
    #[source]
    pub source: io::Error,
}
