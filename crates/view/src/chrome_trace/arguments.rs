//! What an element is called, and what is shown when somebody clicks on it.

use quipu_event::payload::{Status, ToolStatus};
use quipu_event::{BlockContent, Event, Payload, RunId};

use super::wire::Args;
use crate::reading::read;
use crate::spans::{Span, Work};

/// Returns the name and the category of a span.
pub(super) fn label(span: &Span) -> (String, &'static str) {
    let (name, category) = match &span.work {
        Work::Run { started, .. } => (started.name.clone(), "run"),
        Work::Step { started, .. } => (started.name.clone(), "step"),
        Work::Subagent { name } => (name.clone(), "subagent"),
        Work::Reply(message) => {
            (format!("reply {}", message.model.as_deref().unwrap_or_default()), "reply")
        }
        Work::Tool { call, .. } => (call.name.clone(), "tool"),
    };
    let name = if name.is_empty() { category.to_owned() } else { name.trim_end().to_owned() };
    (name, category)
}

/// Returns what is known of a span.
pub(super) fn of_span(span: &Span) -> Args {
    let mut args = Args::number("seq", span.seq);
    args.text("path", Some(span.path.as_str()).filter(|path| !path.is_empty()));
    args.text("source", span.source.as_deref());
    match &span.work {
        Work::Run { started, completed } => {
            args.text("kind", Some(started.kind.as_str()));
            args.text("cwd", started.cwd.as_deref());
            args.text("status", completed.status.as_ref().map(Status::as_str));
            args.text("error", completed.error.as_deref());
        }
        Work::Step { started, completed, child } => {
            args.text("kind", Some(&started.kind));
            args.text("agent", started.agent.as_ref().and_then(|agent| agent.label()));
            args.text("attempt", started.attempt.map(|attempt| attempt.to_string()).as_deref());
            args.text("status", completed.status.as_ref().map(Status::as_str));
            args.text("error", completed.error.as_deref());
            args.text("child_run_id", child.as_ref().map(RunId::as_str));
        }
        Work::Subagent { .. } => {}
        Work::Reply(message) => {
            args.text("message_id", message.message_id.as_deref());
            args.text("stop_reason", message.stop_reason.as_deref());
            let said = message.blocks.iter().find_map(|block| match &block.content {
                BlockContent::Text { text } => Some(text.as_str()),
                _ => None,
            });
            args.text("text", said);
        }
        Work::Tool { call, result } => {
            args.text("call_id", Some(&call.call_id));
            args.text("provider", call.provider.as_deref());
            args.text("input", Some(call.input.as_str()));
            args.text("output", Some(result.output.as_str()).filter(|_| span.ended));
            args.text("status", result.status.as_ref().map(ToolStatus::as_str));
            args.text("error", result.error.as_deref());
        }
    }
    args.count(&span.tokens);
    if !span.ended {
        args.text("end", Some("never recorded"));
    }
    args
}

/// Returns the name and the category of something that happened, and what is known of it.
pub(super) fn happening(event: &Event) -> (String, &'static str, Args) {
    let mut args = Args::number("seq", event.seq);
    let mut name = event.kind.as_str().to_owned();
    let mut category = "event";
    match read(event).payload {
        Payload::Error(error) => {
            category = "error";
            name = format!("error {}", error.code).trim_end().to_owned();
            args.text("message", Some(&error.message));
            args.text("category", Some(error.category.as_str()));
        }
        Payload::System(system) => name = format!("system {}", system.subtype),
        Payload::File(file) => {
            args.text("file", Some(&file.file));
            args.text("reason", file.reason.as_deref());
        }
        Payload::Message(message) => {
            let said = message.blocks.iter().find_map(|block| match &block.content {
                BlockContent::Text { text } => Some(text.as_str()),
                _ => None,
            });
            args.text("text", said);
        }
        Payload::Unknown(record) => {
            args.text("native_type", record.native_type.as_deref());
            args.text("reason", Some(&record.reason));
        }
        _ => {}
    }
    (name, category, args)
}
