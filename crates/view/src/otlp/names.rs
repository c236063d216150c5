//! What the conventions call things: operations, providers, spans.

use quipu_event::payload::{Agent, RunKind};

use super::conversation::Conversations;
use crate::spans::{Span, Work};

/// Returns what a span does, in the words of the conventions; nothing where they have none.
pub(super) fn operation(work: &Work) -> Option<&'static str> {
    match work {
        Work::Run { started, .. } => match (&started.kind, &started.agent) {
            (RunKind::Session, _) | (_, Some(_)) => Some("invoke_agent"),
            (RunKind::Workflow, None) => Some("invoke_workflow"),
            _ => None,
        },
        Work::Step { started, .. } => {
            (started.agent.is_some() || started.kind == "agent").then_some("invoke_agent")
        }
        Work::Subagent { .. } => Some("invoke_agent"),
        Work::Reply(_) => Some("chat"),
        Work::Tool { .. } => Some("execute_tool"),
    }
}

/// Returns the name of a span: the operation and what it is done to.
pub(super) fn span_name(span: &Span, conversations: &Conversations) -> String {
    let operation = operation(&span.work);
    let object = match &span.work {
        Work::Run { started, .. } if operation == Some("invoke_agent") => {
            started.agent.as_ref().and_then(Agent::label).unwrap_or(&started.name).to_owned()
        }
        Work::Run { started, .. } => started.name.clone(),
        Work::Step { started, .. } => {
            started.agent.as_ref().and_then(Agent::label).unwrap_or(&started.name).to_owned()
        }
        Work::Subagent { name } => name.clone(),
        Work::Reply(message) => message
            .model
            .clone()
            .or_else(|| conversations.of(span).model.clone())
            .unwrap_or_default(),
        Work::Tool { call, .. } => call.name.clone(),
    };
    let other = if matches!(span.work, Work::Step { .. }) { "step" } else { "run" };
    let name = format!("{} {object}", operation.unwrap_or(other));
    name.trim_end().to_owned()
}

/// Returns the conventions' name of whoever serves `model`, or of the agent called `provider`.
pub(super) fn provider_name(provider: Option<&str>, model: Option<&str>) -> String {
    const BY_MODEL: [(&str, &str); 12] = [
        ("claude", "anthropic"),
        ("gpt-", "openai"),
        ("o1", "openai"),
        ("o3", "openai"),
        ("o4", "openai"),
        ("codex", "openai"),
        ("gemini", "gcp.gemini"),
        ("mistral", "mistral_ai"),
        ("deepseek", "deepseek"),
        ("grok", "x_ai"),
        ("command-r", "cohere"),
        ("kimi", "moonshot_ai"),
    ];
    let served = |name: &str| {
        let name = name.to_ascii_lowercase();
        BY_MODEL.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, who)| *who)
    };
    let known = model.and_then(served).or_else(|| provider.and_then(served));
    known.or(provider).unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_have_the_names_of_the_conventions() {
        let cases = [
            (Some("claude"), None, "anthropic"),
            (Some("codex"), Some("gpt-5"), "openai"),
            (Some("copilot"), Some("claude-opus-4"), "anthropic"),
            (Some("gemini"), None, "gcp.gemini"),
            (Some("openai"), None, "openai"),
            (Some("stub"), Some("stub-1"), "stub"),
            (None, None, "unknown"),
        ];
        for (provider, model, name) in cases {
            assert_eq!(provider_name(provider, model), name);
        }
    }
}
