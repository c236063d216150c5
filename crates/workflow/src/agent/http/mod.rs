//! Models behind an API that speaks Chat Completions: `openai_compatible`.
//!
//! The model asks for tools and we call them, so the calls are ours to record. A session is the list of
//! its messages, kept in this process (see [`super::Sessions`]).

mod endpoint;
mod exchange;
mod history;
mod live;
mod mask;
mod retry;
mod tools;

use std::time::Instant;

use quipu_event::payload::{ToolCall, ToolResult, ToolStatus};
use quipu_event::{Draft, Fidelity, Json, Kind};
use serde::Serialize;
use serde_json::{Value, json};

use super::desk::Desk;
use super::hearing::{Hearing, Manner};
use super::provider::Turn;
use super::reply::Reply;
use super::sessions::Sessions;
use crate::engine::{AgentJob, WorkStatus};
use crate::process::StopReason;
use endpoint::Endpoint;
use exchange::{Ending, Exchange, or_stop};
use history::Call;

pub(super) use history::from_events;
pub use retry::RetrySettings;
pub use tools::{NoTools, ToolAnswer, ToolCalling, ToolHost, ToolSpec};

/// How often a model may ask for tools before it has to come to an answer.
const ROUNDS: usize = 25;

/// A model behind an API, asked turn by turn.
pub(super) struct Chat {
    endpoint: Endpoint,
}

/// How a turn ended.
enum End {
    Answered,
    Failed(String),
    Stopped(StopReason),
}

impl Chat {
    pub(super) fn new(job: &AgentJob, desk: &Desk) -> Result<Self, String> {
        Ok(Chat { endpoint: Endpoint::new(job, desk)? })
    }

    /// Asks, calls what the model wants called, and returns what it says in the end.
    pub(super) async fn ask(&mut self, turn: &Turn<'_>, desk: &Desk) -> Reply {
        let question = &turn.question;
        let mut messages = match question.resume {
            None => Vec::new(),
            Some(session) => match desk.settings.sessions.history(session) {
                Some(messages) => messages,
                None => return Reply::failed(format!("the session {session} is not known here")),
            },
        };
        let session = match question.resume {
            Some(session) => session.to_owned(),
            None => Sessions::new_name("chat"),
        };
        if question.is_first {
            if let Some(system) = question.system {
                history::set_system(&mut messages, system);
            }
            self.note_start(&session, desk);
        }
        messages.push(history::user(question.prompt));
        let manner = Manner { turn: turn.number, calls_are_ours: true, ..Manner::default() };
        let mut hearing = Hearing::new(desk, manner);
        let (end, text) = self.rounds(&mut messages, &mut hearing, desk).await;
        let heard = hearing.finish();
        let reply = Reply {
            status: WorkStatus::Succeeded,
            text: text.or(heard.text).unwrap_or_default(),
            session: Some(session.clone()),
            model: heard.model.or_else(|| Some(self.endpoint.model.clone())),
            usage: heard.usage,
            ..Reply::default()
        };
        match end {
            End::Answered => {
                desk.settings.sessions.remember(&session, messages);
                reply
            }
            End::Failed(error) => {
                let error = Some(format!("openai_compatible: {error}"));
                Reply { status: WorkStatus::Failed, error, ..reply }
            }
            End::Stopped(reason) => reply.stopped(reason),
        }
    }

    fn note_start(&self, session: &str, desk: &Desk) {
        let facts = json!({
            "provider": "openai_compatible",
            "adapter": "chat",
            "session_id": session,
            "model": self.endpoint.model,
            "url": self.endpoint.shown_url(),
        });
        desk.note("session_started", facts);
    }

    async fn rounds<'d>(
        &self,
        messages: &mut Vec<Value>,
        hearing: &mut Hearing<'d>,
        desk: &'d Desk,
    ) -> (End, Option<String>) {
        let specs = desk.settings.tools.tools();
        let tools: Vec<Value> = specs.iter().map(described).collect();
        for _ in 0..ROUNDS {
            let endpoint = &self.endpoint;
            let mut exchange =
                Exchange { endpoint, desk, hearing: &mut *hearing, messages, tools: &tools };
            let (text, calls) = match exchange.make().await {
                Ending::Said { text, calls } => (text, calls),
                Ending::Failed(error) => return (End::Failed(error), None),
                Ending::Stopped(reason) => return (End::Stopped(reason), None),
            };
            messages.push(history::assistant(&text, &calls));
            if calls.is_empty() {
                return (End::Answered, Some(text));
            }
            for call in calls {
                match call_tool(call, &specs, desk).await {
                    Ok(answer) => messages.push(answer),
                    Err(reason) => return (End::Stopped(reason), None),
                }
            }
        }
        (End::Failed(format!("no answer after {ROUNDS} rounds of tool calls")), None)
    }
}

/// Calls a tool, records both ends, and returns what the model is told.
async fn call_tool(call: Call, specs: &[ToolSpec], desk: &Desk) -> Result<Value, StopReason> {
    let Call { id, name, input } = call;
    let spec = specs.iter().find(|spec| spec.name == name);
    let began = ToolCall {
        name: name.clone(),
        call_id: id.clone(),
        input: input.clone(),
        fidelity: Fidelity::Router,
        provider: spec.map(|spec| spec.provider.clone()),
        ..ToolCall::default()
    };
    record(desk, Kind::ToolCall, &began);
    let start = Instant::now();
    let work = async {
        match (spec, input.decode::<Value>()) {
            (None, _) => ToolAnswer::failed(format!("there is no tool `{name}`")),
            (Some(_), Ok(input @ (Value::Object(_) | Value::Null))) => {
                let (at, dir) = (desk.at.clone(), desk.dir.clone());
                let call = ToolCalling { name: name.clone(), call_id: id.clone(), input, at, dir };
                desk.settings.tools.call(call).await
            }
            (Some(_), _) => ToolAnswer::failed("the arguments are no JSON object"),
        }
    };
    let (answer, stopped) = match or_stop(desk, work).await {
        Ok(answer) => (answer, None),
        Err(reason) => (ToolAnswer::failed("stopped"), Some(reason)),
    };
    let ended = ToolResult {
        name,
        call_id: id.clone(),
        input,
        output: Json::encode(&answer.output).unwrap_or_default(),
        error: answer.error.clone(),
        fidelity: Fidelity::Router,
        status: Some(answer.status.clone()),
        duration_ms: Some(u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)),
    };
    record(desk, Kind::ToolResult, &ended);
    match stopped {
        Some(reason) => Err(reason),
        None => Ok(history::tool(&id, &told(&answer))),
    }
}

/// Returns what a model is told of an answer: it should know a failure for one.
fn told(answer: &ToolAnswer) -> Value {
    match &answer.error {
        Some(error) if answer.status != ToolStatus::Completed && answer.output != json!(error) => {
            json!({ "error": error, "output": answer.output })
        }
        Some(error) if answer.status != ToolStatus::Completed => json!(format!("Error: {error}")),
        _ => answer.output.clone(),
    }
}

fn described(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.input_schema,
        },
    })
}

fn record(desk: &Desk, kind: Kind, payload: &impl Serialize) {
    match Draft::new(kind, payload) {
        Ok(draft) => desk.record(draft),
        Err(cause) => tracing::warn!(%cause, "a tool call could not be written down"),
    }
}
