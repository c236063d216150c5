//! Where Copilot keeps its sessions.

use crate::registry::SessionFiles;

/// One folder a session; beside the events lie its plan, checkpoints and a database.
pub(crate) const FILES: &[SessionFiles] = &[SessionFiles {
    home_variable: Some("COPILOT_HOME"),
    home: ".copilot",
    pattern: "session-state/*/events.jsonl",
    surface: "session",
}];
