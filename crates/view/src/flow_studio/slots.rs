//! Which execution has which files. The latest to begin has the documented names; those before it
//! are moved aside, under their numbers, so that none is overwritten.

use std::collections::{BTreeMap, HashMap};

use quipu_event::{Event, StepPath};

use super::execution::{Execution, Ids};
use super::names::{Names, safe, step_id};
use crate::files::Shelf;
use crate::path::{Level, pieces, split_foreign};

/// Where an execution is found: its step, and which of the agents in it.
pub(super) type Key = (StepPath, Option<Box<str>>);

/// The executions of a run.
#[derive(Debug)]
pub(super) struct Slots {
    run: String,
    /// What the flow is called, in paths and elsewhere.
    pub(super) flow: String,
    steps: Names,
    stems: Names,
    slots: Vec<Slot>,
    by_stem: HashMap<String, usize>,
    /// The slot that a step and its agent had last.
    last: HashMap<(String, Option<Box<str>>), usize>,
    pub(super) open: BTreeMap<Key, Execution>,
}

/// The files of one step and agent.
#[derive(Debug)]
struct Slot {
    step: String,
    agent: String,
    stem: String,
    /// How many executions there were.
    executions: u64,
    /// The engine of the latest.
    engine: String,
    /// The latest, once it has ended.
    ended: Option<Execution>,
}

impl Slots {
    pub(super) fn new(run: &str, flow: String) -> Self {
        Slots {
            run: run.to_owned(),
            flow,
            steps: Names::default(),
            stems: Names::default(),
            slots: Vec::new(),
            by_stem: HashMap::new(),
            last: HashMap::new(),
            open: BTreeMap::new(),
        }
    }

    /// Returns the id of the step at `path`, which calls itself `name`.
    pub(super) fn step_id(&mut self, path: &StepPath, name: &str) -> String {
        let bare = bare(path);
        let own = bare.rsplit('.').next().unwrap_or_default();
        let name = if name.is_empty() { own } else { name };
        let name = if name.is_empty() { "main" } else { name };
        self.steps.of(&bare, &[&step_id(name), &step_id(&bare)])
    }

    /// Begins an execution of `step` by `agent`, and gives it the documented names.
    pub(super) fn begin(
        &mut self,
        mut execution: Execution,
        step: &str,
        agent: &str,
        shelf: &mut dyn Shelf,
    ) {
        let key = (execution.path.clone(), execution.source.clone());
        self.close(&key, shelf);
        let at = self.slot(step, agent);
        self.move_aside(at, shelf);
        let slot = &mut self.slots[at];
        execution.slot = at;
        execution.number = slot.executions;
        slot.executions += 1;
        slot.engine.clone_from(&execution.engine);
        self.last.insert((bare(&key.0), key.1.clone()), at);
        shelf.put(&self.transcript(&execution), b"");
        self.open.insert(key, execution);
    }

    /// Takes up an execution again about which something is said after its end.
    pub(super) fn reopen(&mut self, event: &Event) -> bool {
        let key = (bare(&event.path), event.source.clone());
        let Some(slot) = self.last.get(&key).map(|&at| &mut self.slots[at]) else { return false };
        let is_it = |e: &Execution| e.path == event.path && e.source == event.source;
        let Some(execution) = slot.ended.take_if(|execution| is_it(execution)) else {
            return false;
        };
        self.open.insert((execution.path.clone(), execution.source.clone()), execution);
        true
    }

    /// Ends an execution and writes its receipt. Calls go on waiting for a late answer as long as the
    /// execution is the latest.
    pub(super) fn close(&mut self, key: &Key, shelf: &mut dyn Shelf) {
        let Some(mut execution) = self.open.remove(key) else { return };
        let (path, receipt) = self.receipt(&execution);
        shelf.put(&path, &receipt);
        let at = execution.slot;
        if execution.number + 1 == self.slots[at].executions {
            self.slots[at].ended = Some(execution);
        } else {
            self.write_unanswered(&mut execution, shelf);
        }
    }

    /// Writes what still waits, once nothing more comes.
    pub(super) fn finish(&mut self, shelf: &mut dyn Shelf) {
        for at in 0..self.slots.len() {
            if let Some(mut ended) = self.slots[at].ended.take() {
                self.write_unanswered(&mut ended, shelf);
            }
        }
    }

    fn write_unanswered(&self, execution: &mut Execution, shelf: &mut dyn Shelf) {
        let left = execution.calls.close();
        if !left.is_empty() {
            shelf.append(&self.transcript(execution), &left);
        }
    }

    /// Returns the ids that an execution goes by.
    pub(super) fn ids(&self, execution: &Execution) -> (&str, &str) {
        let slot = &self.slots[execution.slot];
        (&slot.step, &slot.agent)
    }

    /// Returns where an execution's transcript is now.
    pub(super) fn transcript(&self, execution: &Execution) -> String {
        let name = self.transcript_name(execution.slot, &execution.engine, execution.number);
        format!("{}/{}/{name}", self.run, self.flow)
    }

    fn transcript_name(&self, slot: usize, engine: &str, number: u64) -> String {
        let Slot { stem, executions, .. } = &self.slots[slot];
        if number + 1 == *executions {
            format!("llm/{stem}-{engine}.jsonl")
        } else {
            format!("llm_earlier/{stem}-{engine}.iter{number}.jsonl")
        }
    }

    fn receipt(&self, execution: &Execution) -> (String, Vec<u8>) {
        let slot = &self.slots[execution.slot];
        let name = if execution.number + 1 == slot.executions {
            format!("receipts/{}.json", slot.stem)
        } else {
            format!("receipts_earlier/{}.iter{}.json", slot.stem, execution.number)
        };
        let transcript = self.transcript_name(execution.slot, &execution.engine, execution.number);
        let ids = Ids {
            run: &self.run,
            flow: &self.flow,
            step: &slot.step,
            agent: &slot.agent,
            transcript: &transcript,
        };
        (format!("{}/{}/{name}", self.run, self.flow), execution.receipt(&ids))
    }

    /// Moves the latest execution's files to where earlier ones are.
    fn move_aside(&mut self, at: usize, shelf: &mut dyn Shelf) {
        let slot = &mut self.slots[at];
        let Some(number) = slot.executions.checked_sub(1) else { return };
        let engine = slot.engine.clone();
        let mut ended = slot.ended.take();
        if let Some(ended) = &mut ended {
            self.write_unanswered(ended, shelf);
        }
        let base = format!("{}/{}", self.run, self.flow);
        let from = self.transcript_name(at, &engine, number);
        self.slots[at].executions += 1;
        let to = self.transcript_name(at, &engine, number);
        shelf.rename(&format!("{base}/{from}"), &format!("{base}/{to}"));
        if let Some(ended) = ended {
            let (path, receipt) = self.receipt(&ended);
            let stem = &self.slots[at].stem;
            shelf.rename(&format!("{base}/receipts/{stem}.json"), &path);
            // It names its transcript, which has moved too.
            shelf.put(&path, &receipt);
        }
        self.slots[at].executions -= 1;
    }

    fn slot(&mut self, step: &str, agent: &str) -> usize {
        let agent = safe(agent);
        // `a-b` by `c` and `a` by `b-c` would have the same files.
        let stem = self.stems.of(&format!("{step}/{agent}"), &[&format!("{step}-{agent}")]);
        if let Some(&at) = self.by_stem.get(&stem) {
            return at;
        }
        let agent = stem.strip_prefix(&format!("{step}-")).unwrap_or(&agent).to_owned();
        let at = self.slots.len();
        self.by_stem.insert(stem.clone(), at);
        self.slots.push(Slot {
            step: step.to_owned(),
            agent,
            stem,
            executions: 0,
            engine: String::new(),
            ended: None,
        });
        at
    }
}

/// Returns a path without its iterations.
fn bare(path: &StepPath) -> String {
    if let Some((_, name)) = split_foreign(path.as_str()) {
        return name.to_owned();
    }
    let names = pieces(path.as_str()).into_iter().filter_map(|piece| match piece.level {
        Level::Step(name) => Some(name),
        Level::Iteration(_) => None,
    });
    names.collect::<Vec<_>>().join(".")
}
