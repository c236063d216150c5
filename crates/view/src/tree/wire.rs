//! The tree as JSON, in the order in which a person reads it.

use quipu_event::payload::{RunKind, Status, TokenCounts};
use quipu_event::{RunId, Timestamp};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{Attempt, Node, RunTree, Work};

impl RunTree {
    /// Returns the tree as JSON.
    pub fn to_json(&self) -> Value {
        // Every key is text and every number finite or `null`, so there is nothing to fail.
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl Serialize for RunTree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RunWire {
            run_id: &self.run_id,
            parent_run_id: self.parent_run_id.as_ref(),
            name: self.name.as_deref(),
            kind: self.kind.as_ref(),
            status: self.status.as_ref(),
            error: self.error.as_deref(),
            agent: self.agent.as_deref(),
            started: self.started,
            duration_ms: self.duration_ms,
            events: self.events,
            work: WorkWire::of(&self.work),
            total_work: WorkWire::of(&self.total_work()),
            steps: &self.steps,
            strays: &self.strays,
        }
        .serialize(serializer)
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        NodeWire {
            name: self.part.to_string(),
            path: self.path.as_str(),
            iteration: self.iteration(),
            kind: self.kind.as_deref(),
            status: self.status(),
            error: self.error(),
            started: self.started(),
            duration_ms: self.duration_ms(),
            attempts: self.attempts.iter().map(AttemptWire::of).collect(),
            work: WorkWire::of(&self.work),
            children: &self.children,
        }
        .serialize(serializer)
    }
}

/// A run. `status` is `null` while it has not ended.
#[derive(Serialize)]
struct RunWire<'a> {
    run_id: &'a RunId,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_run_id: Option<&'a RunId>,
    name: Option<&'a str>,
    kind: Option<&'a RunKind>,
    status: Option<&'a Status>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    started: Timestamp,
    duration_ms: u64,
    events: u64,
    work: WorkWire,
    total_work: WorkWire,
    steps: &'a [Node],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    strays: &'a [RunTree],
}

/// A step or an iteration. `status` is `null` while it has not ended.
#[derive(Serialize)]
struct NodeWire<'a> {
    name: String,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    iteration: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    status: Option<Status>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    started: Option<Timestamp>,
    duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attempts: Vec<AttemptWire<'a>>,
    work: WorkWire,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    children: &'a [Node],
}

#[derive(Serialize)]
struct AttemptWire<'a> {
    attempt: u32,
    status: Option<&'a Status>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    started: Option<Timestamp>,
    duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    child_run_id: Option<&'a RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    child: Option<&'a RunTree>,
}

impl<'a> AttemptWire<'a> {
    fn of(attempt: &'a Attempt) -> Self {
        AttemptWire {
            attempt: attempt.number,
            status: attempt.status.as_ref(),
            error: attempt.error.as_deref(),
            agent: attempt.agent.as_deref(),
            started: attempt.started,
            duration_ms: attempt.duration_ms,
            child_run_id: attempt.child_run_id.as_ref(),
            child: attempt.child.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct WorkWire {
    tool_calls: u64,
    tool_failures: u64,
    messages: u64,
    errors: u64,
    usage: TokenCounts,
}

impl WorkWire {
    fn of(work: &Work) -> Self {
        WorkWire {
            tool_calls: work.tool_calls,
            tool_failures: work.tool_failures,
            messages: work.messages,
            errors: work.errors,
            usage: work.usage,
        }
    }
}
