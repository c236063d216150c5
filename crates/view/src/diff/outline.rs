//! Events → outline: what was said and done in each step, by numbers.
//!
//! The memory of an outline grows with the number of things said, not with their length.

use std::collections::{BTreeMap, HashMap, HashSet};

use quipu_event::payload::{Message, Status, StepCompleted, TokenCounts, ToolResult};
use quipu_event::{BlockContent, Event, Kind, Payload, RunId, StepPath, Timestamp};

use super::item::{Item, MODEL, STOP_REASON, What};
use super::parting::excerpt;
use super::print::{Print, print};
use super::words::{
    Words, of_block, of_call, of_error, of_facts, of_input, of_result, of_run_end, of_run_start,
    of_step_end, of_step_start,
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
    /// The model that spoke last.
    models: HashMap<GroupKey, Box<str>>,
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
                let words = of_run_start(&run);
                self.outline_mut().name = Some(run.name).filter(|name| !name.is_empty());
                self.put(event, &event.path, What::Start, "run", &words);
            }
            Payload::RunCompleted(run) => {
                let words = of_run_end(&run);
                self.reported_ms = run.duration_ms;
                self.outline_mut().status = run.status;
                self.put(event, &event.path, What::End, "run", &words);
            }
            Payload::StepStarted(step) => {
                let path = step_path(event, &step.name);
                self.begin_step(event, &path, step.attempt.unwrap_or(1));
                self.put(event, &path, What::Start, "step", &of_step_start(&step));
            }
            Payload::StepCompleted(step) => self.end_step(event, &step),
            Payload::Message(message) => self.put_message(event, &message),
            Payload::ToolCall(call) => {
                *self.outline_mut().tools.entry(call.name.clone()).or_default() += 1;
                let words = of_call(&call);
                let place = self.put(event, &event.path, What::Tool, &call.name, &words);
                let id = print(&call.call_id);
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
                self.put(event, &event.path, What::Error, "error", &of_error(&error));
            }
            _ if is_fact(&event.kind) => {
                let (name, words) = (event.kind.as_str(), of_facts(&event.payload));
                self.put(event, &event.path, What::Fact, name, &words);
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
        let key = self.key_at(&path);
        let elapsed = self.current.get(&path).map(|(.., at)| event.timestamp.millis_since(*at));
        if let Some(millis) = step.duration_ms.or(elapsed) {
            self.outline_mut().durations.insert(key, millis);
        }
        self.put(event, &path, What::End, "step", &of_step_end(step));
        self.current.remove(&path);
    }

    fn put_message(&mut self, event: &Event, message: &Message) {
        let is_user = event.kind == Kind::MessageUser;
        let what = if is_user { What::User } else { What::Assistant };
        if let Some(model) = &message.model {
            self.put_model(event, what, model);
        }
        for (at, block) in message.blocks.iter().enumerate() {
            let name = block.content.block_type();
            let call = match &block.content {
                BlockContent::ToolUse { tool_id, .. }
                | BlockContent::ToolResult { tool_id, .. } => Some(print(tool_id)),
                _ => None,
            };
            let (group, place) = self.put(event, &event.path, what, name, &of_block(block));
            let item = &mut self.outline_mut().groups[group].1[place];
            (item.block, item.call) = (Some(at), call);
        }
        if let Some(reason) = &message.stop_reason {
            self.put(event, &event.path, what, STOP_REASON, &Words::plain(reason));
        }
    }

    /// Puts which model speaks, where another one spoke before: else every message would say it.
    fn put_model(&mut self, event: &Event, what: What, model: &str) {
        let key = self.key_of(event, &event.path);
        if self.models.get(&key).is_none_or(|known| &**known != model) {
            self.models.insert(key, model.into());
            self.put(event, &event.path, what, MODEL, &Words::plain(model));
        }
    }

    fn put_result(&mut self, event: &Event, result: &ToolResult) {
        let id = print(&result.call_id);
        self.answered.insert(id);
        let words = of_result(result);
        let place = self.open_calls.remove(&id);
        // A result whose call was lost stands by itself.
        let (group, place) = place.unwrap_or_else(|| {
            let input = of_input(&result.input);
            self.put(event, &event.path, What::Tool, &result.name, &input)
        });
        let item = &mut self.outline_mut().groups[group].1[place];
        item.outcome = Some(Print::of(&words));
        item.outcome_excerpt = Some(excerpt(&words.text).into());
        item.outcome_seq = Some(event.seq);
    }

    /// Puts an item at `path`. Returns its group and its place there.
    fn put(
        &mut self,
        event: &Event,
        path: &StepPath,
        what: What,
        name: &str,
        words: &Words,
    ) -> (usize, usize) {
        let key = self.key_of(event, path);
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
            said: Print::of(words),
            outcome: None,
            excerpt: excerpt(&words.text).into(),
            outcome_excerpt: None,
            outcome_seq: None,
            call: None,
        };
        let items = &mut self.outline_mut().groups[group].1;
        items.push(item);
        (group, items.len() - 1)
    }

    /// Returns the occurrence that `event` belongs to, and who speaks in it.
    fn key_of(&mut self, event: &Event, path: &StepPath) -> GroupKey {
        let mut key = self.key_at(path);
        if let Some(source) = &event.source {
            key.subagent = self.number_of(&key, source);
        }
        key
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
///
/// What is noted about a run is none: that it was accepted, and what its recorder or agent did for
/// itself.
fn is_fact(kind: &Kind) -> bool {
    let noted = [Kind::RunCreated, Kind::RunStarted, Kind::System, Kind::Unknown, Kind::Usage];
    !noted.contains(kind)
}
