//! The lines of a file, in flat memory: only the line at hand is held, however large the file.
//!
//! A line ends at byte 0x0A and nowhere else. What a line means is not this file's business.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::open::open;

/// How much is read at a time. Small enough to stay in a core's own cache.
const CHUNK: usize = 256 * 1024;
/// How much a walk from the end reads first.
const FIRST_CHUNK: usize = 4 * 1024;

/// One line of a file.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Where it begins in the file.
    pub offset: u64,
    /// Its bytes, without the line feed.
    pub bytes: &'a [u8],
    /// Whether a line feed ends it; only a file's last line may lack one.
    pub end: LineEnd,
}

/// What a line ends in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// A line feed.
    Feed,
    /// The end of the file: the line is torn, or still being written.
    Missing,
}

impl Line<'_> {
    /// Returns where the next line begins.
    pub fn end_offset(&self) -> u64 {
        self.offset + self.bytes.len() as u64 + u64::from(self.end == LineEnd::Feed)
    }
}

/// Walks the lines of a file from some offset on.
///
/// Reads by position, so the file may grow meanwhile: a walk that came to the end goes on where
/// it stopped when asked again.
#[derive(Debug)]
pub struct Lines {
    file: File,
    buffer: Vec<u8>,
    /// The file's bytes from here on are what `buffer[start..filled]` holds.
    offset: u64,
    start: usize,
    filled: usize,
    /// How far past `start` there is certainly no line feed.
    searched: usize,
}

impl Lines {
    /// Walks `file` from `offset`, which must be where a line begins.
    pub fn new(file: File, offset: u64) -> Self {
        Lines { file, buffer: Vec::new(), offset, start: 0, filled: 0, searched: 0 }
    }

    /// Walks the file at `path` from `offset`. Fails when there is anything but a file, rather than
    /// wait for the other end of a pipe.
    pub fn open(path: &Path, offset: u64) -> io::Result<Self> {
        Ok(Lines::new(open(path)?, offset))
    }

    /// Returns where the next line begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Returns the next line; nothing at the end of the file.
    ///
    /// A last line without a line feed is returned with [`LineEnd::Missing`].
    #[expect(clippy::should_implement_trait, reason = "a line borrows from the walk")]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        match self.next_whole_line()? {
            Some(end) => Ok(Some(self.take(end, LineEnd::Feed))),
            None if self.start == self.filled => Ok(None),
            None => Ok(Some(self.take(self.filled, LineEnd::Missing))),
        }
    }

    /// Returns the next line that has its line feed; leaves an unfinished one for later.
    pub fn next_whole(&mut self) -> io::Result<Option<Line<'_>>> {
        match self.next_whole_line()? {
            Some(end) => Ok(Some(self.take(end, LineEnd::Feed))),
            None => {
                // The unfinished bytes are read anew next time: they may be cut off meanwhile.
                (self.start, self.filled, self.searched) = (0, 0, 0);
                Ok(None)
            }
        }
    }

    /// Finds where in the buffer the next line feed is, reading on as needed.
    fn next_whole_line(&mut self) -> io::Result<Option<usize>> {
        loop {
            let from = self.start + self.searched;
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[from..self.filled]) {
                return Ok(Some(from + found));
            }
            self.searched = self.filled - self.start;
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Reads more behind what is there. Answers whether there was more.
    fn fill(&mut self) -> io::Result<bool> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.filled, 0);
            self.filled -= self.start;
            self.start = 0;
        }
        if self.filled + CHUNK / 2 > self.buffer.len() {
            self.buffer.resize((self.filled * 2).max(CHUNK), 0);
        }
        let position = self.offset + self.filled as u64;
        loop {
            match self.file.read_at(&mut self.buffer[self.filled..], position) {
                Ok(count) => {
                    self.filled += count;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn take(&mut self, end: usize, ending: LineEnd) -> Line<'_> {
        let (start, offset) = (self.start, self.offset);
        let line = Line { offset, bytes: &self.buffer[start..end], end: ending };
        self.offset = line.end_offset();
        self.start = end + usize::from(ending == LineEnd::Feed);
        self.searched = 0;
        line
    }
}

/// Walks the lines of a file from its end to its beginning.
#[derive(Debug)]
pub(crate) struct LinesBackward {
    file: File,
    /// The file's bytes from `offset` on for `buffer.len()` bytes; lines are taken off its end.
    buffer: Vec<u8>,
    offset: u64,
    /// Where in the buffer the last line not yet returned ends, its line feed included.
    end: usize,
    /// How much to read next time: little at first, since most only want the last line.
    chunk: usize,
}

impl LinesBackward {
    /// Walks `file` backward from its present end.
    pub(crate) fn new(file: File) -> io::Result<Self> {
        let offset = file.metadata()?.len();
        Ok(LinesBackward { file, buffer: Vec::new(), offset, end: 0, chunk: FIRST_CHUNK })
    }

    /// Returns the line before the one returned last; nothing at the beginning of the file.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        if self.end == 0 && !self.fill()? {
            return Ok(None);
        }
        let ending =
            if self.buffer[self.end - 1] == b'\n' { LineEnd::Feed } else { LineEnd::Missing };
        let mut searched = 0;
        let start = loop {
            let content = self.end - usize::from(ending == LineEnd::Feed);
            if let Some(found) = memchr::memrchr(b'\n', &self.buffer[..content - searched]) {
                break found + 1;
            }
            searched = content;
            if !self.fill()? {
                break 0;
            }
        };
        let content = self.end - usize::from(ending == LineEnd::Feed);
        self.end = start;
        let offset = self.offset + start as u64;
        Ok(Some(Line { offset, bytes: &self.buffer[start..content], end: ending }))
    }

    /// Reads what stands before the buffer, at least doubling it when one line fills it all.
    fn fill(&mut self) -> io::Result<bool> {
        if self.offset == 0 {
            return Ok(false);
        }
        let wanted = (self.chunk as u64).min(self.offset);
        self.chunk = (self.chunk * 2).min(CHUNK).max(self.end);
        let mut bytes = vec![0; wanted as usize];
        self.file.read_exact_at(&mut bytes, self.offset - wanted)?;
        self.offset -= wanted;
        bytes.extend_from_slice(&self.buffer[..self.end]);
        self.end = bytes.len();
        self.buffer = bytes;
        Ok(true)
    }
}
