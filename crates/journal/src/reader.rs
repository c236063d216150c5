//! Events read back from a transcript: tolerant, in flat memory, never writing.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use quipu_event::{Event, LineDecoder, LineError};

use crate::error::ReadError;
use crate::lines::{Line, LineEnd, Lines, LinesBackward};
use crate::seek;

/// A place in a transcript that holds no event.
#[derive(Debug, thiserror::Error)]
#[error("line {line}, byte {offset}: {what}")]
pub struct Damage {
    /// The line, from 1.
    pub line: u64,
    /// Where it begins in the file.
    pub offset: u64,
    /// How many bytes it has.
    pub len: u64,
    /// What is wrong with it.
    pub what: DamageKind,
}

/// What is wrong with a line.
#[derive(Debug, thiserror::Error)]
pub enum DamageKind {
    /// The file ends in the middle of a line: torn by a crash, or still being written.
    #[error("the last line is torn: {0} bytes without a line feed")]
    TornTail(u64),
    /// The line is not an event.
    #[error("not an event: {}", byte_for_column(&.0.source))]
    NotAnEvent(LineError),
    /// The line is empty.
    #[error("the line is empty")]
    Empty,
}

/// What a reader can meet.
#[derive(Debug, thiserror::Error)]
pub enum ReadProblem {
    /// One line is damaged; reading goes on behind it.
    #[error("{}: {damage}", path.display())]
    Damaged {
        /// The transcript.
        path: PathBuf,
        /// What is wrong, and where.
        damage: Damage,
    },
    /// The file cannot be read; reading ends here.
    #[error(transparent)]
    Io(#[from] ReadError),
}

/// Iterates the events of a transcript from some point to its present end.
///
/// Damaged lines are reported where they stand, and reading goes on behind them. Memory stays at
/// one buffer and one line, however large the file is.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    lines: Lines,
    decoder: LineDecoder,
    /// How many lines stand before `lines`, once somebody had to know.
    lines_before_start: Option<u64>,
    start: u64,
    lines_read: u64,
    failed: bool,
}

impl Reader {
    /// Opens the transcript at `path` and starts at its first line.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ReadError> {
        let path = path.into();
        let file = open(&path)?;
        Ok(Reader::at_offset(path, file, 0))
    }

    /// Opens the transcript at `path` and starts at the first event numbered `seq` or higher.
    ///
    /// Finds it by halving, without reading what stands before.
    pub fn from_seq(path: impl Into<PathBuf>, seq: u64) -> Result<Self, ReadError> {
        let path = path.into();
        let file = open(&path)?;
        let offset = seek::offset_of(&file, seq).map_err(|source| io_error(&path, source))?;
        Ok(Reader::at_offset(path, file, offset))
    }

    fn at_offset(path: PathBuf, file: File, offset: u64) -> Self {
        Reader {
            path,
            lines: Lines::new(file, offset),
            decoder: LineDecoder::default(),
            lines_before_start: (offset == 0).then_some(0),
            start: offset,
            lines_read: 0,
            failed: false,
        }
    }

    /// Returns where the next line begins.
    pub fn offset(&self) -> u64 {
        self.lines.offset()
    }

    /// Returns the next event that has its line feed, leaving an unfinished line for later.
    ///
    /// Asked again after the file has grown, it goes on where it stopped.
    pub(crate) fn next_settled(&mut self) -> Option<Result<Event, ReadProblem>> {
        let line = self.lines.next_whole();
        self.lines_read += 1;
        let outcome = match line {
            Ok(Some(line)) => decode(&line, &mut self.decoder),
            Ok(None) => {
                self.lines_read -= 1;
                return None;
            }
            Err(source) => return Some(Err(io_error(&self.path, source).into())),
        };
        Some(outcome.map_err(|found| self.damaged(found)))
    }

    fn damaged(&mut self, found: Found) -> ReadProblem {
        let before = self
            .lines_before_start
            .map_or_else(|| seek::count_lines_before(self.lines.file(), self.start), Ok);
        match before {
            Ok(before) => {
                self.lines_before_start = Some(before);
                let Found { offset, len, what } = found;
                let damage = Damage { line: before + self.lines_read, offset, len, what };
                ReadProblem::Damaged { path: self.path.clone(), damage }
            }
            Err(source) => io_error(&self.path, source).into(),
        }
    }
}

impl Iterator for Reader {
    type Item = Result<Event, ReadProblem>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let line = self.lines.next();
        self.lines_read += 1;
        let outcome = match line {
            Ok(None) => {
                self.lines_read -= 1;
                return None;
            }
            Ok(Some(line)) => decode(&line, &mut self.decoder),
            Err(source) => {
                self.failed = true;
                return Some(Err(io_error(&self.path, source).into()));
            }
        };
        Some(outcome.map_err(|found| self.damaged(found)))
    }
}

/// Iterates the events of a transcript from its present end to its beginning.
///
/// Damaged lines are reported as in [`Reader`].
#[derive(Debug)]
pub struct ReaderBackward {
    path: PathBuf,
    file: File,
    lines: LinesBackward,
    decoder: LineDecoder,
    failed: bool,
}

impl ReaderBackward {
    /// Opens the transcript at `path` and starts at its last line.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ReadError> {
        let path = path.into();
        let file = open(&path)?;
        let clone = |file: &File| LinesBackward::new(file.try_clone()?);
        let lines = clone(&file).map_err(|source| io_error(&path, source))?;
        let decoder = LineDecoder::default();
        Ok(ReaderBackward { path, file, lines, decoder, failed: false })
    }
}

impl Iterator for ReaderBackward {
    type Item = Result<Event, ReadProblem>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let found = match self.lines.next() {
            Ok(None) => return None,
            Ok(Some(line)) => match decode(&line, &mut self.decoder) {
                Ok(event) => return Some(Ok(event)),
                Err(found) => found,
            },
            Err(source) => {
                self.failed = true;
                return Some(Err(io_error(&self.path, source).into()));
            }
        };
        let Found { offset, len, what } = found;
        Some(Err(match seek::count_lines_before(&self.file, offset) {
            Ok(before) => ReadProblem::Damaged {
                path: self.path.clone(),
                damage: Damage { line: before + 1, offset, len, what },
            },
            Err(source) => io_error(&self.path, source).into(),
        }))
    }
}

/// Damage before its line number is known.
pub(crate) struct Found {
    offset: u64,
    len: u64,
    pub(crate) what: DamageKind,
}

pub(crate) fn decode(line: &Line<'_>, decoder: &mut LineDecoder) -> Result<Event, Found> {
    let len = line.bytes.len() as u64;
    let what = if line.end == LineEnd::Missing {
        DamageKind::TornTail(len)
    } else if line.bytes.is_empty() {
        DamageKind::Empty
    } else {
        match decoder.decode(line.bytes) {
            Ok(event) => return Ok(event),
            Err(error) => DamageKind::NotAnEvent(error),
        }
    };
    Err(Found { offset: line.offset, len, what })
}

fn open(path: &Path) -> Result<File, ReadError> {
    crate::open::open(path).map_err(|source| io_error(path, source))
}

/// Says what is wrong in a text of one line: of the place, only the byte is news.
pub(crate) fn byte_for_column(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at byte ")
}

pub(crate) fn io_error(path: &Path, source: io::Error) -> ReadError {
    ReadError { path: path.to_owned(), source }
}
