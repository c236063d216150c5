//! One entry: the envelope that is the same for every agent.

use quipu_event::{Event, Json, Timestamp};

/// The source of what the main agent does.
pub const MAIN: &str = "main";
/// What the sources of everybody else begin with.
const SUBAGENT: &str = "subagent:";
/// The adapter whose entries are all of one source.
const ONE_SOURCE: &str = "codex_app_server";

/// One entry of a run's log.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The run's name.
    pub prompt_name: String,
    /// Who speaks: a registered adapter, a provider, or `quipu` for workflows. One for a whole run.
    pub adapter: String,
    /// What it is.
    pub entry_type: EntryType,
    /// Its number among the entries of its source, from 1, without gaps.
    pub sequence_number: u64,
    /// `main`, or `subagent:` and its id.
    pub source: String,
    /// When it happened; never earlier than the entry before it of the same source.
    pub timestamp: Timestamp,
    /// The agent's own name for its session.
    pub session_id: Option<String>,
    /// What is known of it: our event under `event`, and a `subtype` where the type says little.
    pub detail: Option<Json>,
    /// The foreign record that it was made from.
    pub raw: Option<String>,
}

/// What an entry is: the whole vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryType {
    /// What was said to the model.
    UserMessage,
    /// What the model said.
    AssistantMessage,
    /// The model asks for a tool.
    ToolUse,
    /// What the tool answered.
    ToolResult,
    /// Reasoning that the model showed.
    Thinking,
    /// Something that happened around the conversation; `detail.subtype` says what.
    SystemEvent,
    /// Tokens were counted.
    TokenUsage,
    /// Something went wrong.
    Error,
    /// A record that nobody understood.
    Unknown,
}

impl EntryType {
    /// Every type there is.
    pub const ALL: [EntryType; 9] = [
        EntryType::UserMessage,
        EntryType::AssistantMessage,
        EntryType::ToolUse,
        EntryType::ToolResult,
        EntryType::Thinking,
        EntryType::SystemEvent,
        EntryType::TokenUsage,
        EntryType::Error,
        EntryType::Unknown,
    ];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            EntryType::UserMessage => "user_message",
            EntryType::AssistantMessage => "assistant_message",
            EntryType::ToolUse => "tool_use",
            EntryType::ToolResult => "tool_result",
            EntryType::Thinking => "thinking",
            EntryType::SystemEvent => "system_event",
            EntryType::TokenUsage => "token_usage",
            EntryType::Error => "error",
            EntryType::Unknown => "unknown",
        }
    }
}

/// Returns whose entries those of `event` are, in a log of `adapter`.
pub(super) fn source_of(event: &Event, adapter: &str) -> String {
    match event.source.as_deref() {
        // Its protocol shows no bounds between agents, and readers count on that.
        _ if adapter == ONE_SOURCE => MAIN.to_owned(),
        None | Some("" | MAIN) => MAIN.to_owned(),
        Some(source) if source.starts_with(SUBAGENT) => source.to_owned(),
        // Whoever else it is, it is not the main agent, and readers know no third kind.
        Some(source) => format!("{SUBAGENT}{source}"),
    }
}
