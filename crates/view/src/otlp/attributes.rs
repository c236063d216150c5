//! A span's attributes and status: the conventions' names first, what is ours under `quipu.`.

use quipu_event::RunId;
use quipu_event::payload::{Agent, RunKind, Status, TokenCounts, ToolStatus};

use super::conversation::Conversations;
use super::names::{operation, provider_name};
use super::wire::{Attribute, SpanStatus, Value};
use crate::spans::{Span, Work};

/// Returns all attributes of `span` that say nothing of what was said.
pub(super) fn of(span: &Span, run: &RunId, conversations: &Conversations) -> Vec<Attribute> {
    let mut own = Attributes::default();
    let conversation = conversations.of(span);
    if let Some(operation) = operation(&span.work) {
        own.text("gen_ai.operation.name", Some(operation));
        let session = conversation.session_id.as_deref().unwrap_or(run.as_str());
        own.text("gen_ai.conversation.id", Some(session));
        let (provider, model) = (conversation.provider.as_deref(), conversation.model.as_deref());
        match &span.work {
            Work::Reply(message) => {
                let name = provider_name(provider, message.model.as_deref().or(model));
                own.text("gen_ai.provider.name", Some(&name));
            }
            Work::Tool { .. } => {}
            _ if operation == "invoke_agent" => {
                let name = provider_name(provider, model);
                own.text("gen_ai.provider.name", Some(&name));
                own.text("gen_ai.request.model", model);
            }
            _ => {}
        }
    }
    own.work(&span.work, conversation.model.as_deref());
    own.tokens(&span.tokens);
    own.text("error.type", failure(&span.work).map(|(kind, _)| kind).as_deref());
    own.text("quipu.run.id", Some(run.as_str()));
    own.text("quipu.path", Some(span.path.as_str()).filter(|path| !path.is_empty()));
    own.text("quipu.source", span.source.as_deref());
    own.number("quipu.seq", Some(span.seq));
    if !span.ended {
        own.0.push(Attribute::new("quipu.incomplete", Value::Bool(true)));
    }
    own.0
}

/// Returns the status of a span: an error when it failed, else unset.
pub(super) fn status(span: &Span) -> SpanStatus {
    match failure(&span.work) {
        Some((_, message)) => SpanStatus::error(message),
        None => SpanStatus::default(),
    }
}

#[derive(Default)]
struct Attributes(Vec<Attribute>);

impl Attributes {
    fn text(&mut self, key: &'static str, value: Option<&str>) {
        self.0.extend(value.map(|text| Attribute::new(key, Value::Text(text.to_owned()))));
    }

    fn number(&mut self, key: &'static str, value: Option<u64>) {
        self.0.extend(value.map(|number| Attribute::new(key, Value::Number(number))));
    }

    fn work(&mut self, work: &Work, model: Option<&str>) {
        match work {
            Work::Run { started, completed } => {
                let name = Some(started.name.as_str()).filter(|name| !name.is_empty());
                if started.kind == RunKind::Workflow {
                    self.text("gen_ai.workflow.name", name);
                }
                self.agent(started.agent.as_ref());
                self.text("quipu.run.name", name);
                self.text("quipu.run.kind", Some(started.kind.as_str()));
                self.text("quipu.status", completed.status.as_ref().map(Status::as_str));
            }
            Work::Step { started, completed, child } => {
                self.agent(started.agent.as_ref());
                self.text("quipu.step.name", Some(&started.name));
                self.text("quipu.step.kind", Some(&started.kind));
                let attempt = started.attempt.or(completed.attempt);
                self.number("quipu.step.attempt", attempt.map(u64::from));
                self.text("quipu.status", completed.status.as_ref().map(Status::as_str));
                self.text("quipu.child_run.id", child.as_ref().map(RunId::as_str));
            }
            Work::Subagent { name } => self.text("gen_ai.agent.name", Some(name)),
            Work::Reply(message) => {
                let said = message.model.as_deref();
                self.text("gen_ai.request.model", model.or(said));
                self.text("gen_ai.response.model", said);
                self.text("gen_ai.response.id", message.message_id.as_deref());
                if let Some(reason) = &message.stop_reason {
                    let reasons = Value::Texts(vec![reason.clone()]);
                    self.0.push(Attribute::new("gen_ai.response.finish_reasons", reasons));
                }
                self.number("quipu.turn", message.turn);
            }
            Work::Tool { call, result } => {
                self.text("gen_ai.tool.name", Some(&call.name));
                self.text("gen_ai.tool.call.id", Some(&call.call_id));
                let remote = call.provider.as_deref().is_some_and(|who| who.starts_with("mcp:"));
                let sort = if remote { "extension" } else { "function" };
                self.text("gen_ai.tool.type", Some(sort));
                self.text("quipu.tool.provider", call.provider.as_deref());
                self.text("quipu.fidelity", Some(call.fidelity.as_str()));
                self.text("quipu.status", result.status.as_ref().map(ToolStatus::as_str));
                self.number("quipu.tool.duration_ms", result.duration_ms);
            }
        }
    }

    fn agent(&mut self, agent: Option<&Agent>) {
        self.text("gen_ai.agent.name", agent.and_then(Agent::label));
        self.text("gen_ai.agent.version", agent.and_then(|agent| agent.cli_version.as_deref()));
    }

    /// The conventions count cached input as input.
    fn tokens(&mut self, tokens: &TokenCounts) {
        let input = [tokens.input_tokens, tokens.cache_read_tokens, tokens.cache_write_tokens];
        let input = input.into_iter().flatten().reduce(u64::saturating_add);
        self.number("gen_ai.usage.input_tokens", input);
        self.number("gen_ai.usage.output_tokens", tokens.output_tokens);
        self.number("gen_ai.usage.cache_read.input_tokens", tokens.cache_read_tokens);
        self.number("gen_ai.usage.cache_creation.input_tokens", tokens.cache_write_tokens);
        self.number("gen_ai.usage.reasoning.output_tokens", tokens.reasoning_tokens);
        if let Some(cost) = tokens.cost_usd.filter(|cost| cost.is_finite()) {
            self.0.push(Attribute::new("quipu.usage.cost_usd", Value::Real(cost)));
        }
    }
}

/// Returns the class of an error that a span ended with, and what is known of it.
fn failure(work: &Work) -> Option<(String, String)> {
    let (status, error) = match work {
        Work::Run { completed, .. } => (completed.status.as_ref(), completed.error.as_ref()),
        Work::Step { completed, .. } => (completed.status.as_ref(), completed.error.as_ref()),
        Work::Tool { result, .. } => {
            let status = result.status.as_ref().filter(|status| **status != ToolStatus::Completed);
            let error = result.error.clone().unwrap_or_default();
            return status.map(|status| (status.as_str().to_owned(), error));
        }
        Work::Subagent { .. } | Work::Reply(_) => return None,
    };
    let status = status.filter(|status| status.is_failure())?;
    Some((status.as_str().to_owned(), error.cloned().unwrap_or_default()))
}
