//! One execution of a step by one agent, as far as its receipt must know it. It keeps no texts
//! but those of calls that wait.

use quipu_event::payload::{Agent, Status, TokenCounts};
use quipu_event::{Event, StepPath, Timestamp};

use super::calls::{Calls, moment};
use super::names::engine_token;
use super::wire::{Receipt, Routing, Tokens, document};

/// Whose model it is that nobody asked.
pub(super) const STUB_MODEL: &str = "claude-stub";
/// Providers that are programs.
const PROGRAMS: [&str; 6] = ["claude", "codex", "gemini", "github_copilot", "copilot", "opencode"];

/// See the top of this file.
#[derive(Debug)]
pub(super) struct Execution {
    pub(super) path: StepPath,
    pub(super) source: Option<Box<str>>,
    /// Which files are its own.
    pub(super) slot: usize,
    /// How many executions had the same files before it.
    pub(super) number: u64,
    /// The letters and digits that stand for the engine in names.
    pub(super) engine: String,
    pub(super) agent: Agent,
    pub(super) is_agent: bool,
    pub(super) is_stub: bool,
    pub(super) iteration: u64,
    pub(super) attempt: Option<u32>,
    pub(super) started: Timestamp,
    pub(super) latest: Timestamp,
    pub(super) model: Option<String>,
    pub(super) tokens: TokenCounts,
    pub(super) tool_calls: u64,
    pub(super) session: Option<String>,
    pub(super) has_reply: bool,
    pub(super) calls: Calls,
    pub(super) end: Option<End>,
}

/// How an execution ended.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub(super) at: Timestamp,
    pub(super) status: Status,
    pub(super) error: Option<String>,
    pub(super) duration_ms: Option<u64>,
    pub(super) usage: Option<TokenCounts>,
    pub(super) next: Option<Next>,
}

/// Where the run went from here.
#[derive(Clone, Debug)]
pub(super) struct Next {
    pub(super) decision: &'static str,
    pub(super) reason: String,
    pub(super) goto: Option<String>,
}

/// What a receipt says that an execution does not know.
pub(super) struct Ids<'a> {
    pub(super) run: &'a str,
    pub(super) flow: &'a str,
    pub(super) step: &'a str,
    pub(super) agent: &'a str,
    pub(super) transcript: &'a str,
}

impl Execution {
    /// Begins an execution by `agent`; a step without one is worked on by its own kind.
    pub(super) fn new(event: &Event, agent: Agent, worker: Option<&str>) -> Self {
        let provider = agent.label().unwrap_or("agent");
        let is_stub = provider == "stub" || agent.model.as_deref().is_some_and(is_stub_model);
        // The stub speaks for Claude, as its model says.
        let engine = worker.unwrap_or(if provider == "stub" { "claude" } else { provider });
        Execution {
            path: event.path.clone(),
            source: event.source.clone(),
            slot: 0,
            number: 0,
            engine: engine_token(engine),
            is_agent: worker.is_none(),
            is_stub: is_stub && worker.is_none(),
            agent,
            iteration: event.iteration,
            attempt: None,
            started: event.timestamp,
            latest: event.timestamp,
            model: None,
            tokens: TokenCounts::default(),
            tool_calls: 0,
            session: None,
            has_reply: false,
            calls: Calls::default(),
            end: None,
        }
    }

    /// Notes which model was at work.
    pub(super) fn note_model(&mut self, model: Option<&str>) {
        if let Some(model) = model.filter(|model| !model.is_empty() && !model.starts_with('<')) {
            self.is_stub |= is_stub_model(model);
            self.model = Some(model.to_owned());
        }
    }

    /// Returns the receipt.
    pub(super) fn receipt(&self, ids: &Ids<'_>) -> Vec<u8> {
        let unfinished = End {
            at: self.latest,
            status: Status::Other("unfinished".into()),
            error: Some("it had not ended when this was written".to_owned()),
            duration_ms: None,
            usage: None,
            next: None,
        };
        let end = self.end.as_ref().unwrap_or(&unfinished);
        let is_good = matches!(end.status, Status::Succeeded | Status::Skipped);
        let word = if is_good { "succeeded" } else { "failed" };
        let (tokens, is_reported) = self.tokens(end);
        let routing = end.next.as_ref().map(|next| Routing {
            loop_iteration: self.iteration,
            max_iterations: None,
            decision: next.decision,
            reason: &next.reason,
            next_step_id: next.goto.as_deref(),
        });
        document(&Receipt {
            engine: format!("{}-step", self.engine),
            mode: self.mode(),
            provider: self.agent.provider.as_deref(),
            model: self.model_name(),
            step_id: ids.step,
            flow_key: ids.flow,
            run_id: ids.run,
            agent_key: ids.agent,
            started_at: moment(self.started),
            completed_at: moment(end.at),
            duration_ms: end.duration_ms.unwrap_or_else(|| end.at.millis_since(self.started)),
            status: word,
            tokens,
            transcript_path: ids.transcript,
            tokens_reported: (self.is_agent && !is_reported && !self.is_stub).then_some(false),
            outcome: Some(end.status.as_str()).filter(|outcome| *outcome != word),
            error: end.error.as_deref(),
            session_id: self.session.as_deref(),
            tool_calls: self.tool_calls,
            routing,
            path: self.path.as_str(),
            iteration: self.iteration,
            attempt: self.attempt,
        })
    }

    fn mode(&self) -> Option<&'static str> {
        let provider = self.agent.provider.as_deref().unwrap_or_default();
        match self.is_stub {
            true => Some("stub"),
            false => PROGRAMS.contains(&provider).then_some("cli"),
        }
    }

    fn model_name(&self) -> &str {
        let named = self.model.as_deref().or(self.agent.model.as_deref());
        match (self.is_stub, self.is_agent) {
            (true, _) => STUB_MODEL,
            (false, true) => named.unwrap_or("unknown"),
            (false, false) => "none",
        }
    }

    /// Returns the tokens, and whether anybody gave them. The step's own sum is for runs without
    /// `usage` events.
    fn tokens(&self, end: &End) -> (Tokens, bool) {
        let counts = match end.usage {
            Some(usage) if self.tokens.is_empty() => usage,
            _ => self.tokens,
        };
        if self.is_stub {
            return (Tokens::default(), true);
        }
        let prompt = [counts.input_tokens, counts.cache_read_tokens, counts.cache_write_tokens];
        let prompt = prompt.into_iter().flatten().fold(0, u64::saturating_add);
        let completion = counts.output_tokens.unwrap_or(0);
        let total = prompt.saturating_add(completion);
        (Tokens { prompt, completion, total }, counts.total().is_some())
    }
}

/// Tells whether a model is one that nobody asked.
pub(super) fn is_stub_model(model: &str) -> bool {
    model.ends_with("-stub") || model == "stub"
}
