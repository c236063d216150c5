//! What the engine is told, and what it wants done.

use std::time::Duration;

use quipu_event::StepPath;
use quipu_event::payload::Status;

use super::work::{Outcome, Work};
use crate::language::Value;

/// What the engine is told.
#[expect(clippy::large_enum_variant, reason = "one at a time exists, and is taken apart at once")]
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The run begins.
    Start,
    /// Some work is over, whichever way. Every task that was performed gets exactly one.
    Finished {
        /// Which.
        task: TaskId,
        /// What came of it.
        outcome: Outcome,
    },
    /// Somebody wants the run to stop.
    Cancel {
        /// Why: `interrupted`, `terminated`.
        reason: String,
    },
}

/// What the engine wants done, in order.
#[expect(
    clippy::large_enum_variant,
    reason = "a handful at a time exists, and is taken apart at once"
)]
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// A step begins: `step.started` is to be recorded.
    Begin(StepBegin),
    /// Work is to be started.
    Perform {
        /// Its number, for [`Input::Finished`].
        task: TaskId,
        /// Where it belongs.
        at: Occurrence,
        /// What to do.
        work: Box<Work>,
        /// How long it may take: it is stopped then, and its outcome is `TimedOut`.
        timeout: Option<Duration>,
    },
    /// Work is to be stopped. Its outcome is still awaited.
    Stop {
        /// Which.
        task: TaskId,
    },
    /// A step is over: `step.completed` is to be recorded.
    End(StepEnd),
    /// A loop begins an iteration. Nothing is recorded of it: the steps in it are.
    Turn {
        /// The loop.
        at: Occurrence,
        /// Which iteration, from 0.
        index: u64,
        /// Of how many, if that is known.
        total: Option<u64>,
    },
    /// A fact is to be recorded as a `system` event.
    Note {
        /// Where it belongs; nowhere in particular if there is none.
        at: Option<Occurrence>,
        /// Which sort of fact: `retry`, `loop_truncated`, `hook_failed`, `log` …
        subtype: &'static str,
        /// The facts, an object.
        facts: Value,
    },
    /// The run is over. Nothing follows.
    Finish(RunEnd),
}

/// A number for a piece of work, unique in its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u64);

/// One execution of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Where in the run: `each_file[3].check`.
    pub path: StepPath,
    /// The index of the innermost enclosing loop, 0 outside loops.
    pub iteration: u64,
    /// How many times this path has been executed, this time included.
    pub attempt: u32,
}

/// A step begins.
#[derive(Clone, Debug, PartialEq)]
pub struct StepBegin {
    /// Where.
    pub at: Occurrence,
    /// The step's name.
    pub name: String,
    /// The step's kind, as in a transcript.
    pub kind: String,
    /// What it is about to do, if it is one piece of work.
    pub work: Option<Box<Work>>,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// The names of the variables that the step itself asks for.
    pub env: Vec<String>,
}

/// A step is over.
#[derive(Clone, Debug, PartialEq)]
pub struct StepEnd {
    /// Where.
    pub at: Occurrence,
    /// The step's name.
    pub name: String,
    /// The step's kind.
    pub kind: String,
    /// How it ended.
    pub status: Status,
    /// Why it did not succeed.
    pub error: Option<String>,
    /// What came of it.
    pub outcome: Outcome,
    /// Where the run goes from here.
    pub next: Option<Next>,
}

/// The way taken from a step, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    /// The step it leads to; none when the run, the loop or the branch ends here.
    pub goto: Option<String>,
    /// `on_success`, `on_failure`, `transition`, `default_transition`, `continue_on_error`, `retry`,
    /// `on_complete`, `loop_exit`, `body_next`, `branch_end`, `inline_failure`, `terminal`, `end`, `no_way_on`,
    /// `canceled`, `bad_condition`.
    pub because: &'static str,
    /// The condition that held, for a transition.
    pub when: Option<String>,
}

/// The run is over.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    /// How.
    pub status: Status,
    /// Why it did not succeed.
    pub error: Option<String>,
    /// What the last step said.
    pub message: Option<String>,
    /// The terminal step it ended at.
    pub terminal: Option<String>,
    /// The exit status that the workflow asks for.
    pub exit_status: Option<u8>,
    /// What it gives to a caller: its declared outputs.
    pub outputs: serde_json::Map<String, Value>,
    /// The files that must be there now. One that cannot be named stands as it is written.
    pub deliverables: Vec<String>,
    /// What each step came to, for a caller that takes a step's output by its name.
    pub step_outputs: std::collections::BTreeMap<String, String>,
}
