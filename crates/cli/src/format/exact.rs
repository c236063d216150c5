//! The exact lines of a transcript, beside the events a reader makes of them.
//!
//! An event that is encoded anew need not be the line it was read from: other writers date and
//! space theirs differently. So the lines are walked a second time, in step with the reader.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use quipu_journal::Lines;

/// Walks the lines from where a reader starts.
pub(crate) struct ExactLines {
    path: PathBuf,
    lines: Lines,
}

impl ExactLines {
    /// Walks the transcript at `path` from `offset`, where a line must begin.
    pub(crate) fn open(path: &Path, offset: u64) -> io::Result<Self> {
        let path = path.to_owned();
        Ok(ExactLines { lines: Lines::open(&path, offset)?, path })
    }

    /// Forgets what was read ahead. In a file that grows, an unfinished line may have been cut off
    /// and another written in its place.
    pub(crate) fn refresh(&mut self) -> io::Result<()> {
        self.lines = Lines::open(&self.path, self.lines.offset())?;
        Ok(())
    }

    /// Passes over one line; called for every event that is not wanted, and for every damage.
    pub(crate) fn skip(&mut self) -> io::Result<()> {
        self.lines.next().map(|_| ())
    }

    /// Copies one line to `out`, line feed included.
    pub(crate) fn copy(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(line) = self.lines.next()? {
            out.write_all(line.bytes)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

/// Writes JSON to a terminal: what a terminal would obey is spelled as JSON escapes.
///
/// JSON itself forbids the older control characters inside strings, but not DEL and not U+0080 to
/// U+009F, some of which are escape sequences to a terminal.
pub(crate) struct TerminalJson<W> {
    inner: W,
    /// A byte that may begin one of those characters, held back until the next one is known.
    held: bool,
}

/// How every character from U+0080 to U+00BF begins in UTF-8.
const LEAD: u8 = 0xc2;

impl<W: Write> TerminalJson<W> {
    pub(crate) fn new(inner: W) -> Self {
        TerminalJson { inner, held: false }
    }

    fn write_byte(&mut self, byte: u8) -> io::Result<()> {
        match (std::mem::take(&mut self.held), byte) {
            (true, 0x80..=0x9f) => return write!(self.inner, "\\u{byte:04x}"),
            (true, _) => self.inner.write_all(&[LEAD])?,
            (false, _) => {}
        }
        match byte {
            LEAD => {
                self.held = true;
                Ok(())
            }
            0x7f => self.inner.write_all(b"\\u007f"),
            _ => self.inner.write_all(&[byte]),
        }
    }
}

impl<W: Write> Write for TerminalJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        bytes.iter().try_for_each(|&byte| self.write_byte(byte))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_on_a_terminal_says_the_same_and_commands_nothing() {
        let json = "{\"a\":\"\u{9b}2J \u{7f} é £ \u{85}\"}";
        for size in 1..json.len() {
            let mut out = TerminalJson::new(Vec::new());
            json.as_bytes().chunks(size).for_each(|chunk| out.write_all(chunk).unwrap());
            let text = String::from_utf8(out.inner).unwrap();
            assert_eq!(text, "{\"a\":\"\\u009b2J \\u007f é £ \\u0085\"}");
            let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(value(&text), value(json));
        }
    }
}
