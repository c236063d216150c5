//! Records of a session file that are about the session, and not part of what is said in it.

use quipu_event::Timestamp;
use serde_json::json;

use super::wire::short;
use crate::outbox::{Outbox, Stamp};
use crate::value::Fields;

/// The types, and for each the one field that is worth showing, if there is one.
const TYPES: &[(&str, &str)] = &[
    ("agent-color", "agentColor"),
    ("agent-name", "agentName"),
    ("agent-setting", "agentSetting"),
    ("ai-title", "aiTitle"),
    ("api-request", "querySource"),
    ("api-request-blob", ""),
    ("api-request-shape", ""),
    ("atis-latch", ""),
    ("attribution-snapshot", ""),
    ("bridge-session", ""),
    ("content-replacement", ""),
    ("cost-state", "totalCostUSD"),
    ("custom-title", "customTitle"),
    ("file-history-delta", "trackingPath"),
    ("file-history-snapshot", "messageId"),
    ("last-prompt", ""),
    ("marble-origami-commit", ""),
    ("marble-origami-snapshot", ""),
    ("mode", "mode"),
    ("permission-mode", "permissionMode"),
    ("pr-link", "prUrl"),
    ("queue-operation", "operation"),
    ("speculation-accept", ""),
    ("summary", "summary"),
    ("tag", "tag"),
    ("task-summary", "summary"),
    ("tools-used", ""),
    ("worktree-state", ""),
];

/// Tells whether records of type `kind` are about the session.
pub(super) fn is_metadata(kind: &str) -> bool {
    TYPES.iter().any(|(name, _)| *name == kind)
}

/// Puts a record that is about the session; returns whether it is one.
pub(super) fn put(
    out: &mut Outbox<'_>,
    time: Option<Timestamp>,
    kind: &str,
    fields: &Fields<'_>,
) -> bool {
    let Some((_, shown)) = TYPES.iter().find(|(name, _)| *name == kind) else { return false };
    let value = fields.text(shown).map(|text| short(&text));
    let number = fields.number(shown);
    let facts = json!({ "topic": kind.replace('-', "_"), "value": value, "number": number });
    out.system(&Stamp::at(time), "metadata", facts);
    true
}

/// Puts the card that lies beside a subagent's file; returns whether it is one.
pub(super) fn put_subagent_card(out: &mut Outbox<'_>, fields: &Fields<'_>) -> bool {
    let Some(name) = fields.text("agentType") else { return false };
    let facts = json!({
        "topic": "subagent",
        "name": name,
        "tool_id": fields.text("toolUseId"),
        "depth": fields.count("spawnDepth"),
        "description": fields.text("description").map(|text| short(&text)),
    });
    out.system(&Stamp::default(), "metadata", facts);
    true
}
