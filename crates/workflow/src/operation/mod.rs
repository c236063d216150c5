//! What a workflow can do without a program of its own: `http.request`, `notify.send`, `github.*`.
//!
//! An operation answers with named values. They are the step's `Response`, and its `Output` is the
//! same as `name=value` lines, sorted by name. Secrets that come from the environment are used and
//! never told. Each operation is a tool, and is called through a router like any other. Retrying belongs
//! to the engine.

mod catalogue;
mod exchange;
mod github;
mod http;
mod inputs;
mod notify;
mod settings;
mod tool;

use quipu_tool::Answer;
use serde_json::Map;

pub use catalogue::OPERATIONS;
pub(crate) use catalogue::{NAMESPACES, is_namespace, names_of};
pub use settings::OperationSettings;
pub(crate) use tool::{OperationTool, as_tool};

use crate::engine::{Outcome, WorkStatus};
use crate::language::Value;

/// What an operation answers with.
type Values = Map<String, Value>;

/// An operation that did not do what it was to do.
#[derive(Debug, PartialEq)]
struct Failure {
    /// Why, with the operation's name in front.
    message: String,
    /// What is known all the same.
    values: Values,
    /// Whether it took too long.
    has_timed_out: bool,
}

impl Failure {
    fn new(message: impl Into<String>) -> Self {
        Failure { message: message.into(), values: Map::new(), has_timed_out: false }
    }

    fn with_values(mut self, values: Values) -> Self {
        self.values = values;
        self
    }
}

/// Returns what a step comes to whose call was answered so.
fn outcome(answer: Answer) -> Outcome {
    let Answer { output, error, .. } = answer;
    let values = match output {
        Value::Object(values) => values,
        _ => Map::new(),
    };
    let status = if error.is_some() { WorkStatus::Failed } else { WorkStatus::Succeeded };
    let truncated = values.get("body_truncated") == Some(&Value::Bool(true));
    Outcome {
        status,
        error,
        output: lines(&values),
        value: Some(Value::Object(values)),
        truncated,
        ..Outcome::default()
    }
}

/// Writes values as `name=value` lines, sorted by name. Texts stand as they are, the rest as JSON.
fn lines(values: &Values) -> String {
    let mut names: Vec<&String> = values.keys().collect();
    names.sort();
    let line = |name: &String| match &values[name] {
        Value::String(text) => format!("{name}={text}"),
        other => format!("{name}={other}"),
    };
    names.into_iter().map(line).collect::<Vec<_>>().join("\n")
}
