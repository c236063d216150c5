//! The summary as JSON, in the order in which a person reads it.

use std::collections::BTreeMap;

use quipu_event::payload::{RunKind, Status, TokenCounts};
use quipu_event::{RunId, Timestamp};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{ModelTotals, StepTotals, Summary, ToolTotals};

impl Summary {
    /// Returns the summary as JSON.
    pub fn to_json(&self) -> Value {
        // Every key is text and every number finite or `null`, so there is nothing to fail.
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SummaryWire {
            runs: self.runs,
            run_id: self.run_id.as_ref(),
            parent_run_id: self.parent_run_id.as_ref(),
            name: self.name.as_deref(),
            kind: self.kind.as_ref(),
            status: self.status.as_ref(),
            error: self.error.as_deref(),
            started: self.started,
            ended: self.ended,
            duration_ms: self.duration_ms(),
            events: self.events,
            first_seq: self.first_seq,
            last_seq: self.last_seq,
            usage: self.usage(),
            types: &self.types,
            tools: self.tools.iter().map(|(name, tool)| (&**name, ToolWire::of(tool))).collect(),
            steps: self.steps.iter().map(|(path, step)| (&**path, StepWire::of(step))).collect(),
            loops: &self.loops,
            models: self.models.iter().map(|(name, m)| (&**name, ModelWire::of(m))).collect(),
            messages: &self.messages,
            blocks: &self.blocks,
            agents: &self.agents,
            child_runs: self.child_runs,
            errors: self.errors,
            unknown: self.unknown,
            undecoded: self.undecoded,
            masked: self.masked,
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
struct SummaryWire<'a> {
    runs: u64,
    run_id: Option<&'a RunId>,
    parent_run_id: Option<&'a RunId>,
    name: Option<&'a str>,
    kind: Option<&'a RunKind>,
    status: Option<&'a Status>,
    error: Option<&'a str>,
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
    duration_ms: Option<u64>,
    events: u64,
    first_seq: Option<u64>,
    last_seq: Option<u64>,
    usage: Option<TokenCounts>,
    types: &'a BTreeMap<String, u64>,
    tools: BTreeMap<&'a str, ToolWire>,
    steps: BTreeMap<&'a str, StepWire<'a>>,
    loops: &'a BTreeMap<String, u64>,
    models: BTreeMap<&'a str, ModelWire>,
    messages: &'a BTreeMap<String, u64>,
    blocks: &'a BTreeMap<String, u64>,
    agents: &'a BTreeMap<String, u64>,
    child_runs: u64,
    errors: u64,
    unknown: u64,
    undecoded: u64,
    masked: u64,
}

#[derive(Serialize)]
struct ToolWire {
    calls: u64,
    results: u64,
    failed: u64,
    blocked: u64,
    dangling: u64,
    duration_ms: u64,
}

impl ToolWire {
    fn of(tool: &ToolTotals) -> Self {
        ToolWire {
            calls: tool.calls,
            results: tool.results,
            failed: tool.failed,
            blocked: tool.blocked,
            dangling: tool.dangling,
            duration_ms: tool.duration_ms,
        }
    }
}

#[derive(Serialize)]
struct StepWire<'a> {
    kind: Option<&'a str>,
    occurrences: u64,
    retries: u64,
    ended: u64,
    failed: u64,
    duration_ms: u64,
    max_duration_ms: u64,
}

impl<'a> StepWire<'a> {
    fn of(step: &'a StepTotals) -> Self {
        StepWire {
            kind: step.kind.as_deref(),
            occurrences: step.occurrences,
            retries: step.retries,
            ended: step.ended,
            failed: step.failed,
            duration_ms: step.duration_ms,
            max_duration_ms: step.max_duration_ms,
        }
    }
}

#[derive(Serialize)]
struct ModelWire {
    events: u64,
    tokens: TokenCounts,
}

impl ModelWire {
    fn of(model: &ModelTotals) -> Self {
        ModelWire { events: model.events, tokens: model.tokens }
    }
}
