//! What a program writes, read until its end, and not longer than that makes sense.
//!
//! A pipe ends when everybody who holds it has closed it, and a program may leave others behind that
//! hold it for hours. So, once the program itself has ended, what it still had to say is read, and
//! then the pipe is given up and the leftovers are killed.

use std::io;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;

use super::DRAIN;

/// The most that a pipe holds: what is read beyond it was written after the program's end.
const PIPE_HOLDS: u64 = 1 << 20;

/// One of a program's output streams.
#[derive(Debug)]
pub struct Pipe<R> {
    inner: R,
    group: Option<Pid>,
    ended: watch::Receiver<bool>,
    read_after_end: u64,
    given_up: bool,
}

impl<R: AsyncRead + Unpin> Pipe<R> {
    pub(super) fn new(inner: R, group: Option<Pid>, ended: watch::Receiver<bool>) -> Pipe<R> {
        Pipe { inner, group, ended, read_after_end: 0, given_up: false }
    }

    /// Reads a piece: how many bytes of `buffer` it fills, 0 at the end.
    ///
    /// Nothing is lost when the future is dropped before it is ready.
    ///
    /// # Errors
    ///
    /// Fails as reading does.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given_up {
            return Ok(0);
        }
        tokio::select! {
            biased;
            read = self.inner.read(buffer) => {
                let read = read?;
                self.count(read);
                Ok(read)
            }
            () = silent_after(&mut self.ended) => {
                self.give_up();
                Ok(0)
            }
        }
    }

    fn count(&mut self, read: usize) {
        if !*self.ended.borrow() {
            return;
        }
        self.read_after_end += read as u64;
        if self.read_after_end > PIPE_HOLDS {
            self.give_up();
        }
    }

    fn give_up(&mut self) {
        self.given_up = true;
        if let Some(group) = self.group {
            // An error means that nobody is left.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Waits for the program's end and a silence after it.
async fn silent_after(ended: &mut watch::Receiver<bool>) {
    // Nobody left to tell of the end means that it has come.
    let _ = ended.wait_for(|ended| *ended).await;
    tokio::time::sleep(DRAIN).await;
}
