//! Passes a stream on: to where it was meant to go first, and then to whoever records it.
//!
//! Nothing is kept back and nothing is changed. A reader that has gone away is found out here, and the
//! agent learns of it as it would without us: by a broken pipe, when it writes again.

use std::fs::File;
use std::io::{self, ErrorKind, PipeReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::news::{News, Stream};

/// How much is read at a time: what a pipe holds.
const CHUNK: usize = 64 * 1024;
/// How long a stream may be silent after the agent's end before it is given up: what the agent left
/// running may hold it for hours.
const AFTER_END: Duration = Duration::from_secs(1);

/// A stream of the agent, and where it goes.
pub(super) struct Passing {
    /// Which.
    pub(super) stream: Stream,
    /// What the agent writes to.
    pub(super) from: OwnedFd,
    /// Where it goes.
    pub(super) to: OwnedFd,
    /// At its end when the agent has ended.
    pub(super) ended: PipeReader,
    /// Who records it.
    pub(super) news: SyncSender<News>,
}

impl Passing {
    /// Begins to pass on, in a thread of its own.
    pub(super) fn start(self) -> io::Result<()> {
        let name = format!("passing {}", self.stream.name());
        thread::Builder::new().name(name).spawn(move || self.pass())?;
        Ok(())
    }

    fn pass(self) {
        let Passing { stream, from, to, ended, news } = self;
        let (mut from, mut to) = (File::from(from), File::from(to));
        let mut refused = None;
        // Errors of reading are the stream's end: there is nothing else to be had.
        while let Ok(true) = wait(&from, &ended) {
            let mut bytes = vec![0; CHUNK];
            let len = match from.read(&mut bytes) {
                Ok(0) => break,
                Ok(len) => len,
                Err(cause) if is_passing(&cause) => continue,
                Err(_) => break,
            };
            bytes.truncate(len);
            let passed = write_all(&mut to, &bytes);
            // Nobody takes news any more: then nobody waits for us either.
            let _ = news.send(News::Bytes(stream, bytes));
            if let Err(cause) = passed {
                refused = Some(cause);
                break;
            }
        }
        drop(from);
        let _ = news.send(News::End(stream, refused));
    }
}

/// Waits until there is something to read, or the end of it; false if it is given up.
fn wait(from: &File, ended: &PipeReader) -> io::Result<bool> {
    let both = &mut [PollFd::new(from, PollFlags::IN), PollFd::new(ended, PollFlags::IN)];
    poll_on(both, None)?;
    if !both[0].revents().is_empty() {
        return Ok(true);
    }
    poll_on(&mut both[..1], Some(AFTER_END))
}

fn poll_on(fds: &mut [PollFd<'_>], patience: Option<Duration>) -> io::Result<bool> {
    let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
    loop {
        match poll(fds, patience.as_ref()) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(cause) => return Err(cause.into()),
        }
    }
}

/// Writes all, also to what somebody has made non-blocking: a terminal is shared by many.
fn write_all(to: &mut File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(cause) if cause.kind() == ErrorKind::WouldBlock => {
                poll_on(&mut [PollFd::from_borrowed_fd(to.as_fd(), PollFlags::OUT)], None)?;
            }
            Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(())
}

fn is_passing(cause: &io::Error) -> bool {
    matches!(cause.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock)
}
