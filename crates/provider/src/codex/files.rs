//! Where Codex leaves its threads. Cold ones are compressed; whoever opens them unpacks them.

use crate::registry::SessionFiles;

/// The files that hold threads.
pub(crate) const FILES: &[SessionFiles] = &[
    rollouts("sessions/**/rollout-*.jsonl"),
    rollouts("sessions/**/rollout-*.jsonl.zst"),
    rollouts("archived_sessions/**/rollout-*.jsonl"),
    rollouts("archived_sessions/**/rollout-*.jsonl.zst"),
];

const fn rollouts(pattern: &'static str) -> SessionFiles {
    SessionFiles { home_variable: Some("CODEX_HOME"), home: ".codex", pattern, surface: "rollout" }
}
