//! Standard input, line by line, and the signals that end it early.
//!
//! A line ends at byte 0x0A and nowhere else, and may have any length. What a line means is said
//! by whoever opens the input; it is found out in the reading thread, beside the recording one.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

/// How much is read at a time: twice what a pipe holds.
const CHUNK: usize = 128 * 1024;
/// How many chunks' lines may wait to be recorded.
const CHUNKS_WAITING: usize = 4;
/// A buffer that one giant line has blown up beyond this is not kept.
const LINE_KEPT: usize = 4 * 1024 * 1024;

/// Why there are no more lines.
#[derive(Debug)]
pub(super) enum End {
    /// The producer closed its end.
    Closed,
    /// Somebody asked us to stop.
    Signaled(&'static str),
    /// Whoever took the lines wants no more of them.
    Enough,
    /// The system refused.
    Failed(io::Error),
}

/// Standard input, read in a thread of its own so that a signal need not wait for a line.
pub(super) struct Input<T> {
    news: Receiver<News<T>>,
}

enum News<T> {
    Lines(Vec<T>),
    End(End),
}

impl<T: Send + 'static> Input<T> {
    /// Begins to read, and to listen for SIGINT and SIGTERM. Each line goes through `understand`
    /// with its number, from 1; lines that it has no answer to are skipped.
    ///
    /// From here on a file that grows beyond its limit is an error to be told, not a signal that
    /// kills.
    pub(super) fn open(
        understand: impl FnMut(u64, &[u8]) -> Option<T> + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, news) = sync_channel(CHUNKS_WAITING);
        signal_hook::flag::register(SIGXFSZ, Arc::default())?;
        listen_for_signals(sender.clone())?;
        thread::Builder::new().name("stdin".to_owned()).spawn(move || {
            let end = read_lines(io::stdin().lock(), Splitter::new(understand), &sender);
            // A recording that has ended already needs no end of input.
            let _ = sender.send(News::End(end));
        })?;
        Ok(Input { news })
    }

    /// Hands each line to `take` until there are no more.
    pub(super) fn for_each_line(self, mut take: impl FnMut(T) -> ControlFlow<()>) -> End {
        // Both senders gone means that nothing can come any more.
        while let Ok(news) = self.news.recv() {
            match news {
                News::Lines(lines) => {
                    if lines.into_iter().try_for_each(&mut take).is_break() {
                        return End::Enough;
                    }
                }
                News::End(end) => return end,
            }
        }
        End::Closed
    }
}

fn listen_for_signals<T: Send + 'static>(news: SyncSender<News<T>>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            let name = if signal == SIGINT { "SIGINT" } else { "SIGTERM" };
            // Once nobody takes news, the end is near anyway.
            let _ = news.send(News::End(End::Signaled(name)));
        }
    })?;
    Ok(())
}

fn read_lines<T, U: FnMut(u64, &[u8]) -> Option<T>>(
    mut bytes: impl Read,
    mut splitter: Splitter<U>,
    news: &SyncSender<News<T>>,
) -> End {
    let mut chunk = vec![0; CHUNK];
    loop {
        let (lines, end) = match bytes.read(&mut chunk) {
            Ok(0) => (splitter.finish(), Some(End::Closed)),
            Ok(filled) => (splitter.split(&chunk[..filled]), None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => (splitter.finish(), Some(End::Failed(error))),
        };
        if !lines.is_empty() && news.send(News::Lines(lines)).is_err() {
            return End::Enough;
        }
        if let Some(end) = end {
            return end;
        }
    }
}

/// Finds the lines in whatever pieces the bytes come.
struct Splitter<U> {
    understand: U,
    /// The beginning of a line whose end has not come yet.
    unfinished: Vec<u8>,
    lines: u64,
}

impl<T, U: FnMut(u64, &[u8]) -> Option<T>> Splitter<U> {
    fn new(understand: U) -> Self {
        Splitter { understand, unfinished: Vec::new(), lines: 0 }
    }

    fn split(&mut self, mut bytes: &[u8]) -> Vec<T> {
        let mut found = Vec::new();
        while let Some(feed) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..feed], &bytes[feed + 1..]);
            self.lines += 1;
            if self.unfinished.is_empty() {
                found.extend((self.understand)(self.lines, line));
            } else {
                self.unfinished.extend_from_slice(line);
                found.extend((self.understand)(self.lines, &self.unfinished));
                self.unfinished.clear();
                self.unfinished.shrink_to(LINE_KEPT);
            }
            bytes = rest;
        }
        self.unfinished.extend_from_slice(bytes);
        found
    }

    /// A last line without its line feed counts.
    fn finish(&mut self) -> Vec<T> {
        let line = std::mem::take(&mut self.unfinished);
        let counts = !line.is_empty();
        counts.then(|| (self.understand)(self.lines + 1, &line)).flatten().into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(chunks: &[&[u8]]) -> Vec<(u64, Vec<u8>)> {
        let mut splitter = Splitter::new(|number, line: &[u8]| Some((number, line.to_vec())));
        let mut lines: Vec<_> = chunks.iter().flat_map(|chunk| splitter.split(chunk)).collect();
        lines.extend(splitter.finish());
        lines
    }

    #[test]
    fn any_split_of_the_bytes_gives_the_same_lines() {
        let text = b"one\n\ntwo\r\xe2\x80\xa8still two\nlast";
        let whole = lines_of(&[text]);
        let expected: [&[u8]; 4] = [b"one", b"", b"two\r\xe2\x80\xa8still two", b"last"];
        let numbered: Vec<_> = (1..).zip(expected.map(<[u8]>::to_vec)).collect();
        assert_eq!(whole, numbered);
        for at in 0..=text.len() {
            assert_eq!(lines_of(&[&text[..at], &text[at..]]), whole, "split at {at}");
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(lines_of(&bytes), whole);
    }

    #[test]
    fn a_line_feed_at_the_end_begins_no_further_line() {
        assert_eq!(lines_of(&[b"one\n"]), [(1, b"one".to_vec())]);
        assert_eq!(lines_of(&[]), []);
    }
}
