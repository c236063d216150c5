//! Replies, tool calls, tokens and subagents as spans.

use quipu_event::Event;
use quipu_event::payload::{Message, System, ToolCall, ToolResult, Usage};

use super::fold::{Spans, lane, micros, settled, span};
use super::lanes::Lane;
use super::{Key, Sort, Span, Told, Work};

impl Spans {
    pub(super) fn reply(
        &mut self,
        event: &Event,
        message: Message,
        time: i64,
        told: &mut Vec<Told>,
    ) {
        let lane = lane(event);
        let start = self.lanes.asked(&lane).or_else(|| self.open.owner_start(&lane));
        let start = start.unwrap_or(time).min(time);
        let key = Key::At(event.seq, Sort::Reply);
        let work = Work::Reply(Box::new(message));
        let mut reply = span(event, key, Some(self.open.owner(&lane)), start, work);
        reply.end = time;
        reply.ended = true;
        told.push(reply.beginning());
        told.extend(self.lanes.reply(lane, reply).map(settled));
    }

    pub(super) fn call(&mut self, event: &Event, call: ToolCall, time: i64, told: &mut Vec<Told>) {
        let lane = lane(event);
        let name = (lane, call.call_id.clone());
        let work = Work::Tool { call: Box::new(call), result: Box::default() };
        let owner = self.open.owner(&name.0);
        let span = span(event, Key::At(event.seq, Sort::Tool), Some(owner), time, work);
        told.push(span.beginning());
        let over = self.open.add_call(name, span);
        told.extend(over.into_iter().map(|call| self.given_up(call, time)));
    }

    /// Ends a call that nobody answered: for a subagent's, its own time counts.
    pub(super) fn given_up(&self, call: Span, time: i64) -> Told {
        let clock = call.source.as_ref().and_then(|_| self.clocks.get(&call.source));
        let end = clock.copied().unwrap_or(time);
        call.over(end, false)
    }

    pub(super) fn answer(
        &mut self,
        event: &Event,
        answer: ToolResult,
        time: i64,
        told: &mut Vec<Told>,
    ) {
        let name = (lane(event), answer.call_id.clone());
        self.lanes.answer(name.0.clone(), time);
        if let Some(mut called) = self.open.answer(&name) {
            if let Work::Tool { result, .. } = &mut called.work {
                **result = answer;
            }
            told.push(called.over(time, true));
            return;
        }
        let owner = self.open.owner(&name.0);
        if self.open.was_given_up(&name) {
            told.push(Told::Happened(owner, time));
            return;
        }
        let start = time.saturating_sub(micros(answer.duration_ms));
        let run = self.run.as_ref().map_or(start, |run| run.start);
        let start = start.max(self.open.owner_start(&name.0).unwrap_or(run));
        let call = ToolCall { name: answer.name.clone(), ..ToolCall::default() };
        let call = ToolCall { call_id: name.1, input: answer.input.clone(), ..call };
        let work = Work::Tool { call: Box::new(call), result: Box::new(answer) };
        let span = span(event, Key::At(event.seq, Sort::Tool), Some(owner), start, work);
        told.push(span.beginning());
        told.push(span.over(time, true));
    }

    pub(super) fn count(&mut self, lane: &Lane, usage: &Usage) {
        let tokens = usage.tokens();
        if let Some(reply) = self.lanes.counted(lane, usage) {
            reply.tokens.add(&tokens);
            return;
        }
        let subagent = lane.0.as_ref().and_then(|source| self.open.subagents.get_mut(source));
        let Some(subagent) = subagent else {
            let at = self.open.step_around(&lane.1).map(|step| step.path.clone());
            let step = at.and_then(|path| self.open.steps.get_mut(&path));
            if let Some(owner) = step.or(self.run.as_mut()) {
                owner.tokens.add(&tokens);
            }
            return;
        };
        subagent.tokens.add(&tokens);
    }

    /// Takes what a main agent says of its subagents.
    pub(super) fn announce(
        &mut self,
        event: &Event,
        system: &System,
        time: i64,
        told: &mut Vec<Told>,
    ) {
        let fact = |key: &str| system.facts.get(key).and_then(|value| value.as_str());
        let Some(id) = fact("agent_id") else { return };
        let source: Box<str> = format!("subagent:{id}").into();
        match system.subtype.as_str() {
            "subagent_started" => {
                let call = fact("tool_id").or(fact("call_id"));
                let parent = call.and_then(|id| self.open.call_with_id(id));
                self.meet(event, source, Some((parent, fact("name"))), time, told);
            }
            "subagent_completed" => {
                if let Some(subagent) = self.open.subagents.get_mut(&source) {
                    subagent.ended = true;
                    subagent.end = time;
                }
            }
            _ => {}
        }
    }

    pub(super) fn meet(
        &mut self,
        event: &Event,
        source: Box<str>,
        announced: Option<(Option<Key>, Option<&str>)>,
        time: i64,
        told: &mut Vec<Told>,
    ) {
        if self.open.subagents.contains_key(&source) {
            return;
        }
        let (parent, name) = announced.clone().unwrap_or_default();
        let owner = self.open.step_around(&event.path).map_or(Key::Run, |step| step.key.clone());
        let bare = source.strip_prefix("subagent:").unwrap_or(&source);
        let work = Work::Subagent { name: name.unwrap_or(bare).to_owned() };
        let sort = if announced.is_some() { Sort::Announced } else { Sort::Subagent };
        let key = Key::At(event.seq, sort);
        let mut subagent = span(event, key, Some(parent.unwrap_or(owner)), time, work);
        subagent.source = Some(source.clone());
        subagent.ended = false;
        told.push(subagent.beginning());
        let clock = self.clocks.entry(Some(source.clone())).or_insert(time);
        *clock = time.max(*clock);
        self.open.subagents.insert(source, subagent);
    }
}
