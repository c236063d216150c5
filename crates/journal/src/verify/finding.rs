//! What can be wrong with a run, and where. Only words: what finds it is elsewhere.

use std::fmt;
use std::path::PathBuf;

use quipu_event::payload::PayloadError;
use quipu_event::{Breach, Kind, RunId};

use crate::reader::{DamageKind, byte_for_column};

/// Something that is wrong.
#[derive(Debug)]
pub struct Finding {
    /// The line, from 1, if it is about one.
    pub line: Option<u64>,
    /// Where that line begins in the file.
    pub offset: Option<u64>,
    /// What is wrong.
    pub what: FindingKind,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.offset) {
            (Some(line), Some(offset)) => write!(f, "line {line}, byte {offset}: {}", self.what),
            (Some(line), None) => write!(f, "line {line}: {}", self.what),
            _ => write!(f, "{}", self.what),
        }
    }
}

/// What can be wrong with a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindingKind {
    /// A line holds no event.
    #[error("{0}")]
    Damaged(DamageKind),
    /// A number is not the next one.
    #[error("seq is {found}, expected {expected}")]
    Number {
        /// The number that should have come.
        expected: u64,
        /// The one that did.
        found: u64,
    },
    /// A line belongs to another run.
    #[error("run_id is {found}, not that of the file")]
    ForeignRun {
        /// The run it names.
        found: RunId,
    },
    /// A line names another parent than the first one.
    #[error("parent_run_id differs from that of line 1")]
    OtherParent,
    /// A payload is not of its type's shape.
    #[error("{}: {} of it", .0, byte_for_column(&.0.source))]
    Payload(PayloadError),
    /// A line leaves out a key that every line has.
    #[error("`{key}` is missing")]
    KeyMissing {
        /// The key.
        key: &'static str,
    },
    /// A payload is not what the format asks of a writer.
    #[error("{kind}: {breach}")]
    Breach {
        /// The event's type.
        kind: Kind,
        /// What is not so.
        breach: Breach,
    },
    /// The file holds nothing at all. A note: a recorder that is killed before its first line leaves
    /// such a file.
    #[error("no event")]
    NoEvent,
    /// A call of a run does not say which.
    #[error("{kind} at {path:?} names no child_run_id")]
    ChildUnnamed {
        /// The event's type.
        kind: Kind,
        /// Where.
        path: String,
    },
    /// A call ends with another run than it began with.
    #[error("child_run_id is {found}, expected {expected} as on line {line}")]
    OtherChild {
        /// The run that its start names.
        expected: RunId,
        /// The run that its end names.
        found: RunId,
        /// The line of the start.
        line: u64,
    },
    /// A step started that had started already.
    #[error("{start} at {path:?} while that of line {line} is still open")]
    StartedTwice {
        /// The start.
        start: Kind,
        /// Where.
        path: String,
        /// The line of the first start.
        line: u64,
    },
    /// A step started that had started and ended before: path and attempt together name one
    /// occurrence, and another one of the same path is another attempt.
    #[error(
        "{start} (seq {seq}) at {path:?} is attempt {attempt} once more: it started on line {first_line} \
         (seq {first_seq}) and has ended"
    )]
    StartedAgain {
        /// The start.
        start: Kind,
        /// Its number.
        seq: u64,
        /// Where.
        path: String,
        /// The attempt that both say they are.
        attempt: u32,
        /// The line of the first start.
        first_line: u64,
        /// The number of the first start.
        first_seq: u64,
    },
    /// Something completed that never started.
    #[error("{completed} at {path:?} without its {start}")]
    Unstarted {
        /// The completion.
        completed: Kind,
        /// The start that is missing.
        start: Kind,
        /// Where.
        path: String,
    },
    /// Something started and never completed, and nobody writes the run any more.
    #[error("{start} at {path:?} never completed")]
    Unfinished {
        /// The start.
        start: Kind,
        /// Where.
        path: String,
    },
    /// An event stands behind the end of its run.
    #[error("{kind} after the run's end")]
    AfterEnd {
        /// The event's type.
        kind: Kind,
    },
    /// Two calls share an id.
    #[error("tool call {call_id:?} stands twice")]
    CallTwice {
        /// The id.
        call_id: String,
    },
    /// A result answers no call, or one that was answered already.
    #[error("tool result {call_id:?} answers no open call")]
    ResultWithoutCall {
        /// The id.
        call_id: String,
    },
    /// A called run has no transcript.
    #[error("called run {child} has no transcript")]
    ChildMissing {
        /// The called run.
        child: RunId,
    },
    /// A called run does not name this one as its parent.
    #[error("called run {child} names {} as its parent", named.as_ref().map_or("nobody", RunId::as_str))]
    ChildDisowns {
        /// The called run.
        child: RunId,
        /// Whom it names.
        named: Option<RunId>,
    },
    /// The calling run has no transcript.
    #[error("parent run {parent} has no transcript")]
    ParentMissing {
        /// The calling run.
        parent: RunId,
    },
    /// The calling run does not name this one.
    ///
    /// Damage if this run is a workflow and the calling run calls others: a run that calls workflows
    /// names each of them. Else a note: only steps that call a workflow have a line that names the
    /// called run, and anybody may record a run as part of another.
    #[error("parent run {parent} never calls this run")]
    ParentSilent {
        /// The calling run.
        parent: RunId,
    },
    /// A file or directory is open to others.
    #[error("{} has mode {found:04o}, wider than {wanted:04o}", path.display())]
    Mode {
        /// The file or directory.
        path: PathBuf,
        /// Its mode.
        found: u32,
        /// The widest mode allowed.
        wanted: u32,
    },
}
