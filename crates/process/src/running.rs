//! A program at work: waited for, and stopped with its whole group.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::family::Family;
use super::{Exit, GRACE, Pipe, StopReason, StopSignal, stop_beyond};

/// How often a group that was asked to end is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// A program that was started. Its group is killed when it is dropped before its end.
#[derive(Debug)]
pub struct Running {
    child: Child,
    group: Option<Pid>,
    /// Who was below the program when it was told to stop.
    family: Family,
    ended: watch::Sender<bool>,
    stdin: Option<ChildStdin>,
    stdout: Option<Pipe<ChildStdout>>,
    stderr: Option<Pipe<ChildStderr>>,
}

impl Running {
    pub(super) fn new(mut child: Child, stdin: Option<ChildStdin>) -> Running {
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let (ended, watch) = watch::channel(false);
        let stdout = child.stdout.take();
        let stderr = child.stderr.take();
        Running {
            stdin,
            stdout: stdout.map(|pipe| Pipe::new(pipe, group, watch.clone())),
            stderr: stderr.map(|pipe| Pipe::new(pipe, group, watch)),
            child,
            group,
            family: Family::default(),
            ended,
        }
    }

    /// Returns the process id, as long as it runs.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Gives away what it reads, if that was left open; nothing the second time.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    /// Gives away what it writes to standard output; nothing the second time.
    pub fn take_stdout(&mut self) -> Option<Pipe<ChildStdout>> {
        self.stdout.take()
    }

    /// Gives away what it writes to standard error; nothing the second time.
    pub fn take_stderr(&mut self) -> Option<Pipe<ChildStderr>> {
        self.stderr.take()
    }

    /// Waits until the program ends, and makes it end when there is a reason to.
    ///
    /// A program that is to stop gets `SIGTERM`, with everything in its group and everything it has
    /// started in other groups, and [`GRACE`] to end; what is left then gets `SIGKILL`, and so does
    /// everything at once for [`StopReason::Now`]. A stronger reason takes effect while it has its
    /// grace. Of a program that ended by itself, what it left running stays, unless it holds the
    /// pipes: see [`Pipe`].
    ///
    /// # Errors
    ///
    /// Fails when the system does not say how the program ended.
    pub async fn wait_or_stop(&mut self, mut stop: StopSignal) -> io::Result<Exit> {
        let first = tokio::select! {
            biased;
            status = self.child.wait() => {
                self.ended.send_replace(true);
                return Ok(Exit::new(status?, None));
            }
            reason = stop_beyond(&mut stop, None) => reason,
        };
        let status = self.end(first, stop).await;
        self.signal(Signal::KILL);
        self.ended.send_replace(true);
        Ok(Exit::new(status?, Some(first)))
    }

    /// Takes note of everybody the program has started, who can be found only as long as it runs.
    pub fn know_family(&mut self) {
        if let (Some(group), Some(_)) = (self.group, self.child.id()) {
            self.family.look(group);
        }
    }

    /// Waits until the program ends, no longer than `patience`, and leaves nothing of it behind.
    ///
    /// For a program that is told to end in its own language, by the end of its input for example.
    /// One that does not is stopped as by [`StopReason::Canceled`]. In either case everything in its
    /// group is gone in the end, and so is everybody in other groups that was known before it was
    /// told: see [`Running::know_family`].
    ///
    /// # Errors
    ///
    /// Fails when the system does not say how the program ended.
    pub async fn wait_then_stop(&mut self, patience: Duration) -> io::Result<Exit> {
        let (status, stopped) = match timeout(patience, self.child.wait()).await {
            Ok(status) => (status, None),
            Err(_) => {
                let (_stop, never) = watch::channel(None);
                let first = StopReason::Canceled;
                (self.end(first, never).await, Some(first))
            }
        };
        self.end_leftovers();
        Ok(Exit::new(status?, stopped))
    }

    /// Kills what a program that has ended left running in its group.
    pub fn end_leftovers(&mut self) {
        self.signal(Signal::KILL);
        self.ended.send_replace(true);
    }

    #[cfg(test)]
    pub(super) fn stdout_mut(&mut self) -> &mut Pipe<ChildStdout> {
        self.stdout.as_mut().expect("nobody took it yet")
    }

    async fn end(&mut self, first: StopReason, mut stop: StopSignal) -> io::Result<ExitStatus> {
        let mut known = first;
        let deadline = Instant::now() + GRACE;
        if known < StopReason::Now {
            self.signal(Signal::TERM);
        }
        while known < StopReason::Now {
            tokio::select! {
                biased;
                gone = self.gone() => return gone,
                reason = stop_beyond(&mut stop, Some(known)) => known = reason,
                () = sleep_until(deadline) => known = StopReason::Now,
            }
        }
        self.signal(Signal::KILL);
        self.child.wait().await
    }

    /// Waits until nobody is left: what the program started may also need its grace.
    async fn gone(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await?;
        while self.is_group_there() || self.family.is_there() {
            sleep(LOOK).await;
        }
        Ok(status)
    }

    fn is_group_there(&self) -> bool {
        self.group.is_some_and(|group| test_kill_process_group(group).is_ok())
    }

    fn signal(&mut self, signal: Signal) {
        if let Some(group) = self.group {
            // Who is below the program is known only as long as it is there itself.
            if self.child.id().is_some() {
                self.family.look(group);
            }
            // An error means that nobody is left.
            let _ = kill_process_group(group, signal);
        }
        self.family.signal(signal);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !*self.ended.borrow() {
            self.signal(Signal::KILL);
        }
    }
}
