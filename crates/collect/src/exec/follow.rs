//! The seam to whoever reads the session file of an agent that has the terminal.
//!
//! An agent that talks to a person prints for that person, not for us; what it says stands in the file
//! that it writes. Nothing is read here.

use std::path::PathBuf;

use quipu_event::{RunId, Timestamp};

/// Begins to follow sessions.
pub trait SessionFollower {
    /// Begins to follow the session of an agent that has just been started.
    fn start(&self, hint: FollowHint) -> Box<dyn Following>;
}

/// A session that is being followed.
pub trait Following {
    /// Takes the agent's end: reads what is left, and tells what became of it.
    fn finish(self: Box<Self>) -> Followed;
}

/// What is known of a session before its file is found.
#[derive(Clone, Debug)]
pub struct FollowHint {
    /// Whose agent it seems to be: `claude`, `codex` …
    pub provider: Option<&'static str>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// When it was started; its file is not older, or is gone on with.
    pub started_at: Timestamp,
    /// The agent's process.
    pub pid: u32,
    /// The run that started it.
    pub run_id: RunId,
}

/// What became of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// The runs that have what the session said.
    pub runs: Vec<RunId>,
    /// What a person should know, if there is anything.
    pub note: Option<String>,
}

/// Follows nothing, and says who would.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFollower;

/// A session that nobody follows.
struct Unfollowed {
    is_agent: bool,
}

impl SessionFollower for NoFollower {
    fn start(&self, hint: FollowHint) -> Box<dyn Following> {
        Box::new(Unfollowed { is_agent: hint.provider.is_some() })
    }
}

impl Following for Unfollowed {
    fn finish(self: Box<Self>) -> Followed {
        let note = match self.is_agent {
            true => "what was said is in the agent's session file; `quipu collect` records it",
            false => "what it showed on the terminal is not recorded",
        };
        Followed { runs: Vec::new(), note: Some(note.to_owned()) }
    }
}
