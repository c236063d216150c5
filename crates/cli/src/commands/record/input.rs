//! Standard input as lines of bytes, and the signals that end it early.
//!
//! A line ends at byte 0x0A and nowhere else, and may have any length. What a line means is not
//! this file's business: only bytes cross from the reading thread to the recording one, because
//! what one thread allocates and another frees costs more than it saves.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

/// How much is read at a time: twice what a pipe holds.
const CHUNK: usize = 128 * 1024;
/// How many chunks may wait to be looked at.
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
pub(super) struct Input {
    news: Receiver<News>,
    /// Takes chunks back to be filled again.
    spare: Sender<Chunk>,
}

enum News {
    Bytes(Chunk),
    End(End),
}

struct Chunk {
    bytes: Box<[u8]>,
    filled: usize,
}

impl Input {
    /// Begins to read, and to listen for SIGINT, SIGTERM and SIGHUP.
    ///
    /// From here on a file that grows beyond its limit is an error to be told, not a signal that
    /// kills.
    pub(super) fn open() -> io::Result<Self> {
        let (sender, news) = sync_channel(CHUNKS_WAITING);
        let (spare, spares) = channel();
        signal_hook::flag::register(SIGXFSZ, Arc::default())?;
        listen_for_signals(sender.clone())?;
        thread::Builder::new()
            .name("stdin".to_owned())
            .spawn(move || read_stdin(&sender, &spares))?;
        Ok(Input { news, spare })
    }

    /// Hands each line and its number, from 1, to `take` until there are no more.
    ///
    /// A last line without its line feed counts, whatever ended the input.
    pub(super) fn for_each_line(self, take: impl FnMut(u64, &[u8]) -> ControlFlow<()>) -> End {
        let mut splitter = Splitter { take, unfinished: Vec::new(), lines: 0 };
        // Both senders gone means that nothing can come any more.
        while let Ok(news) = self.news.recv() {
            match news {
                News::Bytes(chunk) => {
                    if splitter.split(&chunk.bytes[..chunk.filled]).is_break() {
                        return End::Enough;
                    }
                    // A reader that has gone home needs no chunks.
                    let _ = self.spare.send(chunk);
                }
                News::End(end) => {
                    let enough = splitter.finish().is_break();
                    let overruled = enough && !matches!(end, End::Signaled(_));
                    return if overruled { End::Enough } else { end };
                }
            }
        }
        End::Closed
    }
}

fn listen_for_signals(news: SyncSender<News>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    if !is_ignored(SIGHUP) {
        signals.add_signal(SIGHUP)?;
    }
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            let name = match signal {
                SIGINT => "SIGINT",
                SIGHUP => "SIGHUP",
                _ => "SIGTERM",
            };
            // Once nobody takes news, the end is near anyway.
            let _ = news.send(News::End(End::Signaled(name)));
        }
    })?;
    Ok(())
}

/// Tells whether whoever started us wants us to live through `signal`, as `nohup` does.
fn is_ignored(signal: i32) -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return false };
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

fn read_stdin(news: &SyncSender<News>, spares: &Receiver<Chunk>) {
    let mut stdin = io::stdin().lock();
    loop {
        let fresh = |_| Chunk { bytes: vec![0; CHUNK].into_boxed_slice(), filled: 0 };
        let mut chunk = spares.try_recv().unwrap_or_else(fresh);
        let next = match stdin.read(&mut chunk.bytes) {
            Ok(0) => News::End(End::Closed),
            Ok(filled) => News::Bytes(Chunk { filled, ..chunk }),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => News::End(End::Failed(error)),
        };
        let is_last = matches!(next, News::End(_));
        if news.send(next).is_err() || is_last {
            return;
        }
    }
}

/// Finds the lines in whatever pieces the bytes come.
struct Splitter<F> {
    take: F,
    /// The beginning of a line whose end has not come yet.
    unfinished: Vec<u8>,
    lines: u64,
}

impl<F: FnMut(u64, &[u8]) -> ControlFlow<()>> Splitter<F> {
    fn split(&mut self, mut bytes: &[u8]) -> ControlFlow<()> {
        while let Some(feed) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..feed], &bytes[feed + 1..]);
            self.lines += 1;
            if self.unfinished.is_empty() {
                (self.take)(self.lines, line)?;
            } else {
                self.unfinished.extend_from_slice(line);
                (self.take)(self.lines, &self.unfinished)?;
                self.unfinished.clear();
                self.unfinished.shrink_to(LINE_KEPT);
            }
            bytes = rest;
        }
        self.unfinished.extend_from_slice(bytes);
        ControlFlow::Continue(())
    }

    fn finish(&mut self) -> ControlFlow<()> {
        let line = std::mem::take(&mut self.unfinished);
        if line.is_empty() { ControlFlow::Continue(()) } else { (self.take)(self.lines + 1, &line) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(chunks: &[&[u8]]) -> Vec<(u64, Vec<u8>)> {
        let mut lines = Vec::new();
        let take = |number, line: &[u8]| {
            lines.push((number, line.to_vec()));
            ControlFlow::Continue(())
        };
        let mut splitter = Splitter { take, unfinished: Vec::new(), lines: 0 };
        for chunk in chunks {
            assert!(splitter.split(chunk).is_continue());
        }
        assert!(splitter.finish().is_continue());
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
