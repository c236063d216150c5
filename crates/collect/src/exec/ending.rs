//! How a program ended, and what that means for its run.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use quipu_event::payload::Status;
use serde_json::{Map, Value, json};
use signal_hook::consts::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
use signal_hook::low_level::signal_name;

/// How much of standard error an error message repeats.
const TOLD: usize = 2000;

/// What is known of a program's end.
#[derive(Debug, Default)]
pub(super) struct Ending {
    /// Why it could not be started, and the exit code for that.
    pub(super) not_started: Option<(u8, String)>,
    /// How the system says that it ended; nothing if it does not.
    pub(super) exit: Option<ExitStatus>,
    /// The signal that asked it to end, as far as we have seen it.
    pub(super) asked: Option<i32>,
    /// The last of what it wrote to standard error.
    pub(super) last_words: LastWords,
}

/// How the agent itself says that it ended.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// How.
    pub(super) status: Option<Status>,
    /// Why it failed.
    pub(super) error: Option<String>,
    /// The last error that it told of before.
    pub(super) last_error: Option<String>,
}

impl Ending {
    /// Returns the exit code as a shell has it.
    pub(super) fn exit_code(&self) -> u8 {
        if let Some((code, _)) = self.not_started {
            return code;
        }
        let Some(exit) = self.exit else { return 255 };
        let code = exit.code().unwrap_or_else(|| 128 + exit.signal().unwrap_or_default());
        u8::try_from(code).unwrap_or(255)
    }

    /// Adds to what came of the run how the program ended.
    pub(super) fn note(&self, result: &mut Map<String, Value>) {
        result.insert("exit_code".to_owned(), json!(self.exit_code()));
        if let Some(signal) = self.exit.and_then(|exit| exit.signal()) {
            result.insert("signal".to_owned(), json!(name_of(signal)));
        }
    }

    /// Returns how the run ended, and why it did not succeed.
    pub(super) fn verdict(&self, told: &Told) -> (Status, Option<String>) {
        if let Some((_, why)) = &self.not_started {
            return (Status::Failed, Some(why.clone()));
        }
        let Some(exit) = self.exit else {
            return (Status::Aborted, Some("how it ended is not known".to_owned()));
        };
        if !exit.success() {
            return (self.failure(exit), Some(self.reason(exit, told)));
        }
        match &told.status {
            None | Some(Status::Succeeded) => (Status::Succeeded, None),
            Some(Status::Aborted) => {
                let unsaid = "its output ends without saying how it ended".to_owned();
                (Status::Aborted, told.error.clone().or(Some(unsaid)))
            }
            Some(status) => {
                let word = format!("by its own word it ended as {}", status.as_str());
                (status.clone(), told.said().or(Some(word)))
            }
        }
    }

    /// Tells a program that was stopped from one that broke.
    fn failure(&self, exit: ExitStatus) -> Status {
        let broke = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP];
        let is_stopped = match exit.signal() {
            Some(signal) => !broke.contains(&signal),
            // A program that catches the signal ends by itself.
            None => self.asked.is_some() || matches!(exit.code(), Some(130 | 143)),
        };
        if is_stopped { Status::Canceled } else { Status::Failed }
    }

    fn reason(&self, exit: ExitStatus, told: &Told) -> String {
        let how = match (exit.signal(), self.asked) {
            (Some(signal), _) => format!("stopped by {}", name_of(signal)),
            (None, Some(asked)) => {
                format!("exit code {} after {}", self.exit_code(), name_of(asked))
            }
            (None, None) => format!("exit code {}", self.exit_code()),
        };
        // Who was stopped had no time to say why: what it said before is about something else.
        let is_stopped = self.failure(exit) == Status::Canceled;
        let said = told.said().or_else(|| self.last_words.text());
        match said.filter(|_| !is_stopped) {
            Some(said) => format!("{said} ({how})"),
            None => how,
        }
    }
}

impl Told {
    fn said(&self) -> Option<String> {
        self.error.clone().or_else(|| self.last_error.clone())
    }
}

/// The end of a stream.
#[derive(Debug, Default)]
pub(super) struct LastWords(Vec<u8>);

impl LastWords {
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(TOLD)..];
        let surplus = (self.0.len() + bytes.len()).saturating_sub(TOLD);
        self.0.drain(..surplus);
        self.0.extend_from_slice(bytes);
    }

    fn text(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.0);
        // What the cut has torn at the beginning is no character.
        let text = text.trim_start_matches('\u{fffd}').trim();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

/// Returns the name of a signal: `SIGTERM`, or `signal 35` for one without a name.
pub(super) fn name_of(signal: i32) -> String {
    signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned)
}
