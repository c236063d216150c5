//! An agent step: what to ask whom, with skills, role and session found.

use std::path::Path;

use super::super::place;
use super::super::scope::StepScope;
use super::super::work::{AgentJob, Work};
use super::{command, map, text};
use crate::agent::{
    LoadedSkill, compose_prompt, compose_system, find_role, find_skill, read_skill,
};
use crate::definition::{AgentStep, PromptText, Skill, Step};
use crate::language::Template;

/// The longest prompt that a file may hold, as in AWF.
const MAX_PROMPT_FILE: usize = 1024 * 1024;

pub(super) fn prepare(
    step: &Step,
    agent: &AgentStep,
    scope: &StepScope<'_>,
) -> Result<Work, String> {
    let prompt = match &agent.prompt {
        PromptText::Inline(template) => text(template, scope)?,
        PromptText::File(path) => from_file(&text(path, scope)?, scope)?,
    };
    if prompt.trim().is_empty() {
        return Err("the prompt is empty".to_owned());
    }
    let command = agent
        .command
        .as_ref()
        .map(|words| words.iter().map(|word| text(word, scope)).collect::<Result<Vec<_>, _>>());
    let conversation = agent.conversation.clone().unwrap_or_default();
    let system_prompt =
        agent.system_prompt.as_ref().map(|system| text(system, scope)).transpose()?;
    let skills = skills(agent, scope)?;
    Ok(Work::Agent(Box::new(AgentJob {
        provider: text(&agent.provider, scope)?,
        command: command.transpose()?,
        prompt: compose_prompt(&skills, &prompt),
        skills,
        system_prompt: with_role(agent, system_prompt, scope)?,
        options: map(&agent.options, scope)?,
        output_format: agent.output_format,
        mode: agent.mode,
        resume: session_to_continue(conversation.continue_from.as_deref(), scope)?,
        max_turns: conversation.max_turns,
        stop_condition: conversation.stop_condition,
        env: command::step_env(step, scope)?,
        mcp_proxy: agent.mcp_proxy.clone(),
    })))
}

fn from_file(name: &str, scope: &StepScope<'_>) -> Result<String, String> {
    let path = place::of_file(scope.plan, scope.setup, name);
    let about = |problem: String| format!("prompt_file {}: {problem}", path.display());
    let content = scope.setup.files.read(&path).map_err(about)?;
    if content.len() > MAX_PROMPT_FILE {
        return Err(about(format!("{} bytes, and {MAX_PROMPT_FILE} are the most", content.len())));
    }
    let template = Template::parse(&content).map_err(|error| about(error.to_string()))?;
    text(&template, scope).map_err(about)
}

fn session_to_continue(
    from: Option<&str>,
    scope: &StepScope<'_>,
) -> Result<Option<String>, String> {
    let Some(from) = from else { return Ok(None) };
    let value = scope.values.get(scope.space, from);
    let value = value.ok_or_else(|| format!("continue_from: step `{from}` has not run"))?;
    match &value.outcome.session {
        Some(session) => Ok(Some(session.clone())),
        None => Err(format!("continue_from: step `{from}` left no session to continue")),
    }
}

fn skills(agent: &AgentStep, scope: &StepScope<'_>) -> Result<Vec<LoadedSkill>, String> {
    let files = |path: &Path| scope.setup.files.read(path).ok();
    let read = |skill: &Skill| match skill {
        Skill::Named(name) => find_skill(&text(name, scope)?, &files, &scope.setup.skill_dirs),
        Skill::At(path) => {
            read_skill(&place::of_file(scope.plan, scope.setup, &text(path, scope)?), &files)
        }
    };
    agent.skills.iter().map(read).collect()
}

fn with_role(
    agent: &AgentStep,
    system_prompt: Option<String>,
    scope: &StepScope<'_>,
) -> Result<Option<String>, String> {
    let files = |path: &Path| scope.setup.files.read(path).ok();
    let role = match &agent.role {
        Some(name) => Some(find_role(&text(name, scope)?, &files, &scope.setup.role_dirs)?),
        None => None,
    };
    Ok(compose_system(role.as_deref(), system_prompt.as_deref()))
}
