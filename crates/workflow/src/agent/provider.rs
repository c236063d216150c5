//! Who is asked: the providers that workflows can name, and how each is spoken to.

use std::collections::BTreeMap;

use quipu_tool::Router;
use serde_json::json;

use super::cli::{CLIS, Cli, Options, Question};
use super::desk::Desk;
use super::http::Chat;
use super::listen::Program;
use super::proxy::{Proxy, Serving};
use super::reply::Reply;
use super::stub::Stub;
use crate::definition::McpProxy;
use crate::engine::AgentJob;

/// The providers that workflows can name.
pub const PROVIDER_NAMES: &[&str] =
    &["claude", "codex", "gemini", "github_copilot", "opencode", "openai_compatible", "stub"];

/// Tells whether there is a provider of that name.
pub fn is_provider(name: &str) -> bool {
    PROVIDER_NAMES.contains(&canonical(name))
}

/// Somebody to be asked, turn by turn.
pub(super) enum Voice {
    /// An agent with a program of its own.
    Cli(CliVoice),
    /// A model behind an API.
    Http(Box<Chat>),
    /// Nobody.
    Stub(Stub),
}

/// One turn.
pub(super) struct Turn<'a> {
    /// What is asked.
    pub(super) question: Question<'a>,
    /// Its number, in a conversation.
    pub(super) number: Option<u64>,
}

/// An agent with a program of its own, and how this step wants it.
pub(super) struct CliVoice {
    cli: &'static Cli,
    command: Option<Vec<String>>,
    env: BTreeMap<String, String>,
    options: Options,
    has_told_unread: bool,
    /// Which tools of ours it is given, and those tools once they have been asked for.
    proxy: Option<McpProxy>,
    router: Option<Router>,
    has_own_system: bool,
}

impl Voice {
    /// Finds who is to be asked.
    pub(super) fn find(job: &AgentJob, desk: &Desk) -> Result<Self, String> {
        let name = canonical(&job.provider);
        if desk.settings.stub || name == "stub" {
            return Ok(Voice::Stub(Stub::new(job)));
        }
        if let Some(cli) = CLIS.iter().copied().find(|cli| cli.name == name) {
            return Ok(Voice::Cli(CliVoice::new(cli, job, desk)));
        }
        match name {
            "openai_compatible" => Ok(Voice::Http(Box::new(Chat::new(job, desk)?))),
            _ => {
                let known = PROVIDER_NAMES.join(", ");
                Err(format!("there is no agent provider `{}` (there are {known})", job.provider))
            }
        }
    }

    /// Asks, and waits for the answer.
    pub(super) async fn ask(&mut self, turn: &Turn<'_>, desk: &Desk) -> Reply {
        match self {
            Voice::Cli(voice) => voice.ask(turn, desk).await,
            Voice::Http(chat) => chat.ask(turn, desk).await,
            Voice::Stub(stub) => stub.ask(turn, desk).await,
        }
    }
}

impl CliVoice {
    fn new(cli: &'static Cli, job: &AgentJob, desk: &Desk) -> Self {
        let set = desk.settings.provider(cli.name);
        let mut options = Options::new(&job.options);
        if let Some(model) = &set.model {
            options.set_default("model", model);
        }
        let mut env = set.env;
        env.extend(job.env.clone());
        let command = job.command.clone().or(set.command);
        CliVoice {
            cli,
            command,
            env,
            options,
            has_told_unread: false,
            proxy: job.mcp_proxy.clone().filter(|proxy| proxy.enable),
            router: None,
            has_own_system: job.system_prompt.as_ref().is_some_and(|text| !text.trim().is_empty()),
        }
    }

    async fn ask(&mut self, turn: &Turn<'_>, desk: &Desk) -> Reply {
        let failed = |error: String| Reply::failed(format!("{}: {error}", self.cli.name));
        let proxy = match self.serve(desk).await {
            Ok(proxy) => proxy,
            Err(error) => return failed(error),
        };
        let serving = proxy.as_ref().map(|proxy| self.serving(proxy));
        let question = Question { serving: serving.as_ref(), ..turn.question };
        let call = match (self.cli.ask)(&question, &mut self.options) {
            Ok(call) => call,
            Err(error) => return failed(error),
        };
        if !std::mem::replace(&mut self.has_told_unread, true) {
            tell_unread(&self.options, self.cli.name, desk);
            self.tell_limit(call.limit, desk);
        }
        let program = Program {
            cli: self.cli,
            command: self.command.clone(),
            env: self.env.clone(),
            resume: turn.question.resume,
            turn: turn.number,
            proxy,
        };
        let reply = program.listen(call, desk).await;
        // Not every program says which model it asks.
        let model = reply.model.clone().or_else(|| self.options.text(&["model"]));
        Reply { model, ..reply }
    }
}

impl CliVoice {
    /// Serves the tools that the step gives the agent, if it gives it any.
    async fn serve(&mut self, desk: &Desk) -> Result<Option<Proxy>, String> {
        if self.proxy.is_none() {
            return Ok(None);
        }
        let router = match self.router.take() {
            Some(router) => router,
            None => desk.router(self.proxy.as_ref()).await?.unwrap_or_default(),
        };
        let proxy = Proxy::open(&router, self.cli, desk).await;
        self.router = Some(router);
        proxy.map(Some)
    }

    fn serving(&self, proxy: &Proxy) -> Serving {
        let specs = self.router.iter().flat_map(Router::specs);
        Serving {
            command: proxy.command(),
            tools: specs.map(|spec| spec.name.clone()).collect(),
            intercepts: self.proxy.as_ref().is_some_and(|proxy| proxy.intercept_builtins),
            is_all_of_system: !self.has_own_system,
            env: self.env.clone(),
        }
    }

    /// Tells what of the agent's own tools is still there.
    fn tell_limit(&self, limit: Option<&str>, desk: &Desk) {
        if let Some(reason) = limit {
            let option = "mcp_proxy.intercept_builtins";
            let facts = json!({ "option": option, "provider": self.cli.name, "reason": reason });
            desk.note("option_limited", facts);
        }
    }
}

/// Tells of the options that have no effect.
pub(super) fn tell_unread(options: &Options, provider: &str, desk: &Desk) {
    for option in options.unread() {
        let reason = "not known for this provider";
        let facts = json!({ "option": option, "provider": provider, "reason": reason });
        desk.note("option_ignored", facts);
    }
}

/// Returns a provider's name as it is listed.
fn canonical(name: &str) -> &str {
    match name.trim() {
        "copilot" | "github-copilot" => "github_copilot",
        "openai" | "openai-compatible" => "openai_compatible",
        "claude_code" | "claude-code" => "claude",
        name => name,
    }
}
