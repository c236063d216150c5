//! What collecting comes to, in numbers.

use std::path::PathBuf;

use quipu_event::RunId;
use quipu_event::payload::TokenCounts;

use crate::error::CollectError;
use crate::plan::Session;

/// What became of one session.
#[derive(Debug)]
pub struct SessionReport {
    /// The run it is recorded as.
    pub run_id: RunId,
    /// Whose session it is.
    pub provider: &'static str,
    /// The agent's own name for it.
    pub session: String,
    /// Its main file.
    pub path: PathBuf,
    /// How many files of it were read.
    pub files: u64,
    /// How many bytes were read.
    pub bytes: u64,
    /// How many events were recorded.
    pub events: u64,
    /// Whether it was not there before.
    pub is_new: bool,
    /// The tokens of the whole session.
    pub usage: TokenCounts,
    /// How many things are wrong with its files.
    pub problems: u64,
    /// How many of its files end in the middle of a record.
    pub unfinished: u64,
    /// Why it could not be collected, if so.
    pub error: Option<CollectError>,
}

impl SessionReport {
    /// Begins the report on `session`.
    pub(crate) fn of(session: &Session, is_new: bool) -> Self {
        SessionReport {
            run_id: session.run_id.clone(),
            provider: session.provider.name,
            session: session.session.clone(),
            path: session.sources.first().map(|file| file.path.clone()).unwrap_or_default(),
            files: 0,
            bytes: 0,
            events: 0,
            is_new,
            usage: TokenCounts::default(),
            problems: 0,
            unfinished: 0,
            error: None,
        }
    }
}

/// What became of the sessions of one provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Sessions that were not there before.
    pub new: u64,
    /// Sessions that had more than before.
    pub grown: u64,
    /// Sessions that were read and had nothing new.
    pub same: u64,
    /// Files that had not changed, and were not read.
    pub unchanged_files: u64,
    /// Files that were read.
    pub files: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Events that were recorded.
    pub events: u64,
    /// Things that are wrong with the files.
    pub problems: u64,
    /// Files that end in the middle of a record.
    pub unfinished: u64,
    /// Sessions that could not be collected.
    pub failed: u64,
}

impl Totals {
    /// Adds what became of a session.
    pub fn add(&mut self, session: &SessionReport) {
        self.files += session.files;
        self.bytes += session.bytes;
        self.events += session.events;
        self.problems += session.problems;
        self.unfinished += session.unfinished;
        match session {
            SessionReport { error: Some(_), .. } => self.failed += 1,
            SessionReport { is_new: true, .. } => self.new += 1,
            SessionReport { events: 0, .. } => self.same += 1,
            _ => self.grown += 1,
        }
    }
}
