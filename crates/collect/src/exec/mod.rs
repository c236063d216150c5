//! Runs an agent under the recorder.
//!
//! The agent's own streams stay what they are: what it prints is passed on first and looked at
//! afterwards, its input is ours, its exit code is kept. What it prints is read as the language of a
//! known agent, and recorded while it is printed; what is nobody's language is recorded as text. An
//! agent that talks to a person is given the terminal itself, and a [`SessionFollower`] reads the
//! file that it writes.
//!
//! ```text
//! agent ── stdout ──▶ passing ──▶ our stdout
//!                       └──────▶ hearing ──▶ telling ──▶ recorder
//! signals ──▶ agent                ending ─────┘
//! ```
//!
//! Nobody here prints anything of their own, and nothing here stops an agent: if the disk refuses,
//! the agent goes on and the end says so.

mod ending;
mod follow;
mod head;
mod hearing;
mod news;
mod passing;
mod pieces;
mod program;
mod running;
mod session;
mod signals;
mod telling;
mod whose;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;

use quipu_event::payload::Status;
use quipu_journal::{RecordError, Recorder};
use quipu_provider::Provider;

pub use follow::{FollowHint, Followed, Following, NoFollower, SessionFollower};
pub use program::{Program, StartError};
pub use session::CollectingFollower;
pub use whose::{guess_provider, wants_machine_output};

/// A program to be run under the recorder.
#[derive(Clone)]
pub struct Exec {
    /// The program.
    pub program: Program,
    /// What the run is called; the program's name if nothing is said.
    pub name: Option<String>,
    /// Whose language it speaks; found out if nothing is said.
    pub provider: Option<&'static Provider>,
    /// Free labels of the run.
    pub labels: BTreeMap<String, String>,
}

/// Where the agent's output goes.
pub enum Streams {
    /// Through pipes, to be recorded, and on to these.
    Piped {
        /// Where its standard output is passed on to.
        stdout: OwnedFd,
        /// Where its standard error is passed on to.
        stderr: OwnedFd,
    },
    /// To the terminal, which is the agent's own as long as it runs.
    Terminal,
}

/// What came of it.
#[derive(Debug)]
pub struct Ended {
    /// How the run ended.
    pub status: Status,
    /// The agent's exit code; 128 and the signal's number if a signal ended it.
    pub exit_code: u8,
    /// Whose language was heard.
    pub provider: Option<&'static str>,
    /// What became of the session's own record, if the agent had the terminal.
    pub followed: Option<Followed>,
    /// Why what it printed could not be passed on, if that was not for want of a reader.
    pub refused: Option<io::Error>,
    /// Why not everything was recorded.
    pub failure: Option<RecordError>,
}

/// Why nothing was run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// The program could not be started. The run says so too.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The system refused a pipe, a thread or a signal.
    #[error("cannot run a program under the recorder")]
    System(#[from] io::Error),
}

/// Runs a program to its end and records what it says.
///
/// The recorder is fresh: this writes the run's beginning and its end, and closes it. The run's id is
/// in the program's environment as `QUIPU_RUN_ID`, and its transcript as `QUIPU_TRANSCRIPT`.
///
/// # Errors
///
/// Fails when the program cannot be started. A recorder that fails later is told in [`Ended`].
pub fn run(
    exec: Exec,
    recorder: &Recorder,
    streams: Streams,
    follower: &dyn SessionFollower,
) -> Result<Ended, ExecError> {
    running::run(exec, recorder, streams, follower)
}
