//! Where Claude Code leaves its sessions.

use crate::registry::SessionFiles;

/// Sessions, and the subagents' own files beside them.
pub(crate) const FILES: &[SessionFiles] = &[
    SessionFiles {
        home_variable: Some("CLAUDE_CONFIG_DIR"),
        home: ".claude",
        pattern: "projects/*/*.jsonl",
        surface: "session",
    },
    SessionFiles {
        home_variable: Some("CLAUDE_CONFIG_DIR"),
        home: ".claude",
        pattern: "projects/*/*/subagents/**/agent-*.jsonl",
        surface: "session",
    },
    SessionFiles {
        home_variable: None,
        home: ".config/claude",
        pattern: "projects/**/*.jsonl",
        surface: "session",
    },
];
