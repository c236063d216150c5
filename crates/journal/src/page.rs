//! Lines of a transcript read by their place, many at a time.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use quipu_event::{Event, decode_line};

/// How much is read ahead at most.
const READ_AHEAD: u64 = 256 * 1024;

/// Where a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinePlace {
    pub(crate) seq: u64,
    pub(crate) offset: u64,
    pub(crate) len: u64,
}

impl LinePlace {
    fn end(self) -> u64 {
        self.offset + self.len
    }
}

/// A piece of a transcript, opened when the first line of it is asked for.
pub(crate) struct Page {
    path: PathBuf,
    file: Option<File>,
    offset: u64,
    bytes: Vec<u8>,
}

impl Page {
    pub(crate) fn of(path: &Path) -> Self {
        Page { path: path.to_owned(), file: None, offset: 0, bytes: Vec::new() }
    }

    /// Returns the event at `line`. Reads on up to `last`, which will be asked for soon.
    pub(crate) fn event_at(
        &mut self,
        line: LinePlace,
        last: Option<LinePlace>,
    ) -> io::Result<Event> {
        if line.offset < self.offset || line.end() > self.offset + self.bytes.len() as u64 {
            let soon = last.map_or(line.end(), LinePlace::end).min(line.offset + READ_AHEAD);
            self.read(line.offset, soon.max(line.end()))?;
        }
        let start = (line.offset - self.offset) as usize;
        let bytes = &self.bytes[start..start + line.len as usize];
        decode_line(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.source))
    }

    fn read(&mut self, from: u64, to: u64) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(File::open(&self.path)?),
        };
        self.bytes.clear();
        self.bytes.resize((to - from) as usize, 0);
        self.offset = from;
        let read = file.read_exact_at(&mut self.bytes, from);
        if read.is_err() {
            self.bytes.clear();
        }
        read
    }
}
