//! The bare event messages of older versions: `{"type": "agent_message", …}`.
//!
//! `exec --json` printed them until 0.41, the app-server sent them until 0.114. How each wraps
//! them is its own business. Tool calls are in [`super::event_tools`].

use quipu_event::payload::UsageScope;
use quipu_event::{BlockContent, ContentBlock, Fidelity};
use serde_json::json;

use super::agents::Agents;
use super::event_tools::take_tool_event;
use super::meter::Totals;
use super::thread::{Thread, TurnEnd, prompt_block};
use super::trouble::{Trouble, retry_facts};
use super::voice::Growth;
use crate::outbox::{Outbox, Stamp};
use crate::value::Fields;

/// Who tells, of which thread, and to whom.
pub(in crate::codex) struct Telling<'t, 'q> {
    pub(in crate::codex) thread: &'t mut Thread,
    pub(in crate::codex) agents: &'t mut Agents,
    pub(in crate::codex) out: &'t mut Outbox<'q>,
    pub(in crate::codex) stamp: &'t Stamp,
    /// What the message answers; older versions have no other id of a turn.
    pub(in crate::codex) submission: &'t str,
}

/// What is said of a session when it is set up.
pub(in crate::codex) struct Session {
    pub(in crate::codex) id: Option<String>,
    pub(in crate::codex) model: Option<String>,
    pub(in crate::codex) cwd: Option<String>,
    /// Whether it goes on from an earlier one.
    pub(in crate::codex) has_past: bool,
}

impl Session {
    /// Reads `session_configured` in either spelling.
    pub(in crate::codex) fn read(msg: &Fields<'_>) -> Self {
        let id = ["session_id", "sessionId", "thread_id", "conversationId"];
        let past = ["initial_messages", "initialMessages"];
        Session {
            id: id.into_iter().find_map(|key| msg.string(key)),
            model: msg.string("model"),
            cwd: msg.string("cwd"),
            has_past: past.into_iter().any(|key| !msg.items(key).is_empty()),
        }
    }
}

/// Messages that are known and say nothing for the record, and what they are about.
const QUIET: &[(&str, &str)] = &[
    ("background_event", "notice"),
    ("collab_agent_interaction", "metadata"),
    ("conversation_path", "metadata"),
    ("deprecation_notice", "notice"),
    ("elicitation_request", "permission_requested"),
    ("entered_review_mode", "review_started"),
    ("exited_review_mode", "review_completed"),
    ("get_history_entry_response", "metadata"),
    ("guardian_assessment", "metadata"),
    ("hook_completed", "hook"),
    ("hook_started", "hook"),
    ("item_completed", "repeated"),
    ("item_started", "repeated"),
    ("list_custom_prompts_response", "metadata"),
    ("list_skills_response", "metadata"),
    ("mcp_list_tools_response", "metadata"),
    ("mcp_startup_complete", "metadata"),
    ("mcp_startup_update", "metadata"),
    ("model_reroute", "model_changed"),
    ("raw_response_item", "repeated"),
    ("request_permissions", "permission_requested"),
    ("request_user_input", "permission_requested"),
    ("session_configured", "metadata"),
    ("shutdown_complete", "metadata"),
    ("skills_update_available", "metadata"),
    ("terminal_interaction", "progress"),
    ("thread_goal_updated", "metadata"),
    ("thread_name_updated", "metadata"),
    ("thread_rolled_back", "metadata"),
    ("turn_diff", "progress"),
    ("undo_completed", "metadata"),
    ("undo_started", "metadata"),
    ("warning", "notice"),
];

/// Takes one message; one of a type that nobody knows is left alone.
pub(in crate::codex) fn take_event(tell: &mut Telling<'_, '_>, kind: &str, msg: &Fields<'_>) {
    match kind {
        "task_started" | "turn_started" => {
            let id = msg.string("turn_id").unwrap_or_else(|| tell.submission.to_owned());
            tell.thread.begin_turn(tell.out, tell.stamp, &id);
        }
        "task_complete" | "turn_complete" => end_turn(tell, msg),
        "turn_aborted" => {
            tell.thread.end_turn(tell.out, tell.stamp, TurnEnd::Interrupted, None);
        }
        "agent_message" => say(tell, Growth::Text, msg.string("message")),
        "agent_reasoning" | "agent_reasoning_raw_content" => {
            say(tell, Growth::Thinking, msg.string("text"));
        }
        "agent_message_delta" | "agent_message_content_delta" => {
            grow(tell, Growth::Text, kind, msg)
        }
        "agent_reasoning_delta"
        | "agent_reasoning_raw_content_delta"
        | "agent_reasoning_section_break"
        | "reasoning_content_delta"
        | "reasoning_raw_content_delta" => grow(tell, Growth::Thinking, kind, msg),
        "plan_delta" => grow(tell, Growth::Plan, kind, msg),
        "user_message" => prompt(tell, msg),
        "token_count" => count(tell, msg),
        "error" => fail(tell, msg),
        "stream_error" => retry(tell, msg),
        "plan_update" => plan(tell, msg),
        "context_compacted" => tell.out.system(tell.stamp, "compaction", json!({})),
        _ => {
            if !take_tool_event(tell, kind, msg) {
                quiet(tell, kind, msg);
            }
        }
    }
}

fn say(tell: &mut Telling<'_, '_>, growth: Growth, text: Option<String>) {
    tell.thread.voice.say(tell.out, tell.stamp, "", growth, text.unwrap_or_default());
}

fn grow(tell: &mut Telling<'_, '_>, growth: Growth, kind: &str, msg: &Fields<'_>) {
    // What is streamed is told under two names by some versions; one of them is enough.
    let piece = if kind.contains("content_delta") { None } else { msg.text("delta") };
    let piece = piece.unwrap_or_default();
    tell.thread.voice.grow(tell.out, tell.stamp, "", growth, (0, &piece));
}

fn end_turn(tell: &mut Telling<'_, '_>, msg: &Fields<'_>) {
    let end = match msg.fields("error") {
        Some(error) => {
            let trouble = Trouble::of_object(&error);
            tell.thread.cut_off(tell.out, tell.stamp);
            tell.thread.fail(tell.out, tell.stamp, &trouble);
            TurnEnd::Failed(trouble.message)
        }
        None if msg.get("last_agent_message").is_some() => TurnEnd::Completed,
        None => tell.thread.trouble().map_or(TurnEnd::Completed, TurnEnd::Failed),
    };
    tell.thread.end_turn(tell.out, tell.stamp, end, msg.count("duration_ms"));
}

fn prompt(tell: &mut Telling<'_, '_>, msg: &Fields<'_>) {
    let kind = msg.text("kind").unwrap_or_default();
    if !matches!(&*kind, "" | "plain") {
        return tell.out.system(tell.stamp, "context", json!({ "topic": kind }));
    }
    let text = msg.string("message").unwrap_or_default();
    let images = [("images", "image"), ("local_images", "localImage")];
    let images: Vec<_> = images
        .into_iter()
        .flat_map(|(key, sort)| msg.items(key).into_iter().map(move |image| (sort, image)))
        .map(|(sort, image)| {
            BlockContent::Other { block_type: sort.to_owned(), content: Some(image.json()) }
                .vouched_by(Fidelity::AgentEmitted)
        })
        .collect();
    if images.is_empty() {
        return tell.thread.prompt_text(tell.out, tell.stamp, text);
    }
    let blocks: Vec<ContentBlock> = std::iter::once(prompt_block(text)).chain(images).collect();
    tell.thread.prompt(tell.out, tell.stamp, blocks);
}

fn count(tell: &mut Telling<'_, '_>, msg: &Fields<'_>) {
    let scope = UsageScope::Message;
    let is_counted = match msg.fields("info") {
        Some(info) => info.fields("total_token_usage").is_some_and(|total| {
            let last = info.fields("last_token_usage").map(|last| Totals::read(&last));
            tell.thread.count(tell.out, tell.stamp, scope, Totals::read(&total), last)
        }),
        // The oldest versions tell what one response cost.
        None => {
            let usage = Totals::read(msg).usage(scope, tell.thread.voice.model.clone());
            let is_any = usage.output_tokens.is_some();
            if is_any {
                tell.out.usage(tell.stamp, &usage);
            }
            is_any
        }
    };
    if !is_counted {
        let plan = msg.fields("rate_limits").and_then(|limits| limits.string("plan_type"));
        tell.out.system(tell.stamp, "rate_limit", json!({ "plan": plan }));
    }
}

fn fail(tell: &mut Telling<'_, '_>, msg: &Fields<'_>) {
    if let Some(facts) = msg.text("message").and_then(|message| retry_facts(&message)) {
        return tell.out.system(tell.stamp, "retry", facts);
    }
    if !tell.thread.fail(tell.out, tell.stamp, &Trouble::of_object(msg)) {
        tell.out.system(tell.stamp, "repeated", json!({ "topic": "error" }));
    }
}

fn retry(tell: &mut Telling<'_, '_>, msg: &Fields<'_>) {
    let message = msg.text("message").unwrap_or_default();
    let facts = retry_facts(&message).unwrap_or_else(|| json!({ "reason": message }));
    tell.out.system(tell.stamp, "retry", facts);
}

fn plan(tell: &mut Telling<'_, '_>, msg: &Fields<'_>) {
    let steps = msg.items("plan");
    let is_done = |step: &&crate::value::Value<'_>| {
        step.fields().and_then(|step| step.string("status")).as_deref() == Some("completed")
    };
    let done = steps.iter().filter(is_done).count();
    tell.out.system(tell.stamp, "plan", json!({ "steps": steps.len(), "completed": done }));
}

fn quiet(tell: &mut Telling<'_, '_>, kind: &str, msg: &Fields<'_>) {
    let Some((_, subtype)) = QUIET.iter().find(|(known, _)| *known == kind) else { return };
    let message = msg.string("message").or_else(|| msg.string("summary"));
    let message = message.filter(|_| *subtype == "notice");
    tell.out.system(tell.stamp, subtype, json!({ "topic": kind, "message": message }));
}
