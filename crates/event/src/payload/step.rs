//! The beginning and the end of a step, calls of other runs included.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run::{Agent, Status};
use super::usage::TokenCounts;
use crate::block::ContentBlock;
use crate::json::Json;

/// Payload of `step.started` and `step.call_workflow.started`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StepStarted {
    /// The step's name, the last part of its path.
    pub name: String,
    /// `agent`, `command`, `parallel`, `for_each` … or a plugin's own `<plugin>.<type>`.
    pub kind: String,
    /// Which try this is, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The agent, on steps that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// What it is about to do: a command step carries its resolved command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<ContentBlock>>,
}

/// Payload of `step.completed` and `step.call_workflow.completed`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StepCompleted {
    /// The step's name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// Which try this was, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Why it did not succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What came of it. Usually a [`StepResult`]; other writers leave other values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Json>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The sum over its `usage` events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenCounts>,
    /// The transition taken, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Json>,
}

/// The real result of a step, as our own engine writes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StepResult {
    /// What an agent or operation answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// What a command wrote to standard output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// What a command wrote to standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// A command's exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// A structured value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
}
