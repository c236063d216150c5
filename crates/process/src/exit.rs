//! How a program ended, as a shell would say it.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::StopReason;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    status: ExitStatus,
    stopped: Option<StopReason>,
}

impl Exit {
    pub(super) fn new(status: ExitStatus, stopped: Option<StopReason>) -> Exit {
        Exit { status, stopped }
    }

    /// Returns the exit code; 128 and the signal's number for a program that a signal ended.
    pub fn code(&self) -> i64 {
        match (self.status.code(), self.status.signal()) {
            (Some(code), _) => i64::from(code),
            (None, signal) => 128 + i64::from(signal.unwrap_or_default()),
        }
    }

    /// Returns whether it ended by itself, with exit code 0.
    pub fn success(&self) -> bool {
        self.status.success()
    }

    /// Returns the first reason why it was stopped, if it was.
    pub fn stopped(&self) -> Option<StopReason> {
        self.stopped
    }

    /// Returns the name of the signal that ended it: `SIGKILL`, or `signal 35` for one without a name.
    pub fn signal(&self) -> Option<String> {
        let number = self.status.signal()?;
        let name = SIGNALS.iter().find(|(known, _)| *known == number);
        Some(name.map_or_else(|| format!("signal {number}"), |(_, name)| (*name).to_owned()))
    }

    /// Returns why it did not succeed, in words; nothing if it did.
    pub fn trouble(&self) -> Option<String> {
        if self.success() {
            return None;
        }
        Some(match self.signal() {
            Some(signal) => format!("killed by {signal}"),
            None => format!("exit code {}", self.code()),
        })
    }
}

/// The signals that end programs and have the same number on all systems, or the number of Linux.
const SIGNALS: &[(i32, &str)] = &[
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (10, "SIGUSR1"),
    (11, "SIGSEGV"),
    (12, "SIGUSR2"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
    (31, "SIGSYS"),
];
