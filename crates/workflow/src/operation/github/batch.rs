//! `github.batch`: several operations side by side, and when that counts as a success.

use std::sync::Arc;

use serde_json::{Map, json};
use tokio::sync::Semaphore;
use tokio::task::{Id, JoinSet};

use super::super::inputs::Inputs;
use super::super::{Failure, Values, catalogue};
use super::api::Api;
use super::one;
use crate::language::Value;

/// How many operations run at a time when nobody says.
const DEFAULT_CONCURRENCY: u64 = 3;

/// `{operations: [{name, …inputs} or {name, inputs: {…}}], strategy, concurrency}` →
/// `total, succeeded, failed, results`, the results in the order of the operations.
///
/// `all_succeed` abandons the rest at the first failure, `any_succeed` at the first success;
/// `best_effort`, which is the default, does everything and never fails.
pub(super) async fn perform(inputs: Inputs<'_>, api: Api) -> Result<Values, Failure> {
    let strategy = Strategy::read(inputs)?;
    let operations = operations(inputs)?;
    let room = inputs.number("concurrency")?.unwrap_or(DEFAULT_CONCURRENCY).clamp(1, 100);
    let room = Arc::new(Semaphore::new(room as usize));
    let mut running = JoinSet::new();
    let mut ids: Vec<Id> = Vec::new();
    for operation in &operations {
        let (api, room, operation) = (api.clone(), Arc::clone(&room), operation.clone());
        let task = running.spawn(async move {
            let _turn = room.acquire_owned().await;
            one(Inputs::new(&operation.name, &operation.inputs), &api).await
        });
        ids.push(task.id());
    }
    let mut results: Vec<Option<Result<Values, Failure>>> =
        operations.iter().map(|_| None).collect();
    while let Some(ended) = running.join_next_with_id().await {
        // An operation that was abandoned, or broke down, has no result.
        let Ok((id, result)) = ended else { continue };
        let enough = strategy.is_decided_by(&result);
        if let Some(index) = ids.iter().position(|known| *known == id) {
            results[index] = Some(result);
        }
        if enough {
            running.abort_all();
        }
    }
    let values = concluded(inputs, strategy, &operations, results)?;
    // Whatever may fail in a batch, being stopped is no result of it.
    match values["failed"] != 0 && api.is_stopped() {
        true => Err(inputs.failure("canceled").with_values(values)),
        false => Ok(values),
    }
}

/// One operation of a batch.
#[derive(Clone)]
struct Operation {
    name: String,
    inputs: Map<String, Value>,
}

/// When a batch counts as a success.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strategy {
    AllSucceed,
    AnySucceed,
    BestEffort,
}

impl Strategy {
    fn read(inputs: Inputs<'_>) -> Result<Self, Failure> {
        match inputs.text("strategy")?.as_deref() {
            Some("all_succeed") => Ok(Strategy::AllSucceed),
            Some("any_succeed") => Ok(Strategy::AnySucceed),
            None | Some("best_effort") => Ok(Strategy::BestEffort),
            Some(other) => Err(inputs.failure(format!(
                "input `strategy` is {other:?}: expected all_succeed, any_succeed or best_effort"
            ))),
        }
    }

    fn is_decided_by(self, result: &Result<Values, Failure>) -> bool {
        match self {
            Strategy::AllSucceed => result.is_err(),
            Strategy::AnySucceed => result.is_ok(),
            Strategy::BestEffort => false,
        }
    }
}

/// Reads and checks all operations, so that none is done when one cannot be.
fn operations(inputs: Inputs<'_>) -> Result<Vec<Operation>, Failure> {
    let parsed;
    let list = match inputs.value("operations") {
        Some(Value::Array(list)) => list,
        Some(Value::String(text)) => {
            parsed = serde_json::from_str::<Vec<Value>>(text)
                .map_err(|error| inputs.failure(format!("input `operations`: {error}")))?;
            &parsed
        }
        _ => return Err(inputs.failure("input `operations` must be a list")),
    };
    let numbered = list.iter().enumerate();
    numbered
        .map(|(index, value)| {
            operation(value)
                .map_err(|message| inputs.failure(format!("operations[{index}]: {message}")))
        })
        .collect()
}

fn operation(value: &Value) -> Result<Operation, String> {
    let Value::Object(object) = value else { return Err("expected an object".to_owned()) };
    let Some(name) = object.get("name").and_then(Value::as_str) else {
        return Err("`name` is missing".to_owned());
    };
    let name = if name.contains('.') { name.to_owned() } else { format!("github.{name}") };
    if name == "github.batch" {
        return Err("a batch cannot hold another".to_owned());
    }
    if !name.starts_with("github.") || !catalogue::OPERATIONS.contains(&name.as_str()) {
        return Err(catalogue::unknown(&name));
    }
    let mut inputs = object.clone();
    inputs.remove("name");
    if let Some(nested) = inputs.remove("inputs") {
        let Value::Object(nested) = nested else { return Err("`inputs` must be a map".to_owned()) };
        inputs.extend(nested);
    }
    Ok(Operation { name, inputs })
}

fn concluded(
    inputs: Inputs<'_>,
    strategy: Strategy,
    operations: &[Operation],
    results: Vec<Option<Result<Values, Failure>>>,
) -> Result<Values, Failure> {
    let total = results.len();
    let succeeded = results.iter().filter(|result| matches!(result, Some(Ok(_)))).count();
    let first_error = results.iter().find_map(|result| match result {
        Some(Err(failure)) => Some(failure.message.clone()),
        _ => None,
    });
    let told: Vec<Value> =
        operations.iter().zip(results).map(|(operation, result)| told(operation, result)).collect();
    let values = Map::from_iter([
        ("total".to_owned(), json!(total)),
        ("succeeded".to_owned(), json!(succeeded)),
        ("failed".to_owned(), json!(total - succeeded)),
        ("results".to_owned(), Value::Array(told)),
    ]);
    let failed = match strategy {
        Strategy::AllSucceed => succeeded < total,
        Strategy::AnySucceed => succeeded == 0 && total > 0,
        Strategy::BestEffort => false,
    };
    if !failed {
        return Ok(values);
    }
    let why = first_error.map(|error| format!(": {error}")).unwrap_or_default();
    let message = format!("{} of {total} operations did not succeed{why}", total - succeeded);
    Err(inputs.failure(message).with_values(values))
}

fn told(operation: &Operation, result: Option<Result<Values, Failure>>) -> Value {
    let (success, outputs, error) = match result {
        Some(Ok(values)) => (true, values, None),
        Some(Err(failure)) => (false, failure.values, Some(failure.message)),
        None => (false, Map::new(), Some("abandoned: the batch was decided before".to_owned())),
    };
    json!({"name": operation.name, "success": success, "outputs": outputs, "error": error})
}
