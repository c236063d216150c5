//! Where an agent sits while it is asked: what it is told about its surroundings, and who listens.
//!
//! Holds no questions and no answers.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use quipu_event::Draft;
use quipu_journal::Clock;
use quipu_provider::KeptBytes;
use quipu_tool::{CallContext, Router};
use serde_json::Value;

use super::http::RetrySettings;
use super::sessions::Sessions;
use crate::definition::McpProxy;
use crate::display::DisplayEvent;
use crate::engine::Occurrence;
use crate::process::StopSignal;
use crate::scribe::Scribe;
use crate::toolbox::{Toolbox, surroundings};

/// The surroundings of one question.
#[derive(Clone)]
pub struct Desk {
    /// The step that asks.
    pub at: Occurrence,
    /// Who writes down what is said.
    pub scribe: Arc<dyn Scribe>,
    /// When to stop.
    pub stop: StopSignal,
    /// Who goes on with a conversation.
    pub person: Arc<dyn Person>,
    /// What is set for agents in general.
    pub settings: Arc<AgentSettings>,
    /// Where the agent works.
    pub dir: PathBuf,
    /// The tools of the run.
    pub toolbox: Arc<Toolbox>,
    /// Variables by which programs are known to be the step's.
    pub marks: Arc<BTreeMap<String, String>>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

/// Somebody who may say more in a conversation.
pub trait Person: Send + Sync {
    /// Returns the next line the person types, without its end; nothing when there is no more.
    ///
    /// `answer` is what the agent said last, for those who want to react to it.
    fn next_line<'a>(&'a self, at: &'a Occurrence, answer: &'a str) -> NextLine<'a>;
}

/// What a [`Person`] is about to say.
pub type NextLine<'a> = Pin<Box<dyn Future<Output = Option<String>> + Send + 'a>>;

/// A person who is not there: every conversation ends after its first turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

/// What is set for agents in general, shared by all steps of a run and its children.
pub struct AgentSettings {
    /// Whether every agent is replaced by a stub.
    pub stub: bool,
    /// By provider, as workflows name them.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// Which foreign bytes are kept beside the events made from them.
    pub kept: KeptBytes,
    /// How often a request to an API is made again.
    pub retry: RetrySettings,
    /// The sessions that live in this process.
    pub sessions: Sessions,
    /// The program, and its first arguments, by which agents reach our tools: this one's `mcp-serve`, if
    /// empty. It is given `--socket` and a path.
    pub mcp_serve: Vec<String>,
}

/// What is set for one provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderSettings {
    /// The program and first arguments that stand for the provider's own.
    pub command: Option<Vec<String>>,
    /// Variables for its process.
    pub env: BTreeMap<String, String>,
    /// The model, when a step names none.
    pub model: Option<String>,
    /// Where its API is.
    pub base_url: Option<String>,
    /// What opens its API. Never recorded.
    pub api_key: Option<String>,
}

impl Default for AgentSettings {
    fn default() -> Self {
        AgentSettings {
            stub: false,
            providers: BTreeMap::new(),
            kept: KeptBytes::Full,
            retry: RetrySettings::default(),
            sessions: Sessions::default(),
            mcp_serve: Vec::new(),
        }
    }
}

impl AgentSettings {
    /// Returns what is set for `provider`, if anything is.
    pub fn provider(&self, provider: &str) -> ProviderSettings {
        self.providers.get(provider).cloned().unwrap_or_default()
    }
}

impl Person for Nobody {
    fn next_line<'a>(&'a self, _: &'a Occurrence, _: &'a str) -> NextLine<'a> {
        Box::pin(async { None })
    }
}

impl Desk {
    /// Records a draft as something that happened at this step.
    pub(super) fn record(&self, draft: Draft) {
        self.scribe.record(draft.at(self.at.path.clone(), self.at.iteration));
    }

    /// Records a fact.
    pub(super) fn note(&self, subtype: &str, facts: Value) {
        match Draft::system(subtype, facts) {
            Ok(draft) => self.record(draft),
            Err(cause) => tracing::warn!(%cause, subtype, "a fact could not be written down"),
        }
    }

    /// Returns the surroundings of the tool calls that the agent makes.
    pub(super) fn call_context(&self) -> CallContext {
        let (scribe, marks) = (Arc::clone(&self.scribe), Arc::clone(&self.marks));
        surroundings(&self.at, scribe, self.stop.clone(), self.dir.clone(), marks)
    }

    /// Returns the tools that the agent is given: none, unless its step says so.
    ///
    /// # Errors
    ///
    /// Says which tool cannot be had, and why.
    pub(super) async fn router(&self, proxy: Option<&McpProxy>) -> Result<Option<Router>, String> {
        match proxy.filter(|proxy| proxy.enable) {
            Some(proxy) => self.toolbox.router_for(proxy, &self.call_context()).await.map(Some),
            None => Ok(None),
        }
    }

    /// Shows a piece of a text that is still in the making.
    pub(super) fn show_piece(&self, text: String) {
        self.scribe.show(DisplayEvent::Text { at: self.at.clone(), text, delta: true });
    }

    /// Returns the name of the step that asks.
    pub(super) fn step_name(&self) -> String {
        let last = self.at.path.segments().last();
        last.map(|segment| segment.name.to_owned()).unwrap_or_default()
    }
}
