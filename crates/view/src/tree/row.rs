//! One line of a drawn tree, in parts, so that whoever prints it can colour them.

use std::fmt;

use quipu_event::RunId;
use quipu_event::payload::Status;

use super::{Node, RunTree, Work};

/// One line of a drawn tree.
///
/// Its `Display` is a plain line without colours.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The branches before the label: `│  ├─ `.
    pub prefix: String,
    /// What it is called.
    pub label: String,
    /// What it stands for.
    pub part: RowPart,
    /// The kind of step or run, when known.
    pub kind: Option<String>,
    /// How it ended; nothing while it has not.
    pub status: Option<Status>,
    /// How long it took, once that is known.
    pub duration_ms: Option<u64>,
    /// How many attempts a step took; 0 where there are none.
    pub attempts: usize,
    /// The work here and below.
    pub work: Work,
    /// The agent.
    pub agent: Option<String>,
    /// Why it did not succeed.
    pub error: Option<String>,
    /// The run that a run row is, or that a step calls and that is not attached below it.
    pub run_id: Option<RunId>,
}

/// What a row stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowPart {
    /// A run.
    Run,
    /// A step.
    Step,
    /// One iteration of a loop.
    Iteration,
    /// So many iterations of a loop, all of which succeeded.
    Iterations(usize),
}

impl Row {
    pub(super) fn of_run(prefix: String, run: &RunTree) -> Self {
        Row {
            prefix,
            label: run.label().to_owned(),
            part: RowPart::Run,
            kind: run.kind.as_ref().map(ToString::to_string),
            status: run.status.clone(),
            duration_ms: Some(run.duration_ms),
            attempts: 0,
            work: run.total_work(),
            agent: run.agent.clone(),
            error: run.error.clone(),
            run_id: Some(run.run_id.clone()),
        }
    }

    pub(super) fn of_node(prefix: String, node: &Node) -> Self {
        let joined = node.attempts.last().is_some_and(|attempt| attempt.child.is_some());
        Row {
            prefix,
            label: node.part.to_string(),
            part: node.iteration().map_or(RowPart::Step, |_| RowPart::Iteration),
            kind: node.kind.clone(),
            status: node.status(),
            duration_ms: node.duration_ms(),
            attempts: node.attempts.len(),
            work: node.total_work(),
            agent: node.agent().map(str::to_owned),
            error: node.error().map(str::to_owned),
            run_id: node.child_run_id().filter(|_| !joined).cloned(),
        }
    }

    pub(super) fn of_iterations(prefix: String, nodes: &[Node]) -> Self {
        let indices = || nodes.iter().filter_map(Node::iteration);
        let first = indices().min().unwrap_or(0);
        let last = indices().max().unwrap_or(0);
        let mut work = Work::default();
        nodes.iter().for_each(|node| work.add(&node.total_work()));
        Row {
            prefix,
            label: format!("[{first}..={last}] {} iterations, all succeeded", nodes.len()),
            part: RowPart::Iterations(nodes.len()),
            kind: None,
            status: Some(Status::Succeeded),
            duration_ms: nodes.iter().filter_map(Node::duration_ms).reduce(u64::saturating_add),
            attempts: 0,
            work,
            agent: None,
            error: None,
            run_id: None,
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.prefix, self.label)?;
        if let Some(kind) = &self.kind {
            write!(f, " ({kind})")?;
        }
        // A row of several iterations says in its label how they ended.
        if !matches!(self.part, RowPart::Iterations(_)) {
            write!(f, ": {}", self.status.as_ref().map_or("open", Status::as_str))?;
        }
        if self.attempts > 1 {
            write!(f, ", {} attempts", self.attempts)?;
        }
        if let Some(millis) = self.duration_ms {
            write!(f, ", {millis} ms")?;
        }
        if self.work.tool_calls > 0 {
            write!(f, ", {} tool calls", self.work.tool_calls)?;
        }
        if self.work.tool_failures > 0 {
            write!(f, " ({} failed)", self.work.tool_failures)?;
        }
        if let Some(tokens) = self.work.usage.total() {
            write!(f, ", {tokens} tokens")?;
        }
        if let Some(error) = &self.error {
            write!(f, ": {error}")?;
        }
        Ok(())
    }
}
