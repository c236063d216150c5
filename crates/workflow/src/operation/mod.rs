//! What a workflow can do without a program of its own: `http.request`, `notify.send`, `github.*`.
//!
//! An operation answers with named values. They are the step's `Response`, and its `Output` is the
//! same as `name=value` lines, sorted by name. Secrets that come from the environment are used and
//! never told. Retrying belongs to the engine.

mod catalogue;
mod exchange;
mod github;
mod http;
mod inputs;
mod notify;
mod settings;

use serde_json::Map;

pub use catalogue::OPERATIONS;
pub use settings::OperationSettings;

use crate::engine::{OperationJob, Outcome, WorkStatus};
use crate::language::Value;
use crate::process::{StopReason, StopSignal};

/// Does what the job says. Stopping it abandons what is still under way.
pub async fn perform(
    job: OperationJob,
    mut stop: StopSignal,
    settings: &OperationSettings,
) -> Outcome {
    tokio::select! {
        biased;
        reason = stopped(&mut stop) => stopped_outcome(reason),
        answer = answer(&job, settings) => outcome(answer),
    }
}

/// What an operation answers with.
type Values = Map<String, Value>;

/// An operation that did not do what it was to do.
#[derive(Debug, PartialEq)]
struct Failure {
    /// Why, with the operation's name in front.
    message: String,
    /// What is known all the same.
    values: Values,
    status: WorkStatus,
}

impl Failure {
    fn new(message: impl Into<String>) -> Self {
        Failure { message: message.into(), values: Map::new(), status: WorkStatus::Failed }
    }

    fn with_values(mut self, values: Values) -> Self {
        self.values = values;
        self
    }
}

async fn answer(job: &OperationJob, settings: &OperationSettings) -> Result<Values, Failure> {
    let inputs = inputs::Inputs::new(&job.operation, &job.inputs);
    match job.operation.as_str() {
        "http.request" => http::request(inputs).await,
        "notify.send" => notify::send(inputs, settings).await,
        name if name.starts_with("github.") && OPERATIONS.contains(&name) => {
            github::perform(inputs, settings).await
        }
        name => Err(Failure::new(catalogue::unknown(name))),
    }
}

fn outcome(answer: Result<Values, Failure>) -> Outcome {
    let (values, status, error) = match answer {
        Ok(values) => (values, WorkStatus::Succeeded, None),
        Err(failure) => (failure.values, failure.status, Some(failure.message)),
    };
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

async fn stopped(stop: &mut StopSignal) -> StopReason {
    if let Ok(reason) = stop.wait_for(Option::is_some).await
        && let Some(reason) = *reason
    {
        return reason;
    }
    // Whoever could have said stop is gone, so nobody ever will.
    std::future::pending().await
}

fn stopped_outcome(reason: StopReason) -> Outcome {
    let (status, error) = match reason {
        StopReason::TimedOut => (WorkStatus::TimedOut, "took too long"),
        StopReason::Canceled | StopReason::Now => (WorkStatus::Canceled, "canceled"),
    };
    Outcome { status, error: Some(error.to_owned()), ..Outcome::default() }
}
