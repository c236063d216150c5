//! What a step says that asks an agent: whom, what, with which tools.

use std::collections::BTreeMap;

use super::step::ValueTemplate;
use crate::language::{Expression, Template};

/// A step that asks an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentStep {
    /// Whose agent: `claude`, `codex`, `gemini`, `github_copilot`, `opencode`, `openai_compatible`, `stub`.
    pub provider: Template,
    /// The program and first arguments that stand for the provider's own.
    pub command: Option<Vec<Template>>,
    /// What to ask.
    pub prompt: PromptText,
    /// One question, or a conversation.
    pub mode: AgentMode,
    /// What the agent is told about itself.
    pub system_prompt: Option<Template>,
    /// A role that stands before the system prompt.
    pub role: Option<Template>,
    /// Skills that stand before the prompt.
    pub skills: Vec<Skill>,
    /// The provider's own options: `model`, `allowed_tools` …
    pub options: BTreeMap<String, ValueTemplate>,
    /// How the answer is read.
    pub output_format: Option<OutputFormat>,
    /// Whether the session is kept, and which one is continued.
    pub conversation: Option<ConversationStep>,
    /// Which tools the agent is given.
    pub mcp_proxy: Option<McpProxy>,
}

/// The `mcp_proxy` part of an agent step: which tools of ours the agent is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpProxy {
    /// Whether it is given any.
    pub enable: bool,
    /// Whether it is given those that are built in, in place of its own.
    pub intercept_builtins: bool,
    /// Tools of plugins.
    pub plugin_tools: Vec<PluginTools>,
}

/// Tools of one plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginTools {
    /// The plugin.
    pub plugin: String,
    /// Its tools, by their own names; `*` is all of them.
    pub expose: Vec<String>,
}

/// What an agent is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum PromptText {
    /// Text in the workflow.
    Inline(Template),
    /// A file, itself a template.
    File(Template),
}

/// One question, or a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentMode {
    /// One question, one answer.
    #[default]
    Single,
    /// Turns until the person has nothing more to say.
    Conversation,
}

/// The `conversation` part of an agent step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConversationStep {
    /// The step whose session goes on.
    pub continue_from: Option<String>,
    /// How many turns at most.
    pub max_turns: Option<u32>,
    /// Ends the conversation when it holds after a turn.
    pub stop_condition: Option<Expression>,
}

/// A skill.
#[derive(Clone, Debug, PartialEq)]
pub enum Skill {
    /// By name, looked for in the usual places.
    Named(Template),
    /// By path.
    At(Template),
}

/// How an answer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// As JSON, out of a code fence if need be; anything else fails the step.
    Json,
    /// As text, out of a code fence if it is one.
    Text,
}
