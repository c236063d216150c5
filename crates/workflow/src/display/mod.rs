//! What a person watching a run sees, as data: a terminal draws it, `--json` prints it.

mod nested;
mod output_lines;
mod project;
mod retelling;
mod wire;

use quipu_event::payload::Status;

use crate::engine::Occurrence;
pub use nested::{Nested, below};
pub(crate) use output_lines::{OutputLines, whole_characters};
pub(crate) use project::Projector;
pub use retelling::Retelling;
pub use wire::json_line;

/// Something that a person watches a run through.
pub trait Display: Send + Sync {
    /// Shows an event. It is called in the order of what happens, from any thread.
    fn show(&self, event: &DisplayEvent);
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDisplay;

impl Display for NoDisplay {
    fn show(&self, _: &DisplayEvent) {}
}

/// Something to see.
#[derive(Clone, Debug, PartialEq)]
pub enum DisplayEvent {
    /// The run began.
    RunStarted {
        /// Its id.
        run: String,
        /// The workflow's name.
        name: String,
    },
    /// A step began.
    StepStarted {
        /// Where.
        at: Occurrence,
        /// Its name.
        name: String,
        /// Its kind.
        kind: String,
        /// The agent's provider, the command's first line, the called workflow.
        detail: Option<String>,
    },
    /// A loop began an iteration.
    Iteration {
        /// The loop.
        at: Occurrence,
        /// Which one, from 0.
        index: u64,
        /// Of how many, if that is known.
        total: Option<u64>,
    },
    /// A command wrote something.
    Output {
        /// Where.
        at: Occurrence,
        /// `stdout` or `stderr`.
        stream: &'static str,
        /// What, whole lines where possible.
        text: String,
    },
    /// An agent was asked something outside of every step: by a person, in a session.
    Prompt {
        /// Where.
        at: Occurrence,
        /// What.
        text: String,
    },
    /// An agent said something.
    Text {
        /// Where.
        at: Occurrence,
        /// What.
        text: String,
        /// Whether it continues the text before.
        delta: bool,
    },
    /// An agent thought something.
    Thinking {
        /// Where.
        at: Occurrence,
        /// What.
        text: String,
    },
    /// An agent uses a tool.
    ToolUse {
        /// Where.
        at: Occurrence,
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// The argument that tells most, shortened.
        argument: Option<String>,
    },
    /// A tool answered.
    ToolResult {
        /// Where.
        at: Occurrence,
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// How it ended.
        status: Status,
    },
    /// A step is tried again after a while.
    Retry {
        /// Where.
        at: Occurrence,
        /// How long it waits.
        delay_ms: u64,
        /// Why.
        error: Option<String>,
    },
    /// The workflow says something, or something beside the steps went wrong.
    Log {
        /// Where, if anywhere.
        at: Option<Occurrence>,
        /// `info` or `warn`.
        level: &'static str,
        /// What.
        text: String,
    },
    /// A step is over.
    StepCompleted {
        /// Where.
        at: Occurrence,
        /// Its name.
        name: String,
        /// Its kind.
        kind: String,
        /// How it ended.
        status: Status,
        /// Why it did not succeed.
        error: Option<String>,
        /// How long it took.
        duration_ms: u64,
    },
    /// The run is over.
    RunCompleted {
        /// Its id.
        run: String,
        /// How it ended.
        status: Status,
        /// Why it did not succeed.
        error: Option<String>,
        /// What its last step said.
        message: Option<String>,
        /// How long it took.
        duration_ms: u64,
    },
}
