//! Where Copilot keeps its sessions.

use crate::registry::SessionFiles;

/// One folder a session; beside the events lie its plan, checkpoints and a database.
///
/// Versions from 0.0.342 to 0.0.377 had the events alone, older ones a document.
pub(crate) const FILES: &[SessionFiles] = &[
    sessions("session-state/*/events.jsonl", "session"),
    sessions("session-state/*.jsonl", "session"),
    sessions("history-session-state/session_*.json", "history"),
];

const fn sessions(pattern: &'static str, surface: &'static str) -> SessionFiles {
    SessionFiles { home_variable: Some("COPILOT_HOME"), home: ".copilot", pattern, surface }
}
