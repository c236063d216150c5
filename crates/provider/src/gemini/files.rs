//! Where Gemini CLI leaves its chats.

use crate::registry::SessionFiles;

/// Chats of the main agent, old and new, and those of subagents in a folder of the chat's id.
pub(crate) const FILES: &[SessionFiles] = &[
    chats(".gemini/tmp/*/chats/session-*.jsonl"),
    chats(".gemini/tmp/*/chats/session-*.json"),
    chats(".gemini/tmp/*/chats/*/*.jsonl"),
];

const fn chats(pattern: &'static str) -> SessionFiles {
    SessionFiles { home_variable: Some("GEMINI_CLI_HOME"), home: "", pattern, surface: "session" }
}
