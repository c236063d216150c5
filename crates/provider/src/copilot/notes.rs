//! Events that are no part of the conversation: each becomes a `system` event with a few facts.

use serde_json::{Map, Value};

use crate::outbox::{Outbox, Stamp};
use crate::value::Fields;

/// An event type, the subtype it becomes, and the fields worth keeping with our names for them.
type Note = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const MESSAGE: &[(&str, &str)] =
    &[("infoType", "topic"), ("warningType", "topic"), ("message", "message")];
const CALL: &[(&str, &str)] =
    &[("toolCallId", "tool_id"), ("stream", "stream"), ("sequence", "sequence")];
const REQUEST: &[(&str, &str)] = &[("requestId", "request_id"), ("toolCallId", "tool_id")];
const SERVER: &[(&str, &str)] =
    &[("serverName", "server"), ("status", "status"), ("toolCount", "tools")];
const TOKENS: &[(&str, &str)] = &[
    ("success", "success"),
    ("trigger", "trigger"),
    ("tokenLimit", "token_limit"),
    ("currentTokens", "tokens_before"),
    ("preCompactionTokens", "tokens_before"),
    ("postCompactionTokens", "tokens_after"),
    ("preTruncationTokensInMessages", "tokens_before"),
    ("postTruncationTokensInMessages", "tokens_after"),
    ("messagesRemoved", "messages_removed"),
    ("messagesRemovedDuringTruncation", "messages_removed"),
];
const NOTHING: &[(&str, &str)] = &[];

/// Types with a meaning of their own, and what is noted of them.
const NOTES: &[Note] = &[
    ("session.info", "notice", MESSAGE),
    ("session.warning", "notice", MESSAGE),
    ("session.compaction_start", "compaction_started", TOKENS),
    ("session.compaction_complete", "compaction", TOKENS),
    ("session.truncation", "truncation", TOKENS),
    ("session.snapshot_rewind", "rewind", &[("upToEventId", "event_id")]),
    ("session.context_cleared", "context_cleared", NOTHING),
    ("session.mode_changed", "mode_changed", &[("newMode", "mode"), ("previousMode", "previous")]),
    ("session.task_complete", "task_completed", &[("success", "success")]),
    (
        "session.usage_checkpoint",
        "usage_checkpoint",
        &[("totalNanoAiu", "nano_aiu"), ("totalPremiumRequests", "premium_requests")],
    ),
    ("session.usage_info", "context_usage", &[("currentTokens", "used"), ("tokenLimit", "size")]),
    (
        "session.permissions_changed",
        "permissions_changed",
        &[("allowAllPermissionMode", "allow_all")],
    ),
    ("session.mcp_server_status_changed", "mcp_server", SERVER),
    ("session.mcp_server_tools_loaded", "mcp_server", SERVER),
    ("session.title_changed", "title_changed", &[("title", "title")]),
    ("session.idle", "idle", NOTHING),
    ("agent.interrupted", "interrupted", &[("activity", "activity"), ("elapsedMs", "elapsed_ms")]),
    ("assistant.idle", "idle", &[("aborted", "aborted")]),
    ("assistant.intent", "progress", &[("intent", "intent")]),
    ("assistant.streaming_delta", "progress", NOTHING),
    ("assistant.server_tool_progress", "progress", CALL),
    ("tool.execution_partial_result", "progress", CALL),
    ("tool.execution_progress", "progress", CALL),
    ("tool.shell_output", "progress", CALL),
    ("tool.user_requested", "tool_requested", CALL),
    ("hook.start", "hook", &[("hookType", "hook"), ("hookInvocationId", "invocation")]),
    ("hook.progress", "hook", &[("hookInvocationId", "invocation")]),
    (
        "hook.end",
        "hook",
        &[("hookType", "hook"), ("hookInvocationId", "invocation"), ("success", "success")],
    ),
    ("subagent.configured", "metadata", &[("model", "model")]),
    ("subagent.selected", "subagent_selected", &[("agentName", "name")]),
    ("subagent.deselected", "subagent_deselected", NOTHING),
    ("skill.invoked", "skill_invoked", &[("name", "name")]),
    ("user_input.requested", "input_requested", REQUEST),
    ("user_input.completed", "input_given", REQUEST),
    ("elicitation.requested", "input_requested", REQUEST),
    ("elicitation.completed", "input_given", REQUEST),
    ("exit_plan_mode.requested", "input_requested", REQUEST),
    ("exit_plan_mode.completed", "input_given", REQUEST),
    ("system.notification", "notice", NOTHING),
    ("model.call_start", "model_call", &[("turnId", "turn"), ("model", "model")]),
    ("model.call_finished", "model_call", &[("turnId", "turn"), ("outcome", "outcome")]),
    ("model.call_final_result", "model_call", &[("model", "model"), ("result", "outcome")]),
    ("session.background_tasks_changed", "progress", NOTHING),
];

/// Types that only tell how the program is set up or what it keeps.
const METADATA: &[&str] = &[
    "session.tools_updated",
    "session.skills_loaded",
    "session.mcp_servers_loaded",
    "session.extensions_loaded",
    "session.custom_agents_updated",
    "session.custom_notification",
    "session.context_changed",
    "session.plan_changed",
    "session.todos_changed",
    "session.handoff",
    "session.remote_steerable_changed",
    "session.workspace_file_changed",
    "session.autopilot_objective_changed",
    "session.managed_settings_resolved",
    "session.managed_settings_enforced",
    "session.binary_asset",
    "prompt_cache_break",
];

/// Families of events that only tell how the program is set up or what it keeps.
const METADATA_FAMILIES: &[&str] = &[
    "model.",
    "mcp.",
    "mcp_app.",
    "pending_messages.",
    "command.",
    "commands.",
    "capabilities.",
    "sampling.",
    "external_tool.",
    "auto_mode_switch.",
    "session_limits_exhausted.",
    "session.schedule_",
    "session.canvas.",
    "session.extensions.",
    "canvas.",
    "factory.",
];

/// Types that the normaliser itself knows.
const HANDLED: &[&str] = &[
    "abort",
    "assistant.message",
    "assistant.message_delta",
    "assistant.message_start",
    "assistant.reasoning",
    "assistant.reasoning_delta",
    "assistant.tool_call_delta",
    "assistant.turn_end",
    "assistant.turn_retry",
    "assistant.turn_start",
    "assistant.usage",
    "model.call_failure",
    "permission.completed",
    "permission.requested",
    "session.auto_mode_resolved",
    "session.error",
    "session.model_change",
    "session.resume",
    "session.shutdown",
    "session.start",
    "session.usage_record",
    "subagent.completed",
    "subagent.failed",
    "subagent.started",
    "system.message",
    "tool.execution_complete",
    "tool.execution_start",
    "user.message",
];

/// Tells whether events of this type are known.
pub(super) fn is_known(kind: &str) -> bool {
    HANDLED.contains(&kind) || is_metadata(kind) || NOTES.iter().any(|(name, ..)| *name == kind)
}

/// Puts what is noted of an event; nothing if its type is not known.
pub(super) fn put(out: &mut Outbox<'_>, stamp: &Stamp, kind: &str, data: &Fields<'_>) {
    if let Some((_, subtype, wanted)) = NOTES.iter().find(|(name, ..)| *name == kind) {
        out.system(stamp, subtype, Value::Object(facts(data, wanted)));
    } else if is_metadata(kind) {
        out.system(stamp, "metadata", serde_json::json!({ "topic": kind }));
    }
}

/// Takes the facts that are small, under our names.
pub(super) fn facts(data: &Fields<'_>, wanted: &[(&str, &str)]) -> Map<String, Value> {
    let small = |(key, name): &(&str, &str)| {
        let value = data.get(key)?;
        let is_plain = !value.is_object() && !value.is_list() && value.source().len() <= SMALL;
        let value = serde_json::from_str(value.source()).ok().filter(|_| is_plain)?;
        Some(((*name).to_owned(), value))
    };
    wanted.iter().filter_map(small).collect()
}

/// Longer texts are left to the record itself.
const SMALL: usize = 300;

fn is_metadata(kind: &str) -> bool {
    METADATA.contains(&kind) || METADATA_FAMILIES.iter().any(|family| kind.starts_with(family))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_type_is_listed_twice() {
        for (kind, ..) in NOTES {
            assert!(!HANDLED.contains(kind), "{kind} is handled and noted");
            assert_eq!(NOTES.iter().filter(|(name, ..)| name == kind).count(), 1, "{kind}");
        }
    }
}
