//! A run as a tree: run → steps → iterations → attempts → child runs.
//!
//! Only what was recorded is stored. What follows from it, such as the status of an iteration or
//! the tokens of everything below a step, is asked for through a method.

mod build;
mod draw;
mod join;
mod row;
mod span;
mod wire;

use std::fmt;

use quipu_event::payload::{RunKind, Status, TokenCounts};
use quipu_event::{RunId, StepPath, Timestamp};

pub use build::TreeBuilder;
pub use draw::{RenderOptions, render};
pub use join::join;
pub use row::{Row, RowPart};

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunTree {
    /// Which run.
    pub run_id: RunId,
    /// The run that called it.
    pub parent_run_id: Option<RunId>,
    /// Its name, when its events say.
    pub name: Option<String>,
    /// What sort of thing it is, when its events say.
    pub kind: Option<RunKind>,
    /// How it ended; nothing while it has not.
    pub status: Option<Status>,
    /// Why it did not succeed.
    pub error: Option<String>,
    /// The agent of the whole run.
    pub agent: Option<String>,
    /// When its first event happened.
    pub started: Timestamp,
    /// How long the whole of it took, resumed or not ([`RunCompleted::whole_ms`]); without an end,
    /// from its first event to its last.
    ///
    /// [`RunCompleted::whole_ms`]: quipu_event::payload::RunCompleted::whole_ms
    pub duration_ms: u64,
    /// How many events it has.
    pub events: u64,
    /// What was done outside every step.
    pub work: Work,
    /// Its steps, in the order in which they first appeared.
    pub steps: Vec<Node>,
    /// Runs whose events stand among this run's and which no step calls.
    pub strays: Vec<RunTree>,
}

/// A step, or one iteration of a loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Which of the two it is.
    pub part: Part,
    /// Where it stands.
    pub path: StepPath,
    /// What kind of step, when its events say.
    pub kind: Option<String>,
    /// Its attempts in the order in which they began. Empty for an iteration, and for a step of
    /// which only the inside was recorded.
    pub attempts: Vec<Attempt>,
    /// What was done here, outside every step further in.
    pub work: Work,
    /// What is inside, in the order in which it first appeared.
    pub children: Vec<Node>,
}

/// What a node stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A step, by name.
    Step(String),
    /// An iteration of the step around it, by index.
    Iteration(u64),
}

/// One try of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attempt {
    /// Which try, from 1.
    pub number: u32,
    /// How it ended; nothing while it has not.
    pub status: Option<Status>,
    /// Why it did not succeed.
    pub error: Option<String>,
    /// The agent that tried.
    pub agent: Option<String>,
    /// When it began, if that was recorded.
    pub started: Option<Timestamp>,
    /// How long it took, once it has ended.
    pub duration_ms: Option<u64>,
    /// The run it called.
    pub child_run_id: Option<RunId>,
    /// That run, once joined. See [`join()`].
    pub child: Option<Box<RunTree>>,
}

/// How much was done somewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Tool calls.
    pub tool_calls: u64,
    /// Tool calls that failed or were refused.
    pub tool_failures: u64,
    /// Messages, in either direction.
    pub messages: u64,
    /// `error` events.
    pub errors: u64,
    /// Tokens, summed over `usage` events.
    pub usage: TokenCounts,
}

impl RunTree {
    /// Returns the work of the run, its steps and all runs below it.
    pub fn total_work(&self) -> Work {
        let mut total = self.work;
        self.steps.iter().for_each(|step| total.add(&step.total_work()));
        self.strays.iter().for_each(|run| total.add(&run.total_work()));
        total
    }

    /// Returns the name or, lacking one, the id.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(self.run_id.as_str())
    }
}

impl Node {
    /// Returns how the last attempt ended; nothing while it has not.
    ///
    /// A node without attempts follows from what is inside: failed if any of it failed, open if
    /// any of it is open, else succeeded.
    pub fn status(&self) -> Option<Status> {
        if let Some(last) = self.attempts.last() {
            return last.status.clone();
        }
        let statuses: Vec<_> = self.children.iter().map(Node::status).collect();
        if statuses.iter().flatten().any(Status::is_failure) {
            Some(Status::Failed)
        } else if statuses.contains(&None) {
            None
        } else {
            Some(Status::Succeeded)
        }
    }

    /// Returns why the last attempt did not succeed.
    pub fn error(&self) -> Option<&str> {
        self.attempts.last()?.error.as_deref()
    }

    /// Returns the agent of the last attempt that names one.
    pub fn agent(&self) -> Option<&str> {
        self.attempts.iter().rev().find_map(|attempt| attempt.agent.as_deref())
    }

    /// Returns the run that the last attempt called.
    pub fn child_run_id(&self) -> Option<&RunId> {
        self.attempts.last()?.child_run_id.as_ref()
    }

    /// Returns the iteration's index, if this is one.
    pub fn iteration(&self) -> Option<u64> {
        match self.part {
            Part::Iteration(index) => Some(index),
            Part::Step(_) => None,
        }
    }

    /// Returns the work here, further in and in the runs called from here.
    pub fn total_work(&self) -> Work {
        let mut total = self.work;
        self.children.iter().for_each(|child| total.add(&child.total_work()));
        self.child_runs().for_each(|run| total.add(&run.total_work()));
        total
    }

    /// Walks the joined runs that its attempts called.
    pub fn child_runs(&self) -> impl Iterator<Item = &RunTree> {
        self.attempts.iter().filter_map(|attempt| attempt.child.as_deref())
    }
}

impl Work {
    /// Adds `other`.
    pub fn add(&mut self, other: &Work) {
        self.tool_calls += other.tool_calls;
        self.tool_failures += other.tool_failures;
        self.messages += other.messages;
        self.errors += other.errors;
        self.usage.add(&other.usage);
    }
}

impl fmt::Display for Part {
    /// Writes a step's name, or an iteration's index in brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Step(name) => f.pad(name),
            Part::Iteration(index) => write!(f, "[{index}]"),
        }
    }
}
