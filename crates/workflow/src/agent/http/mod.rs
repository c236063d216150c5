//! Models behind an API that speaks Chat Completions: `openai_compatible`.
//!
//! The model asks for tools and we call them, through the router that records it. A session is the list of
//! its messages, kept in this process (see [`super::Sessions`]).

mod endpoint;
mod exchange;
mod history;
mod live;
mod mask;
mod retry;
mod tools;

use quipu_tool::Router;
use serde_json::{Value, json};

use super::desk::Desk;
use super::hearing::{Hearing, Manner};
use super::provider::Turn;
use super::reply::Reply;
use super::sessions::Sessions;
use crate::definition::McpProxy;
use crate::engine::{AgentJob, WorkStatus};
use crate::process::StopReason;
use endpoint::Endpoint;
use exchange::{Ending, Exchange};

pub(super) use history::from_events;
pub use retry::RetrySettings;

/// How often a model may ask for tools before it has to come to an answer.
const ROUNDS: usize = 25;

/// A model behind an API, asked turn by turn.
pub(super) struct Chat {
    endpoint: Endpoint,
    /// Which tools it is given, and those tools once they have been asked for.
    proxy: Option<McpProxy>,
    router: Option<Router>,
}

/// How a turn ended.
enum End {
    Answered,
    Failed(String),
    Stopped(StopReason),
}

impl Chat {
    pub(super) fn new(job: &AgentJob, desk: &Desk) -> Result<Self, String> {
        Ok(Chat { endpoint: Endpoint::new(job, desk)?, proxy: job.mcp_proxy.clone(), router: None })
    }

    /// Asks, calls what the model wants called, and returns what it says in the end.
    pub(super) async fn ask(&mut self, turn: &Turn<'_>, desk: &Desk) -> Reply {
        let question = &turn.question;
        let router = match self.tools(desk).await {
            Ok(router) => router,
            Err(error) => return Reply::failed(format!("openai_compatible: {error}")),
        };
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
        let (end, text) = self.rounds(&router, &mut messages, &mut hearing, desk).await;
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

    /// Returns the tools that the model is given: none, unless its step says so.
    async fn tools(&mut self, desk: &Desk) -> Result<Router, String> {
        if self.router.is_none() {
            self.router = Some(desk.router(self.proxy.as_ref()).await?.unwrap_or_default());
        }
        Ok(self.router.clone().unwrap_or_default())
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
        router: &Router,
        messages: &mut Vec<Value>,
        hearing: &mut Hearing<'d>,
        desk: &'d Desk,
    ) -> (End, Option<String>) {
        let tools: Vec<Value> = router.specs().map(tools::described).collect();
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
            match tools::call_all(calls, router, desk).await {
                Ok(answers) => messages.extend(answers),
                Err(reason) => return (End::Stopped(reason), None),
            }
        }
        (End::Failed(format!("no answer after {ROUNDS} rounds of tool calls")), None)
    }
}
