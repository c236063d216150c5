//! The tools that a model behind an API may use: who has them, and what a call comes to.
//!
//! No tool is defined here.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

use quipu_event::payload::ToolStatus;
use serde_json::Value;

use crate::engine::Occurrence;

/// Somebody who has tools.
pub trait ToolHost: Send + Sync {
    /// Returns the tools that there are.
    fn tools(&self) -> Vec<ToolSpec>;

    /// Calls one of them. The call and its result are recorded by whoever calls.
    fn call(&self, call: ToolCalling) -> Pin<Box<dyn Future<Output = ToolAnswer> + Send + '_>>;
}

/// A tool, as a model is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of what it takes.
    pub input_schema: Value,
    /// Whose it is: `builtin` or `mcp:<server>`.
    pub provider: String,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCalling {
    /// Which tool.
    pub name: String,
    /// The model's own id of the call.
    pub call_id: String,
    /// What it is given.
    pub input: Value,
    /// The step that asks.
    pub at: Occurrence,
    /// Where it works.
    pub dir: PathBuf,
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolAnswer {
    /// What it answered: text, or whatever structure the tool has.
    pub output: Value,
    /// Why it failed.
    pub error: Option<String>,
    /// How it ended.
    pub status: ToolStatus,
}

/// Nobody: there are no tools.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTools;

impl ToolHost for NoTools {
    fn tools(&self) -> Vec<ToolSpec> {
        Vec::new()
    }

    fn call(&self, call: ToolCalling) -> Pin<Box<dyn Future<Output = ToolAnswer> + Send + '_>> {
        Box::pin(async move { ToolAnswer::failed(format!("there is no tool `{}`", call.name)) })
    }
}

impl ToolAnswer {
    /// Makes the answer of a call that did what it was to do.
    pub fn completed(output: impl Into<Value>) -> Self {
        ToolAnswer { output: output.into(), error: None, status: ToolStatus::Completed }
    }

    /// Makes the answer of a call that failed.
    pub fn failed(error: impl Into<String>) -> Self {
        let error = error.into();
        let output = Value::from(error.clone());
        ToolAnswer { output, error: Some(error), status: ToolStatus::Failed }
    }
}
