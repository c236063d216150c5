//! Turns: what is asked, what is answered, and when there is no more to ask.
//!
//! A single question is a conversation of one turn. Who answers and how is none of its business.

use quipu_event::payload::{Message, TokenCounts};
use quipu_event::{ContentBlock, Draft, Fidelity, Kind, Purpose};
use serde_json::json;

use super::cli::Question;
use super::desk::Desk;
use super::provider::{Turn, Voice};
use super::reply::Reply;
use crate::definition::AgentMode;
use crate::engine::{AgentJob, Outcome, WorkStatus};
use crate::language::{Found, Scope, Value};
use crate::process::{StopReason, stop_beyond};

/// A conversation that is being held.
pub(super) struct Conversation<'a> {
    job: &'a AgentJob,
    desk: &'a Desk,
    voice: Voice,
    session: Option<String>,
    turns: u64,
    usage: TokenCounts,
}

/// What comes after a turn.
enum Next {
    /// Another question.
    Ask(String),
    /// Nothing, because.
    Over(&'static str),
    /// Nothing, because somebody stopped it.
    Stopped(StopReason),
}

impl<'a> Conversation<'a> {
    pub(super) fn new(job: &'a AgentJob, desk: &'a Desk, voice: Voice) -> Self {
        let session = job.resume.clone();
        Conversation { job, desk, voice, session, turns: 0, usage: TokenCounts::default() }
    }

    /// Holds it to its end.
    pub(super) async fn hold(mut self) -> Outcome {
        let mut prompt = self.job.prompt.clone();
        let reply = loop {
            let reply = self.turn(&prompt).await;
            if self.job.mode == AgentMode::Single {
                break reply;
            }
            if reply.status != WorkStatus::Succeeded {
                self.note_end("failed");
                break reply;
            }
            match self.next(&reply).await {
                Next::Ask(next) => prompt = next,
                Next::Over(because) => {
                    self.note_end(because);
                    break reply;
                }
                Next::Stopped(reason) => {
                    self.note_end("stopped");
                    break reply.stopped(reason);
                }
            }
            if self.session.is_none() {
                break Reply::failed("the agent did not name its session, so it cannot go on");
            }
        };
        self.outcome(reply)
    }

    async fn turn(&mut self, prompt: &str) -> Reply {
        self.turns += 1;
        let is_first = self.turns == 1;
        let system = self.job.system_prompt.as_deref().filter(|system| !system.trim().is_empty());
        let number = (self.job.mode == AgentMode::Conversation).then_some(self.turns);
        self.record_question(prompt, system.filter(|_| is_first), number);
        let resume = self.session.take();
        let resume_of = resume.as_deref();
        let question = Question { prompt, system, resume: resume_of, is_first, serving: None };
        let reply = self.voice.ask(&Turn { question, number }, self.desk).await;
        self.usage.add(&reply.usage);
        self.session = reply.session.clone().or(resume);
        reply
    }

    fn record_question(&self, prompt: &str, system: Option<&str>, turn: Option<u64>) {
        let block =
            |text: &str, purpose| ContentBlock::text(Fidelity::Router, text).with_purpose(purpose);
        let mut blocks = Vec::from_iter(system.map(|text| block(text, Purpose::SystemPrompt)));
        blocks.push(block(prompt, Purpose::Prompt));
        match Draft::new(Kind::MessageUser, &Message { turn, ..Message::user(blocks) }) {
            Ok(draft) => self.desk.record(draft),
            Err(cause) => tracing::warn!(%cause, "a prompt could not be written down"),
        }
    }

    async fn next(&self, reply: &Reply) -> Next {
        if self.job.max_turns.is_some_and(|most| self.turns >= u64::from(most)) {
            return Next::Over("max_turns");
        }
        if let Some(condition) = &self.job.stop_condition {
            let scope = TurnScope { response: &reply.text, turns: self.turns };
            match condition.holds(&scope) {
                Ok(true) => return Next::Over("stop_condition"),
                Ok(false) => {}
                Err(cause) => {
                    let facts = json!({ "condition": condition.source(), "error": cause.message });
                    self.desk.note("stop_condition_failed", facts);
                }
            }
        }
        let mut stop = self.desk.stop.clone();
        tokio::select! {
            biased;
            reason = stop_beyond(&mut stop, None) => Next::Stopped(reason),
            line = self.desk.person.next_line(&self.desk.at, &reply.text) => match line {
                None => Next::Over("end_of_input"),
                Some(line) => match line.trim() {
                    "" | "exit" | "quit" | "/exit" | "/quit" => Next::Over("person"),
                    _ => Next::Ask(line),
                },
            },
        }
    }

    fn note_end(&self, because: &str) {
        self.desk.note("conversation_ended", json!({ "turns": self.turns, "reason": because }));
    }

    fn outcome(self, reply: Reply) -> Outcome {
        Outcome {
            status: reply.status,
            error: reply.error,
            output: reply.text,
            stderr: reply.stderr,
            exit_code: reply.exit_code,
            session: self.session,
            model: reply.model,
            usage: Some(self.usage).filter(|usage| !usage.is_empty()),
            ..Outcome::default()
        }
    }
}

/// What a stop condition can refer to: `response`, the last answer, and `turn_count`.
struct TurnScope<'a> {
    response: &'a str,
    turns: u64,
}

impl Scope for TurnScope<'_> {
    fn look_up(&self, path: &[&str]) -> Found<'_> {
        let value = match path {
            ["response" | "Response" | "output" | "Output"] => Value::from(self.response),
            ["turn_count" | "turns" | "TurnCount"] => Value::from(self.turns),
            _ => {
                let known = ["response", "turn_count"].map(str::to_owned).to_vec();
                return Found::Missing { part: 0, known };
            }
        };
        Found::Value(std::borrow::Cow::Owned(value))
    }

    fn read_file(&self, path: &str) -> Result<String, String> {
        Err(format!("{path}: a stop condition reads no files"))
    }
}
