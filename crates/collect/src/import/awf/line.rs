//! One line of AWF in our spelling: paths, attempts, statuses, and what a tool answered.

use std::collections::HashMap;

use quipu_event::payload::{Message, ToolCall};
use quipu_event::{BlockContent, ContentBlock, Draft, EncodeError, Event, Json, Kind, StepPath};
use serde_json::{Map, Value, json};

/// The steps that are being executed, and how often each was.
#[derive(Default)]
pub(super) struct Steps {
    tries: HashMap<StepPath, u32>,
    /// Steps that ask an agent and have not ended.
    agents: Vec<(StepPath, u64)>,
}

impl Steps {
    /// Makes the draft of a line. `workflow` is what messages say instead of their step.
    pub(super) fn draft(&mut self, event: &Event, workflow: &str) -> Result<Draft, EncodeError> {
        let path = our_path(event.path.as_str());
        let iteration = event.iteration;
        let payload: Value = event.payload.decode().unwrap_or_default();
        let (payload, place) = match event.kind {
            Kind::StepStarted | Kind::CallWorkflowStarted => {
                (self.started(&path, iteration, payload, &event.kind), (path, iteration))
            }
            Kind::StepCompleted | Kind::CallWorkflowCompleted => {
                (self.completed(&path, payload, &event.kind), (path, iteration))
            }
            Kind::MessageUser | Kind::MessageAssistant => {
                let is_named = event.path.as_str() != workflow && !event.path.is_root();
                let found = if is_named { (path, iteration) } else { self.agent() };
                (message(payload, &event.kind), found)
            }
            Kind::ToolCall if path.is_root() => (or_empty(payload), self.agent()),
            Kind::ToolResult if path.is_root() => (result(payload), self.agent()),
            Kind::ToolResult => (result(payload), (path, iteration)),
            // Types that this version does not know are theirs to say; ours keep their shape.
            Kind::Other(_) => (payload, (path, iteration)),
            _ => (or_empty(payload), (path, iteration)),
        };
        let (path, iteration) = place;
        Ok(Draft {
            timestamp: Some(event.timestamp),
            source: event.source.clone(),
            ..Draft::with_json(event.kind.clone(), checked(event, &payload)?).at(path, iteration)
        })
    }

    fn started(&mut self, path: &StepPath, iteration: u64, payload: Value, kind: &Kind) -> Value {
        let mut step = fields(payload);
        if *kind != Kind::StepStarted {
            return step.into();
        }
        let tries = self.tries.entry(path.clone()).or_default();
        *tries += 1;
        if *tries > 1 {
            step.insert("attempt".to_owned(), json!(*tries));
        }
        if step.get("kind").and_then(Value::as_str) == Some("agent") {
            self.agents.push((path.clone(), iteration));
        }
        step.into()
    }

    fn completed(&mut self, path: &StepPath, payload: Value, kind: &Kind) -> Value {
        let mut step = fields(payload);
        if *kind == Kind::StepCompleted {
            if let Some(tries) = self.tries.get(path).filter(|tries| **tries > 1) {
                step.insert("attempt".to_owned(), json!(tries));
            }
            if let Some(at) = self.agents.iter().rposition(|(open, _)| open == path) {
                self.agents.remove(at);
            }
        }
        let failed = step.get("error").and_then(Value::as_str).is_some_and(|e| !e.is_empty());
        let status = if failed { "failed" } else { "succeeded" };
        step.entry("status").or_insert_with(|| status.into());
        step.into()
    }

    /// Returns the step that a message belongs to: the only one that asks an agent, or the run.
    fn agent(&self) -> (StepPath, u64) {
        match self.agents.as_slice() {
            [only] => only.clone(),
            _ => (StepPath::root(), 0),
        }
    }
}

/// Returns the calls that a reply asks for, if it is one.
pub(super) fn calls(reply: &Draft) -> Vec<Result<Draft, EncodeError>> {
    if reply.kind != Kind::MessageAssistant {
        return Vec::new();
    }
    let Ok(message) = reply.payload.decode::<Message>() else { return Vec::new() };
    let call = |block: ContentBlock| match block.content {
        BlockContent::ToolUse { tool_name, tool_id, tool_input }
            if !tool_name.is_empty() && !tool_id.is_empty() =>
        {
            let (name, call_id, input) = (tool_name, tool_id, tool_input);
            let call = ToolCall { name, call_id, input, ..ToolCall::default() };
            let draft = Draft::new(Kind::ToolCall, &call);
            let dress = |draft: Draft| {
                let draft = draft.at(reply.path.clone(), reply.iteration);
                Draft { timestamp: reply.timestamp, ..draft }
            };
            Some(draft.map(dress))
        }
        _ => None,
    };
    message.blocks.into_iter().filter_map(call).collect()
}

/// Spells `loop:1/loop:2/check` as `loop[1].loop[2].check`.
fn our_path(path: &str) -> StepPath {
    if !path.contains('/') && !path.starts_with("loop:") {
        return StepPath::from(path);
    }
    let ours = path.split('/').filter(|part| !part.is_empty()).map(|part| {
        match part.strip_prefix("loop:").and_then(|index| index.parse::<u64>().ok()) {
            Some(index) => format!("loop[{index}]"),
            None => part.to_owned(),
        }
    });
    StepPath::from(ours.collect::<Vec<_>>().join(".").as_str())
}

/// A message as an object; the second text said to an agent is its standing instructions.
fn message(payload: Value, kind: &Kind) -> Value {
    let role = if *kind == Kind::MessageUser { "user" } else { "assistant" };
    let mut message = match payload {
        Value::Array(blocks) => Map::from_iter([("blocks".to_owned(), blocks.into())]),
        other => fields(other),
    };
    message.entry("role").or_insert_with(|| role.into());
    let blocks = message.entry("blocks").or_insert_with(|| json!([]));
    if blocks.is_null() {
        *blocks = json!([]);
    }
    if let (Kind::MessageUser, Some(blocks)) = (kind, blocks.as_array_mut()) {
        let is_text = |block: &&mut Value| block["type"] == "text" && block.is_object();
        let texts = blocks.iter_mut().filter(is_text);
        for (block, purpose) in texts.zip(["prompt", "system_prompt"]) {
            if block.get("purpose").is_none() {
                block["purpose"] = purpose.into();
            }
        }
    }
    message.into()
}

/// A result whose output is what the tool said, and not a structure of the program that wrote it.
fn result(payload: Value) -> Value {
    let mut result = fields(payload);
    let mut failed = result.get("error").and_then(Value::as_str).is_some_and(|e| !e.is_empty());
    let answer = result.get("output").and_then(Value::as_object).cloned();
    if let Some(answer) = answer.filter(|a| a.contains_key("Content") && a.contains_key("IsError"))
    {
        failed |= answer["IsError"] == true;
        let items = answer["Content"].as_array().cloned().unwrap_or_default();
        let texts: Option<Vec<&str>> = (items.iter())
            .map(|item| item["Text"].as_str().filter(|_| item["Type"] == "text"))
            .collect();
        let output = match texts {
            Some(texts) => texts.join("\n").into(),
            None => items.iter().map(lower_keys).collect::<Vec<_>>().into(),
        };
        result.insert("output".to_owned(), output);
    }
    let status = if failed { "failed" } else { "completed" };
    result.entry("status").or_insert_with(|| status.into());
    result.into()
}

fn lower_keys(item: &Value) -> Value {
    match item {
        Value::Object(fields) => {
            let lower = |(key, value): (&String, &Value)| (key.to_lowercase(), value.clone());
            Value::Object(fields.iter().map(lower).collect())
        }
        other => other.clone(),
    }
}

fn fields(payload: Value) -> Map<String, Value> {
    match payload {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn or_empty(payload: Value) -> Value {
    if payload.is_object() { payload } else { json!({}) }
}

/// Encodes a payload of the shape that its type has; another stays what it is in `raw` alone.
fn checked(event: &Event, payload: &Value) -> Result<Json, EncodeError> {
    let json = Json::encode(payload)?;
    match quipu_event::Payload::decode(&event.kind, &json) {
        Ok(_) => Ok(json),
        Err(_) => Ok(Json::null()),
    }
}
