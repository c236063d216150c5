//! Nobody: an answer that says that it is none, so that workflows can be tried without an agent.
//!
//! It costs nothing, reads nothing and starts nothing. A step may script what it says:
//! `options: {stub_response: text}`, or `stub_script` for more than a text.

mod script;

use quipu_event::payload::{Message, TokenCounts, Usage, UsageScope};
use quipu_event::{ContentBlock, Draft, Fidelity, Kind};
use serde_json::json;

use super::cli::as_text;
use super::desk::Desk;
use super::provider::Turn;
use super::reply::Reply;
use super::sessions::Sessions;
use crate::definition::OutputFormat;
use crate::engine::{AgentJob, WorkStatus};
use script::Script;

/// An agent that is not there.
pub(super) struct Stub {
    person: String,
    /// The model that it says it is.
    model: String,
    wants_json: bool,
    /// An answer that the step itself scripts, for trying out what follows it.
    scripted: Option<String>,
    script: Option<Script>,
}

impl Stub {
    pub(super) fn new(job: &AgentJob) -> Self {
        let scripted = job
            .options
            .get("stub_response")
            .or_else(|| job.options.get("response").filter(|_| job.provider == "stub"));
        Stub {
            person: person(&job.provider),
            model: model(&job.provider),
            wants_json: job.output_format == Some(OutputFormat::Json),
            scripted: scripted.map(as_text),
            script: job.options.get("stub_script").and_then(Script::read),
        }
    }

    /// Answers.
    pub(super) async fn ask(&self, turn: &Turn<'_>, desk: &Desk) -> Reply {
        let session = match turn.question.resume {
            Some(session) => session.to_owned(),
            None => Sessions::new_name("stub"),
        };
        let text = self.text(&desk.step_name());
        let mut blocks = match &self.script {
            Some(script) => script.play(&self.model, desk).await,
            None => Vec::new(),
        };
        blocks.push(ContentBlock::text(Fidelity::AgentEmitted, text.clone()));
        let message = Message {
            model: Some(self.model.clone()),
            turn: turn.number,
            ..Message::assistant(blocks)
        };
        let tokens = self.tokens();
        let usage = Usage {
            model: Some(self.model.clone()),
            input_tokens: tokens.input_tokens,
            output_tokens: tokens.output_tokens,
            cache_read_tokens: tokens.cache_read_tokens,
            cache_write_tokens: tokens.cache_write_tokens,
            reasoning_tokens: tokens.reasoning_tokens,
            cost_usd: tokens.cost_usd,
            scope: Some(UsageScope::Message),
            ..Usage::default()
        };
        let drafts =
            [Draft::new(Kind::MessageAssistant, &message), Draft::new(Kind::Usage, &usage)];
        drafts.into_iter().flatten().for_each(|draft| desk.record(draft));
        Reply {
            status: WorkStatus::Succeeded,
            text,
            session: Some(session),
            model: Some(self.model.clone()),
            usage: tokens,
            ..Reply::default()
        }
    }

    /// Returns the tokens that its script says it took; an answer that nobody gave took none.
    fn tokens(&self) -> TokenCounts {
        let none =
            TokenCounts { input_tokens: Some(0), output_tokens: Some(0), ..TokenCounts::default() };
        self.script.as_ref().and_then(Script::tokens).unwrap_or(none)
    }

    fn text(&self, step: &str) -> String {
        let person = &self.person;
        let from_script = || self.script.as_ref().and_then(Script::answer);
        match (self.scripted.clone().or_else(from_script), self.wants_json) {
            // Whoever reads the answer as JSON finds it in the fence.
            (Some(said), true) => format!("[STUB]\n\n```json\n{said}\n```"),
            (Some(said), false) => format!("[STUB] {said}"),
            (None, wants_json) => {
                let text = format!(
                    "[STUB] Completed step {step}. In production, this would contain the actual {person} response."
                );
                let json = json!({ "stub": true, "step": step });
                if wants_json { format!("{text}\n\n```json\n{json}\n```") } else { text }
            }
        }
    }
}

/// Returns the model that a stub in place of `provider` says it is.
fn model(provider: &str) -> String {
    match provider {
        "" | "stub" => "claude-stub".to_owned(),
        other => format!("{other}-stub"),
    }
}

/// Returns what a provider is called in a sentence.
fn person(provider: &str) -> String {
    let name = match provider {
        "" | "claude" | "stub" => "Claude",
        "codex" => "Codex",
        "gemini" => "Gemini",
        "github_copilot" | "copilot" => "GitHub Copilot",
        "opencode" => "OpenCode",
        "openai_compatible" | "openai" => "OpenAI-compatible",
        other => other,
    };
    name.to_owned()
}
