//! Events → outline: what was said and done in each step, by numbers.
//!
//! The memory of an outline grows with the number of things said, not with their length.

use std::collections::{BTreeMap, HashMap, HashSet};

use quipu_event::payload::{Message, Status, StepCompleted, TokenCounts, ToolResult};
use quipu_event::{BlockContent, Event, Kind, Payload, RunId, StepPath, Timestamp};

use super::item::{Item, What};
use super::print::{
    excerpt, lasting_text, print, print_json, print_outcome, text_of_block, text_of_end,
    text_of_json, text_of_result, text_of_run_end, text_of_start,
};
use crate::reading::{read, step_path};

/// One occurrence of a step, and who spoke in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKey {
    /// Where the step stands; empty for the run itself.
    pub path: String,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// How often that attempt was begun before, where a step is visited again.
    pub visit: u32,
    /// Which subagent of the step, from 1; 0 for the main agent. Their names differ in every run.
    pub subagent: u32,
}

/// What one run said and did.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// Which run.
    pub run_id: RunId,
    /// Its name, when its events say.
    pub name: Option<String>,
    /// How it ended; nothing while it has not.
    pub status: Option<Status>,
    /// How long it took.
    pub duration_ms: u64,
    /// What was said and done, by step, in the order in which steps first appeared.
    pub groups: Vec<(GroupKey, Vec<Item>)>,
    /// How long each attempt of a step took, once it has ended.
    pub durations: BTreeMap<GroupKey, u64>,
    /// The runs that steps called.
    pub calls: BTreeMap<GroupKey, RunId>,
    /// Tokens by model; an empty name where nobody said.
    pub tokens: BTreeMap<String, TokenCounts>,
    /// Tool calls by tool.
    pub tools: BTreeMap<String, u64>,
}

/// An outline while its events arrive. Events of other runs among them are left out.
#[derive(Clone, Debug, Default)]
pub struct OutlineBuilder {
    outline: Option<Outline>,
    started: Option<Timestamp>,
    reported_ms: Option<u64>,
    events: u64,
    places: HashMap<GroupKey, usize>,
    /// The attempt and visit that are at work at a path, and since when.
    current: HashMap<StepPath, (u32, u32, Timestamp)>,
    visits: HashMap<(StepPath, u32), u32>,
    subagents: HashMap<GroupKey, HashMap<Box<str>, u32>>,
    /// Calls that wait for their results, by id.
    open_calls: HashMap<u64, (usize, usize)>,
    /// Calls that are told as events, and so need not be told by blocks.
    called: HashSet<u64>,
    answered: HashSet<u64>,
}

impl OutlineBuilder {
    /// Takes the next event.
    pub fn add(&mut self, event: &Event) {
        let outline = self.outline.get_or_insert_with(|| Outline {
            run_id: event.run_id.clone(),
            name: None,
            status: None,
            duration_ms: 0,
            groups: Vec::new(),
            durations: BTreeMap::new(),
            calls: BTreeMap::new(),
            tokens: BTreeMap::new(),
            tools: BTreeMap::new(),
        });
        if outline.run_id != event.run_id {
            return;
        }
        self.events += 1;
        let started = *self.started.get_or_insert(event.timestamp);
        outline.duration_ms = outline.duration_ms.max(event.timestamp.millis_since(started));
        self.take(event);
    }

    /// Returns the outline, or nothing if there was no event.
    pub fn finish(mut self) -> Option<Outline> {
        let mut outline = self.outline.take()?;
        outline.duration_ms = self.reported_ms.unwrap_or(outline.duration_ms);
        // What events tell of a call, the blocks of messages only repeat.
        for (_, items) in &mut outline.groups {
            items.retain(|item| match (item.what, &*item.name, item.call) {
                (What::Tool, ..) | (_, _, None) => true,
                (_, "tool_use", Some(call)) => !self.called.contains(&call),
                (_, "tool_result", Some(call)) => !self.answered.contains(&call),
                _ => true,
            });
        }
        outline.groups.retain(|(_, items)| !items.is_empty());
        Some(outline)
    }

    fn take(&mut self, event: &Event) {
        match read(event).payload {
            Payload::RunStarted(run) => {
                let inputs = run.inputs.as_ref().map(print_json).unwrap_or_default();
                let text = run.inputs.as_ref().map(text_of_json).unwrap_or_default();
                let said = print(&[run.kind.as_str(), &inputs.to_string()]);
                self.outline_mut().name = Some(run.name).filter(|name| !name.is_empty());
                self.put(event, &event.path, What::Start, "run", (said, &text));
            }
            Payload::RunCompleted(run) => {
                let result = run.result.as_ref().map(print_outcome).unwrap_or_default();
                let text = text_of_run_end(&run);
                let status = run.status.as_ref().map(Status::as_str).unwrap_or_default();
                let error = run.error.as_deref().unwrap_or_default();
                let said = print(&[status, error, &result.to_string()]);
                self.reported_ms = run.duration_ms;
                self.outline_mut().status = run.status;
                self.put(event, &event.path, What::End, "run", (said, &text));
            }
            Payload::StepStarted(step) => {
                let path = step_path(event, &step.name);
                self.begin_step(event, &path, step.attempt.unwrap_or(1));
                let text = text_of_start(&step);
                self.put(event, &path, What::Start, "step", (print(&[&text]), &text));
            }
            Payload::StepCompleted(step) => self.end_step(event, &step),
            Payload::Message(message) => self.put_message(event, &message),
            Payload::ToolCall(call) => {
                *self.outline_mut().tools.entry(call.name.clone()).or_default() += 1;
                let input = call.input.as_str();
                let said = print(&[&call.name, &print_json(&call.input).to_string()]);
                let place = self.put(event, &event.path, What::Tool, &call.name, (said, input));
                let id = print(&[&call.call_id]);
                self.called.insert(id);
                self.open_calls.insert(id, place);
            }
            Payload::ToolResult(result) => self.put_result(event, &result),
            Payload::Usage(usage) => {
                let model = usage.model.clone().unwrap_or_default();
                let tokens = TokenCounts { cost_usd: None, ..usage.tokens() };
                self.outline_mut().tokens.entry(model).or_default().add(&tokens);
            }
            Payload::Error(error) => {
                let text = format!("{}: {}", error.code, error.message);
                self.put(event, &event.path, What::Error, "error", (print(&[&text]), &text));
            }
            _ if is_fact(&event.kind) => {
                let (said, name) = (print_outcome(&event.payload), event.kind.as_str().to_owned());
                let text = lasting_text(&event.payload);
                self.put(event, &event.path, What::Fact, &name, (said, &text));
            }
            _ => {}
        }
    }

    fn begin_step(&mut self, event: &Event, path: &StepPath, attempt: u32) {
        let is_told = |(number, _, _): &(u32, u32, Timestamp)| *number == attempt;
        // A call may be told twice, as `step.*` and as `step.call_workflow.*`.
        if !self.current.get(path).is_some_and(is_told) {
            let visit = self.visits.entry((path.clone(), attempt)).or_default();
            *visit += 1;
            let visit = *visit;
            self.current.insert(path.clone(), (attempt, visit, event.timestamp));
        }
        if let Some(child) = &event.child_run_id {
            let key = self.key_at(path);
            self.outline_mut().calls.insert(key, child.clone());
        }
    }

    fn end_step(&mut self, event: &Event, step: &StepCompleted) {
        let path = step_path(event, &step.name);
        let text = text_of_end(step);
        let result = step.result.as_ref().map(print_outcome).unwrap_or_default();
        let status = step.status.as_ref().map(Status::as_str).unwrap_or_default();
        let error = step.error.as_deref().unwrap_or_default();
        let said = print(&[status, error, &result.to_string()]);
        let key = self.key_at(&path);
        let elapsed = self.current.get(&path).map(|(.., at)| event.timestamp.millis_since(*at));
        if let Some(millis) = step.duration_ms.or(elapsed) {
            self.outline_mut().durations.insert(key, millis);
        }
        self.put(event, &path, What::End, "step", (said, &text));
        self.current.remove(&path);
    }

    fn put_message(&mut self, event: &Event, message: &Message) {
        let is_user = event.kind == Kind::MessageUser;
        let what = if is_user { What::User } else { What::Assistant };
        for (at, block) in message.blocks.iter().enumerate() {
            let name = block.content.block_type();
            let text = text_of_block(&block.content);
            let (said, call) = match &block.content {
                BlockContent::ToolUse { tool_name, tool_id, tool_input } => {
                    let input = print_json(tool_input).to_string();
                    (print(&[name, tool_name, &input]), Some(print(&[tool_id])))
                }
                BlockContent::ToolResult { tool_id, tool_content, .. } => {
                    let content = print_json(tool_content).to_string();
                    (print(&[name, &content]), Some(print(&[tool_id])))
                }
                _ => (print(&[name, &text]), None),
            };
            let (group, place) = self.put(event, &event.path, what, name, (said, &text));
            let item = &mut self.outline_mut().groups[group].1[place];
            (item.block, item.call) = (Some(at), call);
        }
    }

    fn put_result(&mut self, event: &Event, result: &ToolResult) {
        let id = print(&[&result.call_id]);
        self.answered.insert(id);
        let status = result.status.as_ref().map(|status| status.as_str()).unwrap_or_default();
        let error = result.error.as_deref().unwrap_or_default();
        let outcome = print(&[status, error, &print_json(&result.output).to_string()]).max(1);
        let text = excerpt(&text_of_result(result));
        let place = self.open_calls.remove(&id);
        // A result whose call was lost stands by itself.
        let (group, place) = place.unwrap_or_else(|| {
            let said = print(&[&result.name, &print_json(&result.input).to_string()]);
            self.put(event, &event.path, What::Tool, &result.name, (said, result.input.as_str()))
        });
        let item = &mut self.outline_mut().groups[group].1[place];
        item.outcome = outcome;
        item.outcome_excerpt = Some(text.into());
        item.outcome_seq = Some(event.seq);
    }

    /// Puts an item at `path`. Returns its group and its place there.
    fn put(
        &mut self,
        event: &Event,
        path: &StepPath,
        what: What,
        name: &str,
        said: (u64, &str),
    ) -> (usize, usize) {
        let mut key = self.key_at(path);
        if let Some(source) = &event.source {
            key.subagent = self.number_of(&key, source);
        }
        let group = match self.places.get(&key) {
            Some(&group) => group,
            None => {
                let outline = self.outline_mut();
                outline.groups.push((key.clone(), Vec::new()));
                let group = outline.groups.len() - 1;
                self.places.insert(key, group);
                group
            }
        };
        let item = Item {
            ordinal: self.events,
            seq: event.seq,
            block: None,
            what,
            name: name.into(),
            said: said.0,
            outcome: 0,
            excerpt: excerpt(said.1).into(),
            outcome_excerpt: None,
            outcome_seq: None,
            call: None,
        };
        let items = &mut self.outline_mut().groups[group].1;
        items.push(item);
        (group, items.len() - 1)
    }

    /// Returns which of a step's subagents `source` is, from 1, in the order of their first words.
    fn number_of(&mut self, step: &GroupKey, source: &str) -> u32 {
        let known = self.subagents.entry(step.clone()).or_default();
        let next = known.len() as u32 + 1;
        match known.get(source) {
            Some(&number) => number,
            None => *known.entry(source.into()).or_insert(next),
        }
    }

    /// Returns the occurrence that is at work at `path`, or was there last.
    fn key_at(&self, path: &StepPath) -> GroupKey {
        let (attempt, visit) = match self.current.get(path) {
            Some((attempt, visit, _)) => (*attempt, *visit),
            None => (0, 0),
        };
        GroupKey { path: path.as_str().to_owned(), attempt, visit, subagent: 0 }
    }

    fn outline_mut(&mut self) -> &mut Outline {
        self.outline.as_mut().expect("`add` made it before anything was taken")
    }
}

/// Tells whether an event tells of something that two runs can do differently.
fn is_fact(kind: &Kind) -> bool {
    let kind = kind.as_str();
    kind.starts_with("file.") || kind.starts_with("deliverable.") || kind.starts_with("skill.")
}
