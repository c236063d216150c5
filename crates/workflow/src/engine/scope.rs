//! The names that a step's templates and expressions can use, and where their values come from.
//!
//! Both spellings of our own names are known (`ExitCode`, `exit_code`); names that people chose
//! (inputs, steps, variables) are taken as they are.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use quipu_event::payload::Status;
use serde_json::json;

use super::setup::Setup;
use super::values::{Failure, SpaceId, StepValue, Values};
use crate::definition::Workflow;
use crate::language::{Found, Scope, Value};

/// The namespaces.
const NAMESPACES: [&str; 8] =
    ["inputs", "states", "env", "workflow", "loop", "context", "error", "awf"];

/// One iteration of a loop, as the steps in it see it.
#[derive(Debug)]
pub(super) struct LoopView {
    pub(super) item: Value,
    pub(super) index: u64,
    /// How many there are; unknown in a `while`.
    pub(super) length: Option<u64>,
    pub(super) outer: Option<Arc<LoopView>>,
}

/// What one step sees.
pub(super) struct StepScope<'a> {
    pub(super) plan: &'a Workflow,
    pub(super) setup: &'a Setup,
    pub(super) values: &'a Values,
    pub(super) space: SpaceId,
    pub(super) inner_loop: Option<&'a Arc<LoopView>>,
    pub(super) current_step: &'a str,
    pub(super) elapsed: Duration,
    /// Set in hooks that follow an error, which know it exactly.
    pub(super) failure: Option<&'a Failure>,
}

impl Scope for StepScope<'_> {
    fn look_up(&self, path: &[&str]) -> Found<'_> {
        let Some((namespace, rest)) = path.split_first() else {
            return Found::Missing { part: 0, known: NAMESPACES.map(str::to_owned).to_vec() };
        };
        match *namespace {
            "inputs" => self.look_up_input(rest),
            "states" => self.look_up_state(rest),
            "env" => self.look_up_env(rest),
            "workflow" => look_into(1, rest, self.workflow_fields()),
            "loop" => match self.inner_loop {
                Some(view) => look_up_loop(1, rest, view),
                None => Found::Missing { part: 0, known: Vec::new() },
            },
            "context" => look_into(1, rest, self.context_fields()),
            "error" => self.look_up_error(rest),
            "awf" => look_into(1, rest, self.awf_fields()),
            other => self.look_up_capture(other, rest),
        }
    }

    fn read_file(&self, path: &str) -> Result<String, String> {
        self.setup.files.read(&super::place::of_file(self.plan, self.setup, path))
    }
}

impl StepScope<'_> {
    fn look_up_input(&self, rest: &[&str]) -> Found<'_> {
        let inputs = &self.setup.inputs;
        let Some((name, rest)) = rest.split_first() else {
            return Found::Value(Cow::Owned(Value::Object(inputs.clone())));
        };
        match inputs.get(*name) {
            Some(value) => dig(2, rest, Cow::Borrowed(value)),
            None => Found::Missing { part: 1, known: inputs.keys().cloned().collect() },
        }
    }

    fn look_up_state(&self, rest: &[&str]) -> Found<'_> {
        let missing = |part, known| Found::Missing { part, known };
        let Some((step, rest)) = rest.split_first() else {
            return missing(0, self.values.names(self.space));
        };
        let Some(value) = self.values.get(self.space, step) else {
            return missing(1, self.values.names(self.space));
        };
        let Some((field, rest)) = rest.split_first() else {
            return Found::Value(Cow::Owned(value.all_fields()));
        };
        match value.field(field) {
            Some(found) => dig(3, rest, found),
            None => missing(2, value.field_names()),
        }
    }

    fn look_up_env(&self, rest: &[&str]) -> Found<'_> {
        let env = &self.setup.env;
        let known = || env.keys().cloned().collect();
        match rest {
            [name] => match env.get(*name) {
                Some(value) => Found::Value(Cow::Owned(Value::String(value.clone()))),
                None => Found::Missing { part: 1, known: known() },
            },
            _ => Found::Missing { part: 0, known: known() },
        }
    }

    fn look_up_error(&self, rest: &[&str]) -> Found<'_> {
        let Some(failure) = self.failure.or_else(|| self.values.failure(self.space)) else {
            return Found::Missing { part: 0, known: Vec::new() };
        };
        let fields = vec![
            ("Message", Value::from(failure.message.as_str())),
            ("State", Value::from(failure.step.as_str())),
            ("ExitCode", failure.exit_code.map_or(Value::from(1), Value::from)),
            ("Type", Value::from(failure.kind)),
        ];
        look_into(1, rest, fields)
    }

    /// A captured output may be used by its bare name.
    fn look_up_capture(&self, name: &str, rest: &[&str]) -> Found<'_> {
        let steps = self.values.names(self.space);
        for step in &steps {
            let value = self.values.get(self.space, step);
            if let Some(found) = value.and_then(|value| value.outcome.named.get(name)) {
                return dig(1, rest, Cow::Borrowed(found));
            }
        }
        Found::Missing { part: 0, known: NAMESPACES.map(str::to_owned).to_vec() }
    }

    fn workflow_fields(&self) -> Vec<(&'static str, Value)> {
        // Milliseconds are as exact as anybody can mean.
        let seconds = self.elapsed.as_millis() as f64 / 1000.0;
        vec![
            ("ID", Value::from(self.setup.run_id.as_str())),
            ("Name", Value::from(self.plan.name.as_str())),
            ("Version", Value::from(self.plan.version.as_deref().unwrap_or_default())),
            ("CurrentState", Value::from(self.current_step)),
            ("StartedAt", Value::from(self.setup.started_at.to_string())),
            ("Duration", json!(seconds)),
        ]
    }

    fn context_fields(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("WorkingDir", Value::from(self.setup.working_dir.to_string_lossy())),
            ("User", Value::from(self.setup.user.as_str())),
            ("Hostname", Value::from(self.setup.hostname.as_str())),
        ]
    }

    fn awf_fields(&self) -> Vec<(&str, Value)> {
        let directories = self.setup.awf.iter();
        directories.map(|(name, dir)| (name.as_str(), Value::from(dir.as_str()))).collect()
    }
}

impl StepValue {
    fn field(&self, name: &str) -> Option<Cow<'_, Value>> {
        if let Some(named) = self.outcome.named.get(name) {
            return Some(Cow::Borrowed(named));
        }
        let outcome = &self.outcome;
        let usage = outcome.usage.unwrap_or_default();
        let (input, output) = (usage.input_tokens.unwrap_or(0), usage.output_tokens.unwrap_or(0));
        let cached = usage.cache_read_tokens.unwrap_or(0) + usage.cache_write_tokens.unwrap_or(0);
        let owned = match plain(name).as_str() {
            "output" | "stdout" => Value::from(outcome.output.as_str()),
            "stderr" => Value::from(outcome.stderr.trim_end_matches('\n')),
            "exitcode" => {
                Value::from(outcome.code().unwrap_or(i64::from(self.status.is_failure())))
            }
            "status" => Value::from(self.status_word()),
            "response" => return Some(self.response()),
            "json" | "data" => {
                let found = outcome.json.as_ref().or(outcome.value.as_ref());
                return Some(found.map_or(Cow::Owned(Value::Null), Cow::Borrowed));
            }
            "error" => Value::from(outcome.error.as_deref().unwrap_or_default()),
            "attempt" => Value::from(self.attempt),
            "sessionid" | "session" => Value::from(outcome.session.as_deref().unwrap_or_default()),
            "model" => Value::from(outcome.model.as_deref().unwrap_or_default()),
            "tokensused" => Value::from(input + cached + output),
            "tokensinput" => Value::from(input + cached),
            "tokensoutput" => Value::from(output),
            "tokensestimated" => Value::from(false),
            "truncated" => Value::from(outcome.truncated),
            _ => return None,
        };
        Some(Cow::Owned(owned))
    }

    fn response(&self) -> Cow<'_, Value> {
        match self.outcome.value.as_ref().or(self.outcome.json.as_ref()) {
            Some(value) => Cow::Borrowed(value),
            None => Cow::Owned(Value::from(self.outcome.output.as_str())),
        }
    }

    fn status_word(&self) -> &'static str {
        match self.status {
            Status::Succeeded => "completed",
            Status::Canceled | Status::Aborted => "cancelled",
            Status::Skipped => "skipped",
            _ => "failed",
        }
    }

    fn field_names(&self) -> Vec<String> {
        let ours = STATE_FIELDS.iter().map(|name| (*name).to_owned());
        ours.chain(self.outcome.named.keys().cloned()).collect()
    }

    fn all_fields(&self) -> Value {
        let fields = self.field_names().into_iter().filter_map(|name| {
            let value = self.field(&name)?.into_owned();
            Some((name, value))
        });
        Value::Object(fields.collect())
    }
}

/// The fields that every state has.
pub(crate) const STATE_FIELDS: [&str; 17] = [
    "Output",
    "Stdout",
    "Stderr",
    "ExitCode",
    "Status",
    "Response",
    "JSON",
    "Data",
    "Error",
    "Attempt",
    "SessionID",
    "Model",
    "TokensUsed",
    "TokensInput",
    "TokensOutput",
    "TokensEstimated",
    "Truncated",
];

fn look_up_loop<'a>(part: usize, rest: &[&str], view: &'a Arc<LoopView>) -> Found<'a> {
    let is_outer = rest.first().is_some_and(|name| plain(name) == "parent");
    if is_outer && let Some(outer) = &view.outer {
        return look_up_loop(part + 1, &rest[1..], outer);
    }
    if rest.first().is_some_and(|name| plain(name) == "item") {
        return dig(part + 1, &rest[1..], Cow::Borrowed(&view.item));
    }
    let last = view.length.is_some_and(|length| view.index + 1 == length);
    let fields = vec![
        ("Item", view.item.clone()),
        ("Index", Value::from(view.index)),
        ("Index1", Value::from(view.index + 1)),
        ("First", Value::from(view.index == 0)),
        ("Last", Value::from(last)),
        ("Length", view.length.map_or(Value::from(-1), Value::from)),
    ];
    look_into(part, rest, fields)
}

/// Finds a field in either spelling, and what lies inside it.
fn look_into<'a>(part: usize, rest: &[&str], fields: Vec<(&str, Value)>) -> Found<'a> {
    let Some((name, rest)) = rest.split_first() else {
        let all = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        return Found::Value(Cow::Owned(Value::Object(all)));
    };
    let wanted = plain(name);
    let known = || fields.iter().map(|(name, _)| (*name).to_owned()).collect();
    match fields.iter().position(|(name, _)| plain(name) == wanted) {
        None => Found::Missing { part, known: known() },
        Some(position) => {
            let value = fields.into_iter().nth(position).map(|(_, value)| value);
            dig(part + 1, rest, Cow::Owned(value.unwrap_or_default()))
        }
    }
}

/// Follows a path into a value.
fn dig<'a>(part: usize, rest: &[&str], value: Cow<'a, Value>) -> Found<'a> {
    let Some((name, deeper)) = rest.split_first() else { return Found::Value(value) };
    let known = match value.as_ref() {
        Value::Object(fields) => fields.keys().cloned().collect(),
        _ => Vec::new(),
    };
    let inner = match value {
        Cow::Borrowed(value) => member(value, name).map(Cow::Borrowed),
        Cow::Owned(value) => member(&value, name).cloned().map(Cow::Owned),
    };
    match inner {
        Some(inner) => dig(part + 1, deeper, inner),
        None => Found::Missing { part, known },
    }
}

fn member<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Object(fields) => fields.get(name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    }
}

/// Removes what differs between the two spellings of a name.
fn plain(name: &str) -> String {
    name.chars().filter(|letter| *letter != '_').flat_map(char::to_lowercase).collect()
}
