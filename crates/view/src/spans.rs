//! A run as spans of time: the run itself, its steps, subagents, replies and tool calls.
//!
//! The views for tracing tools share this fold. It says when a span begins, when it ends and what
//! happened inside; it knows nothing of how such tools spell that. A span that never ended is closed
//! with what it is in, and says so.

mod fold;
mod lanes;
mod open;
mod steps;
mod talk;

use quipu_event::payload::{
    Message, RunCompleted, RunStarted, StepCompleted, StepStarted, TokenCounts, ToolCall,
    ToolResult,
};
use quipu_event::{RunId, StepPath};

pub(crate) use fold::Spans;

/// Names a span within its run, or the call of another run whoever made it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    /// The run itself.
    Run,
    /// The step that calls this run.
    Call(RunId),
    /// What began with the event of this number.
    At(u64, Sort),
}

/// What sort of span began at an event: one event can begin two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sort {
    Step,
    /// A subagent that speaks.
    Subagent,
    /// A subagent that another agent speaks of.
    Announced,
    Reply,
    Tool,
}

/// A span of time, in microseconds since 1970.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) key: Key,
    pub(crate) parent: Option<Key>,
    pub(crate) work: Work,
    pub(crate) source: Option<Box<str>>,
    pub(crate) path: StepPath,
    /// The number of the event that began it.
    pub(crate) seq: u64,
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// Whether its end was recorded.
    pub(crate) ended: bool,
    /// The tokens spent here and in no span inside.
    pub(crate) tokens: TokenCounts,
}

/// What a span of time was spent on.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Run { started: Box<RunStarted>, completed: Box<RunCompleted> },
    Step { started: Box<StepStarted>, completed: Box<StepCompleted>, child: Option<RunId> },
    Subagent { name: String },
    Reply(Box<Message>),
    Tool { call: Box<ToolCall>, result: Box<ToolResult> },
}

/// What an event means for the spans of a run.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    /// A span begins.
    Began(Beginning),
    /// A span is over.
    Ended(Box<Span>),
    /// Something happened inside a span, at this time.
    Happened(Key, i64),
}

/// A span that begins.
#[derive(Clone, Debug)]
pub(crate) struct Beginning {
    pub(crate) key: Key,
    pub(crate) parent: Option<Key>,
    pub(crate) source: Option<Box<str>>,
    pub(crate) start: i64,
    /// When it is over, if that is known already.
    pub(crate) end: Option<i64>,
}

impl Span {
    /// Tells what begins.
    fn beginning(&self) -> Told {
        Told::Began(Beginning {
            key: self.key.clone(),
            parent: self.parent.clone(),
            source: self.source.clone(),
            start: self.start,
            end: self.ended.then_some(self.end),
        })
    }

    /// Ends the span, no earlier than it began.
    fn over(mut self, end: i64, ended: bool) -> Told {
        self.end = end.max(self.start);
        self.ended = ended;
        Told::Ended(Box::new(self))
    }
}
