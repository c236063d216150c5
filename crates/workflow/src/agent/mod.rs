//! Agents: asked by their own programs, over HTTP, or not at all (`stub`).
//!
//! [`ask`] is the whole of it. What was asked and everything that is said, thought, called and used up
//! is recorded at the step while it happens; what it comes to is an [`Outcome`]. Whoever calls decides
//! what a failure means: nothing is tried again here but a request that a server asks us to repeat.

mod answer;
mod cli;
mod conversation;
mod desk;
mod ear;
mod hearing;
mod http;
mod lines;
mod listen;
mod provider;
mod proxy;
mod reply;
mod roles;
mod sessions;
mod skills;
mod stderr;
mod stub;

pub use answer::{Answer, read_answer};
pub use desk::{AgentSettings, Desk, NextLine, Nobody, Person, ProviderSettings};
pub use http::RetrySettings;
pub use provider::{PROVIDER_NAMES, is_provider};
pub use roles::{compose_system, find_role, role_dirs};
pub use sessions::Sessions;
pub use skills::{FileReader, LoadedSkill, compose_prompt, find_skill, read_skill, skill_dirs};

use crate::definition::McpProxy;
use crate::engine::{AgentJob, Outcome, WorkStatus};
use conversation::Conversation;
use provider::Voice;

/// Asks an agent and returns what came of it. It fails in no other way than through the outcome.
pub async fn ask(mut job: AgentJob, desk: Desk) -> Outcome {
    if job.prompt.trim().is_empty() {
        return failed("the prompt is empty");
    }
    let voice = match Voice::find(&job, &desk) {
        Ok(voice) => voice,
        Err(error) => return failed(error),
    };
    let intercepts = |proxy: &McpProxy| proxy.enable && proxy.intercept_builtins;
    if matches!(voice, Voice::Cli(_)) && job.mcp_proxy.as_ref().is_some_and(intercepts) {
        // Said in the prompt, and so recorded with it: an agent prefers the tools that it knows.
        job.system_prompt = Some(proxy::instructed(job.system_prompt.as_deref()));
    }
    let outcome = Conversation::new(&job, &desk, voice).hold().await;
    match job.output_format {
        Some(format) if outcome.status == WorkStatus::Succeeded => formatted(outcome, format),
        _ => outcome,
    }
}

/// Reads the answer as the step wants it read.
fn formatted(outcome: Outcome, format: crate::definition::OutputFormat) -> Outcome {
    match read_answer(&outcome.output, format) {
        Ok(Answer { text, json }) => Outcome { output: text, json, ..outcome },
        Err(error) => Outcome { status: WorkStatus::Failed, error: Some(error), ..outcome },
    }
}

fn failed(error: impl Into<String>) -> Outcome {
    Outcome { status: WorkStatus::Failed, error: Some(error.into()), ..Outcome::default() }
}
