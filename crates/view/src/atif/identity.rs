//! What a trajectory says of itself beside its steps: the agent, the session, how it ended.

use quipu_event::payload::{Agent, RunCompleted, RunStarted, System};
use quipu_event::{RunId, Timestamp};

use super::wire;

/// What is known of the run and its agent so far.
#[derive(Debug, Default)]
pub(super) struct Identity {
    pub(super) parent_run_id: Option<RunId>,
    /// When the first event happened.
    pub(super) first: Option<Timestamp>,
    run: RunStarted,
    started: bool,
    ended: Option<RunCompleted>,
}

impl Identity {
    /// Takes what the run says at its start.
    pub(super) fn start(&mut self, run: &RunStarted) {
        self.run = RunStarted { inputs: None, ..run.clone() };
        self.started = true;
    }

    /// Takes what the run says at its end, which is at `at`.
    pub(super) fn end(&mut self, run: &RunCompleted, at: Timestamp) {
        let duration_ms = Some(run.whole_ms(self.first.unwrap_or(at), at));
        self.ended = Some(RunCompleted { result: None, duration_ms, ..run.clone() });
    }

    /// Takes what an agent says of itself when its session begins.
    pub(super) fn note(&mut self, system: &System) {
        if system.subtype != "session_started" {
            return;
        }
        let fact = |key: &str| system.facts.get(key)?.as_str().map(str::to_owned);
        let agent = self.run.agent.get_or_insert_default();
        let Agent { provider, adapter, model, cli_version } = agent;
        for (known, key) in [
            (provider, "provider"),
            (adapter, "adapter"),
            (model, "model"),
            (cli_version, "cli_version"),
        ] {
            if known.is_none() {
                *known = fact(key);
            }
        }
        if self.run.session_id.is_none() {
            self.run.session_id = fact("session_id");
        }
    }

    /// Returns the agent's own name for its session.
    pub(super) fn session_id(&self) -> Option<&str> {
        self.run.session_id.as_deref()
    }

    /// Returns the agent; a workflow without one is its own.
    pub(super) fn agent<'a>(
        &'a self,
        model: Option<&'a str>,
        subagent: Option<&'a str>,
    ) -> wire::Agent<'a> {
        let agent = self.run.agent.as_ref();
        let adapter = agent.and_then(|agent| agent.adapter.as_deref());
        let extra = (adapter.is_some() || subagent.is_some())
            .then_some(wire::AgentExtra { adapter, subagent });
        let version = agent.and_then(|agent| agent.cli_version.as_deref());
        wire::Agent {
            name: agent.and_then(Agent::label).unwrap_or("quipu"),
            version: version.or(self.run.version.as_deref()).unwrap_or("unknown"),
            model_name: agent.and_then(|agent| agent.model.as_deref()).or(model),
            extra,
        }
    }

    /// Returns what is known of the run.
    pub(super) fn extra(&self) -> wire::RootExtra<'_> {
        let ended = self.ended.as_ref();
        wire::RootExtra {
            run_name: Some(self.run.name.as_str()).filter(|name| !name.is_empty()),
            run_kind: self.started.then(|| self.run.kind.as_str()),
            parent_run_id: self.parent_run_id.as_ref().map(RunId::as_str),
            cwd: self.run.cwd.as_deref(),
            task_id: self.run.task_id.as_deref(),
            status: ended.and_then(|run| run.status.as_ref()).map(|status| status.as_str()),
            error: ended.and_then(|run| run.error.as_deref()),
            duration_ms: ended.and_then(|run| run.duration_ms),
        }
    }
}
