//! Bytes of a client → lines, never longer than we are ready to hold. What a line means is not known here.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// The longest message of a client, in bytes. Whoever sends a longer one is not listened to any more.
pub const LONGEST_MESSAGE: usize = 16 * 1024 * 1024;

/// The lines of a client.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    longest: usize,
}

/// What a client sends next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A line without its end. The last one may have had none.
    Line(Vec<u8>),
    /// A line that is longer than we are ready to hold.
    TooLong,
    /// Nothing any more.
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, longest: usize) -> Self {
        Lines { reader: BufReader::new(reader), longest }
    }

    /// Waits for the next line.
    ///
    /// # Errors
    ///
    /// Fails when the stream does.
    pub(super) async fn next(&mut self) -> io::Result<Next> {
        let mut line = Vec::new();
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(if line.is_empty() { Next::End } else { Next::Line(line) });
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(available.len());
            if line.len() + taken > self.longest {
                return Ok(Next::TooLong);
            }
            line.extend_from_slice(&available[..taken]);
            self.reader.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(Next::Line(line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_end_with_a_newline_or_with_the_stream_and_are_no_longer_than_allowed() {
        let mut lines = Lines::new(&b"one\n\n123456789\nlast"[..], 9);
        for expected in ["one", "", "123456789", "last"] {
            assert_eq!(lines.next().await.unwrap(), Next::Line(expected.into()));
        }
        assert_eq!(lines.next().await.unwrap(), Next::End);
        let mut lines = Lines::new(&b"one\n1234567890\n"[..], 9);
        assert_eq!(lines.next().await.unwrap(), Next::Line("one".into()));
        assert_eq!(lines.next().await.unwrap(), Next::TooLong);
    }
}
