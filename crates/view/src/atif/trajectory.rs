//! One document: the steps of a main agent or of a subagent, written one after the other.
//!
//! Agents that work side by side are kept apart by where they work. A step is written when its
//! agent speaks again, is spoken to, or is done.

use std::collections::BTreeMap;

use quipu_event::payload::{Message, TokenCounts, ToolCall, ToolResult, Usage, UsageScope};
use quipu_event::{Event, StepPath};

use super::Place;
use super::agent_step::{AgentStep, blank, observation, observed};
use super::content::{self, spoken};
use super::document::Document;
use super::identity::Identity;
use super::wire::{self, FinalMetrics, ResultExtra, Source, Step};
use crate::files::Shelf;

/// So many agents may be in the middle of a step; the others' steps are written as they are.
const SIDE_BY_SIDE: usize = 1024;
/// Tokens of so many messages are kept until these are said.
const MOST_EARLY: usize = 64;

/// One document in the making.
#[derive(Debug, Default)]
pub(super) struct Trajectory {
    pub(super) document: Document,
    model: Option<String>,
    totals: TokenCounts,
    /// What is going on, by where.
    pub(super) speaking: BTreeMap<StepPath, AgentStep>,
    /// Commands and called runs under way, by where.
    pub(super) acting: BTreeMap<StepPath, AgentStep>,
    /// Tokens of messages that have not been said yet, by their names.
    early: BTreeMap<String, TokenCounts>,
    /// How often the tokens of a message came when its step was written.
    late: u64,
}

impl Trajectory {
    /// Begins the document `id` at `path`.
    pub(super) fn new(path: String, id: String) -> Self {
        Trajectory { document: Document::new(path, id), ..Trajectory::default() }
    }

    /// Returns the sum of its tokens.
    pub(super) fn totals(&self) -> &TokenCounts {
        &self.totals
    }

    /// Takes what was said to the agent: instructions, a request, or what tools answered.
    pub(super) fn hear(&mut self, event: &Event, message: Message, shelf: &mut dyn Shelf) -> Place {
        let heard = spoken(message);
        let mut place = Place::None;
        for (call_id, output, is_error) in heard.answers {
            let Some(step) = self.speaking.get_mut(&event.path) else { continue };
            if step.has_call(&call_id) && !step.is_answered(&call_id) {
                let status = is_error.map(|failed| if failed { "failed" } else { "completed" });
                let content = content::answer_text(&output);
                let extra = ResultExtra {
                    seq: event.seq,
                    status: status.map(str::to_owned),
                    ..ResultExtra::default()
                };
                step.answer(wire::Result {
                    source_call_id: Some(call_id),
                    content,
                    extra: Some(extra),
                    ..wire::Result::default()
                });
                place = Place::Found;
            }
        }
        let said = [(Source::System, heard.instructions), (Source::User, heard.text)];
        if said.iter().any(|(_, text)| text.is_some()) || !heard.left_out.is_empty() {
            self.flush(&event.path, shelf);
            place = Place::Found;
        }
        let mut left_out = heard.left_out;
        let count = said.iter().filter(|(_, text)| text.is_some()).count();
        if count == 0 && !left_out.is_empty() {
            let mut step = blank(event, Source::User, String::new());
            step.extra.left_out_blocks = std::mem::take(&mut left_out);
            self.document.put(step, shelf);
        }
        for (source, text) in said {
            let Some(text) = text else { continue };
            let mut step = blank(event, source, text);
            if source == Source::User {
                step.extra.left_out_blocks = std::mem::take(&mut left_out);
            }
            self.document.put(step, shelf);
        }
        place
    }

    /// Takes what the agent said.
    pub(super) fn say(&mut self, event: &Event, message: Message, shelf: &mut dyn Shelf) {
        self.flush(&event.path, shelf);
        if self.model.is_none() {
            self.model = message.model.clone();
        }
        if self.speaking.len() >= SIDE_BY_SIDE {
            self.flush_all(shelf);
        }
        let tokens = message.message_id.as_ref().and_then(|id| self.early.remove(id));
        let mut step = AgentStep::said(event, message);
        tokens.iter().for_each(|tokens| step.count(tokens));
        self.speaking.insert(event.path.clone(), step);
    }

    /// Takes a call.
    pub(super) fn call(&mut self, event: &Event, call: ToolCall, shelf: &mut dyn Shelf) {
        let begun = self.speaking.get(&event.path);
        let belongs_elsewhere = |step: &AgentStep| {
            step.is_told_call(&call.call_id) || (step.is_full() && !step.has_call(&call.call_id))
        };
        if begun.is_some_and(belongs_elsewhere) {
            self.flush(&event.path, shelf);
        }
        let step = self.speaking.entry(event.path.clone());
        step.or_insert_with(|| AgentStep::silent(event)).call(event, call);
    }

    /// Takes what came of a call; of one whose step is written, in a step of its own.
    pub(super) fn answer(&mut self, event: &Event, result: ToolResult, shelf: &mut dyn Shelf) {
        match self.speaking.get_mut(&event.path) {
            Some(step) if step.has_call(&result.call_id) => {
                step.answer(observed(event, result, true));
            }
            _ => {
                let mut step = blank(event, Source::System, format!("{} answers.", result.name));
                step.observation = observation(observed(event, result, false));
                self.put_after(&event.path, step, shelf);
            }
        }
    }

    /// Takes tokens: those of the last words of the agent, or of something larger.
    pub(super) fn count(&mut self, event: &Event, usage: &Usage, shelf: &mut dyn Shelf) {
        let tokens = usage.tokens();
        self.totals.add(&tokens);
        if usage.scope.as_ref().is_some_and(|scope| *scope != UsageScope::Message) {
            return;
        }
        let step = self.speaking.get_mut(&event.path);
        if let Some(step) = step.filter(|step| step.is_counted_by(usage.message_id.as_deref())) {
            return step.count(&tokens);
        }
        let Some(message_id) = &usage.message_id else { return };
        if self.document.count(message_id, &tokens, shelf) {
            return;
        }
        let again = self.early.insert(message_id.clone(), tokens);
        let forgotten = again.or_else(|| self.early_beyond().map(|(_, tokens)| tokens));
        self.late += u64::from(forgotten.is_some());
    }

    fn early_beyond(&mut self) -> Option<(String, TokenCounts)> {
        if self.early.len() > MOST_EARLY { self.early.pop_first() } else { None }
    }

    /// Returns how many `usage` events of messages gave no step its tokens.
    pub(super) fn uncounted(&self) -> u64 {
        self.late + self.early.len() as u64
    }

    /// Takes a fact that is neither the user's nor the agent's.
    pub(super) fn remark(
        &mut self,
        event: &Event,
        text: String,
        subtype: Option<&str>,
        shelf: &mut dyn Shelf,
    ) {
        let mut step = blank(event, Source::System, text);
        step.extra.subtype = subtype.map(str::to_owned);
        self.put_after(&event.path, step, shelf);
    }

    /// Writes every step that is still in the making.
    pub(super) fn flush_all(&mut self, shelf: &mut dyn Shelf) {
        let (speaking, acting) =
            (std::mem::take(&mut self.speaking), std::mem::take(&mut self.acting));
        for step in speaking.into_values().chain(acting.into_values()) {
            self.put_all(step, shelf);
        }
    }

    /// Writes what stands behind the steps.
    pub(super) fn end(
        &mut self,
        identity: &Identity,
        subagent: Option<&str>,
        cost: Option<f64>,
        shelf: &mut dyn Shelf,
    ) {
        self.flush_all(shelf);
        self.document.write_all(shelf);
        let run_id = self.document.run_id().to_owned();
        let tail = wire::Tail {
            session_id: identity.session_id().unwrap_or(&run_id),
            agent: identity.agent(self.model.as_deref(), subagent),
            final_metrics: FinalMetrics {
                total_prompt_tokens: content::prompt_tokens(&self.totals),
                total_completion_tokens: self.totals.output_tokens,
                total_cached_tokens: self.totals.cache_read_tokens,
                total_cost_usd: cost.filter(|cost| cost.is_finite()),
                total_steps: self.document.steps(),
                extra: content::token_extra(&self.totals),
            },
            extra: if subagent.is_none() { identity.extra() } else { wire::RootExtra::default() },
        };
        self.document.end(&tail, shelf);
    }

    /// Writes the step in the making at `path`.
    pub(super) fn flush(&mut self, path: &StepPath, shelf: &mut dyn Shelf) {
        if let Some(step) = self.speaking.remove(path) {
            self.put_all(step, shelf);
        }
    }

    /// Writes a step that is not the agent's: behind what the agent does there, if anything.
    pub(super) fn put_after(&mut self, path: &StepPath, step: Step, shelf: &mut dyn Shelf) {
        match self.speaking.get_mut(path) {
            Some(open) if !open.is_full() => open.put_behind(step),
            _ => {
                self.flush(path, shelf);
                self.document.put(step, shelf);
            }
        }
    }

    pub(super) fn put_all(&mut self, ended: AgentStep, shelf: &mut dyn Shelf) {
        ended.end().for_each(|step| self.document.put(step, shelf));
    }
}
