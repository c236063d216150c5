//! The agent's own events: prompts, turns, tokens, and what became of calls.

use quipu_event::BlockContent;
use quipu_event::payload::ErrorReport;
use serde_json::{Value as Fact, json};

use super::outcome::Outcome;
use super::prompts::prompt_text;
use super::wire::duration_ms;
use super::{Rollout, Turn};
use crate::outbox::{Outbox, Stamp};
use crate::value::{Fields, Value};

/// What a program of code mode calls has ids of its own.
const NESTED_CALL: &str = "exec-";
/// A search at the model's provider is named by it; its item may leave that name out.
const HOSTED_SEARCH: &str = "ws_";

/// Events that are known and only noted, and what they are told as.
const NOTED: &[(&str, &str)] = &[
    ("agent_reasoning_section_break", "progress"),
    ("apply_patch_approval_request", "permission_requested"),
    ("background_event", "progress"),
    ("collab_agent_interaction_begin", "progress"),
    ("collab_agent_interaction_end", "progress"),
    ("collab_agent_spawn_begin", "progress"),
    ("collab_close_begin", "progress"),
    ("collab_resume_begin", "progress"),
    ("collab_resume_end", "progress"),
    ("collab_waiting_begin", "progress"),
    ("context_compacted", "notice"),
    ("deprecation_notice", "notice"),
    ("dynamic_tool_call_request", "progress"),
    ("elicitation_request", "permission_requested"),
    ("entered_review_mode", "notice"),
    ("exec_approval_request", "permission_requested"),
    ("exec_command_begin", "progress"),
    ("exited_review_mode", "notice"),
    ("guardian_assessment", "notice"),
    ("guardian_warning", "notice"),
    ("hook_completed", "hook"),
    ("hook_started", "hook"),
    ("item_started", "progress"),
    ("mcp_startup_complete", "notice"),
    ("mcp_startup_update", "notice"),
    ("mcp_tool_call_begin", "progress"),
    ("model_reroute", "model_changed"),
    ("patch_apply_begin", "progress"),
    ("plan_update", "progress"),
    ("session_configured", "metadata"),
    ("shutdown_complete", "notice"),
    ("stream_error", "retry"),
    ("terminal_interaction", "progress"),
    ("thread_goal_updated", "metadata"),
    ("thread_name_updated", "metadata"),
    ("thread_rolled_back", "rolled_back"),
    ("turn_diff", "progress"),
    ("undo_completed", "notice"),
    ("undo_started", "notice"),
    ("view_image_tool_call", "progress"),
    ("warning", "notice"),
    ("web_search_begin", "progress"),
];

impl Rollout {
    /// Takes an event.
    pub(super) fn take_event(&mut self, event: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let Some(kind) = event.text("type") else { return self.release(out) };
        match &*kind {
            "user_message" => return self.take_user_message(event, stamp, out),
            "item_completed" => return self.take_turn_item(event, stamp, out),
            _ => self.release(out),
        }
        match &*kind {
            "token_count" => self.take_token_count(event, stamp, out),
            "agent_message" => self.tell(event, "message", as_text, stamp, out),
            "agent_reasoning" | "agent_reasoning_raw_content" => {
                self.tell(event, "text", as_thinking, stamp, out);
            }
            "exec_command_end"
            | "patch_apply_end"
            | "mcp_tool_call_end"
            | "web_search_end"
            | "image_generation_end"
            | "dynamic_tool_call_response" => {
                self.take_tool_end(&kind, event, "call_id", stamp, out);
            }
            "task_started" | "turn_started" => self.begin_turn(event, stamp, out),
            "task_complete" | "turn_complete" => self.complete_turn(event, stamp, out),
            "turn_aborted" => self.abort_turn(event, stamp, out),
            "error" => self.take_error(event, stamp, out),
            "thread_settings_applied" => self.take_settings(event, stamp, out),
            "sub_agent_activity" => self.take_agent_activity(event, "event_id", stamp, out),
            "collab_agent_spawn_end" => take_agent_spawn(event, stamp, out),
            "collab_waiting_end" | "collab_close_end" => {
                self.take_agent_states(&kind, event, "call_id", stamp, out);
            }
            _ => take_noted(&kind, event, stamp, out),
        }
    }

    fn take_user_message(&mut self, event: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let kind = event.text("kind").filter(|kind| kind != "plain");
        if let Some(kind) = kind {
            self.release(out);
            return out.system(stamp, "context", json!({ "topic": kind }));
        }
        let text = event.string("message").unwrap_or_default();
        let images = event.items("images").into_iter().map(|image| {
            let content =
                BlockContent::Other { block_type: "image".to_owned(), content: Some(image.json()) };
            content.vouched_by(quipu_event::Fidelity::AgentEmitted)
        });
        let id = event.string("client_id");
        self.forget_turn();
        self.speech.prompt(out, stamp, id, [prompt_text(text)].into_iter().chain(images).collect());
    }

    pub(super) fn tell(
        &mut self,
        event: &Fields<'_>,
        key: &str,
        block: fn(String) -> BlockContent,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        self.begin_work(out);
        let text = event.string(key).unwrap_or_default();
        self.speech.tell(out, stamp, self.model.as_deref(), block(text));
    }

    fn take_token_count(&mut self, event: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let Some(info) = event.fields("info") else {
            let primary = event.fields("rate_limits").and_then(|limits| limits.fields("primary"));
            let percent = primary.and_then(|primary| primary.number("used_percent"));
            return out.system(stamp, "rate_limit", json!({ "used_percent": percent }));
        };
        match self.ledger.take_event(&info) {
            Some(tokens) => self.pay(tokens, stamp, out),
            None => out.system(stamp, "repeated", json!({ "topic": "token_count" })),
        }
    }

    fn begin_turn(&mut self, event: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        self.speech.begin_turn(out);
        self.turn = Turn::Running;
        self.last_error = None;
        self.outcomes.clear();
        let turn_id = event.text("turn_id");
        out.system(stamp, "turn_started", json!({ "turn_id": turn_id }));
    }

    fn complete_turn(&mut self, event: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        self.begin_work(out);
        self.speech.pause(out);
        let error = event.fields("error");
        if let Some(error) = &error {
            self.take_error(error, stamp, out);
        }
        let status = if error.is_some() { "failed" } else { "completed" };
        self.turn = match &self.last_error {
            Some(message) if error.is_some() => Turn::Failed(message.clone()),
            _ => Turn::Completed,
        };
        let facts = json!({
            "turn_id": event.text("turn_id"),
            "status": status,
            "duration_ms": event.count("duration_ms"),
        });
        out.system(stamp, "turn_completed", facts);
    }

    fn abort_turn(&mut self, event: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        self.speech.pause(out);
        self.turn = Turn::Interrupted;
        let facts = json!({ "turn_id": event.text("turn_id"), "reason": event.text("reason") });
        out.system(stamp, "interrupted", facts);
    }

    /// Puts an error once; a failed turn repeats the one that ended it.
    fn take_error(&mut self, error: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let message = error.string("message").unwrap_or_default();
        if self.last_error.as_ref() == Some(&message) {
            return;
        }
        let code = error.get("codex_error_info").and_then(error_code);
        let report = ErrorReport {
            code: code.unwrap_or_else(|| "error".to_owned()),
            category: "api".to_owned(),
            message: message.clone(),
            retryable: false,
            details: None,
        };
        out.error(stamp, &report);
        self.turn = Turn::Failed(message.clone());
        self.last_error = Some(message);
    }

    fn take_settings(&mut self, event: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let settings = event.fields("thread_settings").unwrap_or_default();
        let before = self.model.clone();
        if let Some(model) = settings.string("model") {
            self.model = Some(model);
        }
        self.put_settings("thread_settings", before, &settings, stamp, out);
    }

    /// Takes how a call ended; the model is told by an item of its own, mostly later.
    ///
    /// In code mode the model's call is a program, and what the program calls has ids that
    /// nothing links to it: those are told as facts.
    pub(super) fn take_tool_end(
        &mut self,
        kind: &str,
        event: &Fields<'_>,
        id_key: &str,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let call_id = event.string(id_key).unwrap_or_default();
        let outcome = Outcome::read(event);
        let invocation = event.fields("invocation");
        let tool = invocation.as_ref().unwrap_or(event);
        let is_nested = call_id.starts_with(NESTED_CALL);
        if call_id.starts_with(HOSTED_SEARCH) {
            self.search = Some((call_id.clone(), event.json("action")));
        }
        let facts = json!({
            "topic": kind,
            "tool_id": call_id,
            "status": outcome.status,
            "exit_code": outcome.exit_code,
            "duration_ms": outcome.duration_ms,
            "server": tool.text("server"),
            "tool": tool.text("tool"),
            "command": command(event).filter(|_| is_nested),
        });
        out.system(stamp, if is_nested { "nested_tool" } else { "tool_detail" }, facts);
        let is_answered = self.calls.knows(&call_id) && self.calls.name_of(&call_id).is_none();
        if !is_nested && !is_answered {
            self.outcomes.insert(call_id, outcome);
        }
    }
}

pub(super) fn as_text(text: String) -> BlockContent {
    BlockContent::Text { text }
}

pub(super) fn as_thinking(thinking: String) -> BlockContent {
    BlockContent::Thinking { thinking, signature: None }
}

fn take_agent_spawn(event: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
    let Some(agent) = event.text("new_thread_id") else {
        let facts = json!({ "topic": "collab_agent_spawn_end", "tool_id": event.text("call_id") });
        return out.system(stamp, "progress", facts);
    };
    let facts = json!({
        "agent_id": agent,
        "tool_id": event.text("call_id"),
        "name": event.text("new_agent_nickname"),
        "model": event.text("model"),
    });
    out.system(stamp, "subagent_started", facts);
}

fn take_noted(kind: &str, event: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
    let Some((_, subtype)) = NOTED.iter().find(|(name, _)| *name == kind) else { return };
    let facts = json!({
        "topic": kind,
        "tool_id": event.text("call_id"),
        "name": event.text("thread_name"),
        "num_turns": event.count("num_turns"),
        "message": event.text("message").map(|message| shortened(&message)),
        "duration_ms": duration_ms(event),
    });
    out.system(stamp, subtype, facts);
}

/// An error is a word, or an object whose only key is one.
fn error_code(info: Value<'_>) -> Option<String> {
    let named = || Some(info.fields()?.iter().next()?.0.to_owned());
    info.text().map(|word| word.into_owned()).or_else(named)
}

/// Returns the command that was run, as its shell was given it.
fn command(event: &Fields<'_>) -> Option<Fact> {
    let last = event.items("command").pop()?.text()?;
    Some(shortened(&last).into())
}

fn shortened(text: &str) -> String {
    const LENGTH: usize = 200;
    text[..text.floor_char_boundary(LENGTH)].to_owned()
}
