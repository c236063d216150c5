//! What is known of a run as a whole: the small files around its log.

pub(super) mod wire;

use quipu_event::payload::{RunStarted, Status};
use quipu_event::{Event, Json, Kind, Timestamp};

use super::artifacts::Artifacts;
use super::readme::readme;
use super::wire::encode;
use crate::entries::{TranscriptSummary, spelled};
use crate::files::Shelf;
use crate::summary::Summary;
use wire::{
    Capture, Failure, Input, Limits, Manifest, Metrics, Prompt, Request, RunContext, Timing,
    TokenUsage,
};

/// Folds a run into what its small files say.
#[derive(Default)]
pub(super) struct Run {
    id: String,
    summary: Summary,
    started: RunStarted,
    /// The payload of `run.started`, as it stood.
    config: Option<Json>,
    /// The payload of `run.completed`, as it stood.
    outcome: Option<Json>,
    begun: String,
    latest: String,
    status: &'static str,
}

impl Run {
    /// Takes the next event.
    pub(super) fn add(&mut self, event: &Event) {
        if self.id.is_empty() {
            self.id = event.run_id.to_string();
        }
        self.summary.add(event);
        // Some writers put a child run's events among its caller's.
        if event.run_id.as_str() != self.id {
            return;
        }
        match event.kind {
            Kind::RunStarted => {
                self.started = event.payload.decode().unwrap_or_default();
                self.config = Some(event.payload.clone()).filter(Json::is_object);
            }
            Kind::RunCompleted => {
                self.outcome = Some(event.payload.clone()).filter(Json::is_object);
            }
            _ => {}
        }
    }

    /// Puts down everything but the log, the transcript and the manifest.
    pub(super) fn put_down(
        &mut self,
        transcript: &TranscriptSummary,
        artifacts: &mut Artifacts,
        shelf: &mut dyn Shelf,
    ) {
        self.settle();
        let name = transcript.prompt_name.as_str();
        let kind = self.kind();
        let input =
            Input { run_id: &self.id, name, kind: &kind, inputs: self.started.inputs.as_ref() };
        artifacts.put_json("request/input.json", &encode(&input), shelf);
        if let Some(outcome) = &self.outcome {
            artifacts.put_json("request/output.json", outcome, shelf);
        }
        if let Some(config) = &self.config {
            artifacts.put_json("config.json", config, shelf);
        }
        artifacts.put_json("run_context.json", &self.context(), shelf);
        artifacts.put_json("metrics.json", &self.metrics(), shelf);
        artifacts.put("environment/command.txt", self.command().as_bytes(), shelf);
        if let Some(failure) = self.failure() {
            artifacts.put_json("error.json", &failure, shelf);
        }
        let readme = readme(&self.id, &self.begun, self.status);
        artifacts.put("README.txt", readme.as_bytes(), shelf);
    }

    /// Returns what the bundle is, once everything else is down.
    pub(super) fn manifest<'a>(&'a self, transcript: &'a TranscriptSummary) -> Manifest<'a> {
        let ns = self.summary.kind.as_ref().map_or("", |kind| kind.as_str());
        Manifest {
            format_version: "1.0.0",
            bundle_id: &self.id,
            created_at: &self.begun,
            request: Request {
                request_id: self.request_id(),
                session_id: self.started.session_id.as_deref(),
                status: self.status,
                started_at: &self.begun,
                ended_at: &self.latest,
            },
            capture: Capture {
                mode: "full",
                trigger: "export",
                limits_applied: Limits { filesystem_truncated: false },
            },
            prompt: Prompt { ns, key: &transcript.prompt_name, adapter: &transcript.adapter },
        }
    }

    fn settle(&mut self) {
        let moment = |moment: Option<Timestamp>| moment.map(spelled).unwrap_or_default();
        self.begun = moment(self.summary.started);
        self.latest = moment(self.summary.latest);
        self.status = match &self.summary.status {
            None => "running",
            Some(Status::Succeeded | Status::Skipped) => "success",
            Some(Status::Other(_)) => "unknown",
            Some(_) => "error",
        };
    }

    fn kind(&self) -> String {
        self.summary.kind.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    /// A task outlives the tries to fulfil it; a run without one is a request of its own.
    fn request_id(&self) -> &str {
        self.started.task_id.as_deref().unwrap_or(&self.id)
    }

    fn context(&self) -> Json {
        encode(&RunContext {
            run_id: &self.id,
            request_id: self.request_id(),
            session_id: self.started.session_id.as_deref(),
            attempt: 1,
            worker_id: "",
            trace_id: None,
            span_id: None,
        })
    }

    fn metrics(&self) -> Json {
        let tokens = self.summary.usage().unwrap_or_default();
        let total = [tokens.input_tokens, tokens.output_tokens].into_iter().flatten();
        encode(&Metrics {
            timing: Timing {
                started_at: &self.begun,
                ended_at: self.summary.ended.map(|_| self.latest.as_str()),
                duration_ms: self.summary.duration_ms(),
            },
            token_usage: TokenUsage {
                input_tokens: tokens.input_tokens,
                output_tokens: tokens.output_tokens,
                cached_tokens: tokens.cache_read_tokens,
                total_tokens: total.reduce(u64::saturating_add),
                prompt_count: self.summary.messages.get("user").copied().unwrap_or(0),
            },
        })
    }

    /// Returns whose files the run was imported from, if it was.
    pub(super) fn imported_from(&self) -> Option<&str> {
        self.started.labels.as_ref()?.get("imported_from").map(String::as_str)
    }

    fn failure(&self) -> Option<Json> {
        let status = self.summary.status.as_ref().filter(|status| status.is_failure())?;
        let kind = status.as_str();
        let message = self.summary.error.as_deref().unwrap_or(kind);
        Some(encode(&Failure { kind, message, traceback: [] }))
    }

    /// A transcript knows where a run ran and what defined it, and nothing of the machine.
    fn command(&self) -> String {
        let started = &self.started;
        let entrypoint = match &started.definition {
            Some(definition) => definition.path.as_str(),
            None => started.agent.as_ref().and_then(|agent| agent.label()).unwrap_or("unknown"),
        };
        format!(
            "Working Directory: {}\nExecutable: unknown\nEntrypoint: {entrypoint}\nArguments: unknown\n",
            started.cwd.as_deref().unwrap_or("unknown"),
        )
    }
}
