//! The events of one run → its tree.

use std::collections::HashMap;

use quipu_event::payload::{StepCompleted, StepStarted, ToolStatus};
use quipu_event::{Event, Kind, Payload, StepPath};

use super::super::{Node, Part, RunTree, Work};
use super::attempts;
use crate::path::{Level, pieces, split_foreign};
use crate::reading::{read, step_path};

/// Where the run itself stands among the slots.
const ROOT: usize = 0;

/// One run while its events arrive.
#[derive(Clone, Debug)]
pub(super) struct RunBuilder {
    /// The run, its steps still outside it.
    tree: RunTree,
    whole_ms: Option<u64>,
    /// Every node, each after the one around it. The first stands for the run.
    slots: Vec<Slot>,
    by_path: HashMap<StepPath, usize>,
}

#[derive(Clone, Debug)]
struct Slot {
    /// The slot around this one.
    parent: usize,
    /// The loop directly inside that began last and has not ended.
    open_loop: Option<usize>,
    node: Node,
}

impl RunBuilder {
    /// Begins the tree of the run that `first` belongs to.
    pub(super) fn new(first: &Event) -> Self {
        let tree = RunTree {
            run_id: first.run_id.clone(),
            parent_run_id: None,
            name: None,
            kind: None,
            status: None,
            error: None,
            agent: None,
            started: first.timestamp,
            duration_ms: 0,
            events: 0,
            work: Work::default(),
            steps: Vec::new(),
            strays: Vec::new(),
        };
        let root = Slot::new(ROOT, Part::Step(String::new()), StepPath::root());
        let by_path = HashMap::from([(StepPath::root(), ROOT)]);
        RunBuilder { tree, whole_ms: None, slots: vec![root], by_path }
    }

    /// Takes the next event of the run.
    pub(super) fn add(&mut self, event: &Event) {
        self.tree.events += 1;
        self.tree.duration_ms = event.timestamp.millis_since(self.tree.started);
        if self.tree.parent_run_id.is_none() {
            self.tree.parent_run_id.clone_from(&event.parent_run_id);
        }
        match &event.kind {
            Kind::RunCreated | Kind::RunStarted | Kind::RunCompleted => self.note_run(event),
            Kind::StepStarted | Kind::CallWorkflowStarted => self.begin_step(event),
            Kind::StepCompleted | Kind::CallWorkflowCompleted => self.end_step(event),
            Kind::MessageUser | Kind::MessageAssistant => self.work_at(event).messages += 1,
            Kind::ToolCall => self.work_at(event).tool_calls += 1,
            Kind::Error => self.work_at(event).errors += 1,
            Kind::ToolResult | Kind::Usage => self.note_outcome(event),
            _ => {}
        }
    }

    /// Puts the steps into each other.
    pub(super) fn finish(self) -> RunTree {
        let mut slots = self.slots;
        let mut tree = self.tree;
        // Whatever is inside a slot comes after it, so the last slot is always complete. Taking
        // from the end turns the order of siblings around, hence the reversal.
        while let Some(Slot { parent, mut node, .. }) = slots.pop() {
            node.children.reverse();
            match slots.get_mut(parent) {
                Some(slot) => slot.node.children.push(node),
                None => {
                    tree.work = node.work;
                    tree.steps = node.children;
                }
            }
        }
        tree.duration_ms = self.whole_ms.unwrap_or(tree.duration_ms);
        tree
    }

    fn note_run(&mut self, event: &Event) {
        let tree = &mut self.tree;
        let (name, kind) = match read(event).payload {
            Payload::RunCreated(run) => (run.name, run.kind),
            Payload::RunStarted(run) => {
                let agent = run.agent.as_ref().and_then(|agent| agent.label());
                tree.agent = agent.map(str::to_owned).or_else(|| tree.agent.take());
                // A run that is taken up again has not ended.
                (tree.status, tree.error, self.whole_ms) = (None, None, None);
                (run.name, run.kind)
            }
            Payload::RunCompleted(run) => {
                self.whole_ms = Some(run.whole_ms(tree.started, event.timestamp));
                tree.status = run.status;
                tree.error = run.error;
                (run.name, run.kind)
            }
            _ => return,
        };
        // The beginning knows best: an end may repeat both or leave both out.
        if tree.name.is_none() && !name.is_empty() {
            tree.name = Some(name);
        }
        if event.kind != Kind::RunCompleted || tree.name.is_some() {
            tree.kind.get_or_insert(kind);
        }
    }

    fn begin_step(&mut self, event: &Event) {
        let step = match read(event).payload {
            Payload::StepStarted(step) => *step,
            _ => StepStarted::default(),
        };
        let slot = self.step_slot(event, &step.name, &step.kind);
        if is_unnamed_loop(&step.kind) {
            let parent = self.slots[slot].parent;
            self.slots[parent].open_loop = Some(slot);
        }
        let tried = &mut self.slots[slot].node.attempts;
        let attempt = attempts::begin(tried, step.attempt, event.timestamp);
        if let Some(label) = step.agent.as_ref().and_then(|agent| agent.label()) {
            attempt.agent = Some(label.to_owned());
        }
        if event.child_run_id.is_some() {
            attempt.child_run_id.clone_from(&event.child_run_id);
        }
    }

    fn end_step(&mut self, event: &Event) {
        let step = match read(event).payload {
            Payload::StepCompleted(step) => *step,
            _ => StepCompleted::default(),
        };
        let slot = self.step_slot(event, &step.name, &step.kind);
        let parent = self.slots[slot].parent;
        if self.slots[parent].open_loop == Some(slot) {
            self.slots[parent].open_loop = None;
        }
        let tried = &mut self.slots[slot].node.attempts;
        let attempt = attempts::end(tried, &step, event.timestamp);
        if event.child_run_id.is_some() {
            attempt.child_run_id.clone_from(&event.child_run_id);
        }
    }

    fn note_outcome(&mut self, event: &Event) {
        match read(event).payload {
            Payload::ToolResult(tool) => {
                if matches!(tool.status, Some(ToolStatus::Failed | ToolStatus::Blocked)) {
                    self.work_at(event).tool_failures += 1;
                }
            }
            Payload::Usage(usage) => self.work_at(event).usage.add(&usage.tokens()),
            _ => {}
        }
    }

    /// Returns the work of the innermost node known on the event's path.
    fn work_at(&mut self, event: &Event) -> &mut Work {
        let slot = match self.by_path.get(&event.path) {
            Some(&slot) => slot,
            None => {
                let path = self.our_spelling(&event.path);
                let known = pieces(path.as_str())
                    .iter()
                    .rev()
                    .find_map(|piece| self.by_path.get(&StepPath::from(piece.prefix)).copied());
                known.unwrap_or(ROOT)
            }
        };
        &mut self.slots[slot].node.work
    }

    /// Returns the slot of a step, made if need be, and notes its kind.
    fn step_slot(&mut self, event: &Event, name: &str, kind: &str) -> usize {
        let path = self.our_spelling(&step_path(event, name));
        let slot = match self.by_path.get(&path) {
            Some(&slot) => slot,
            None => self.open_path(&path),
        };
        let node = &mut self.slots[slot].node;
        if node.kind.is_none() && !kind.is_empty() {
            node.kind = Some(kind.to_owned());
        }
        slot
    }

    /// Makes every node on `path` that is not there yet.
    fn open_path(&mut self, path: &StepPath) -> usize {
        let mut around = ROOT;
        for piece in pieces(path.as_str()) {
            let prefix = StepPath::from(piece.prefix);
            around = match self.by_path.get(&prefix) {
                Some(&slot) => slot,
                None => {
                    let part = match piece.level {
                        Level::Step(name) => Part::Step(name.to_owned()),
                        Level::Iteration(index) => Part::Iteration(index),
                    };
                    self.slots.push(Slot::new(around, part, prefix.clone()));
                    self.by_path.insert(prefix, self.slots.len() - 1);
                    self.slots.len() - 1
                }
            };
        }
        around
    }

    /// Respells `loop:1/check` as `each_file[1].check`, by the loop that is open there.
    ///
    /// Where no loop is known to be open, the iteration stands by itself: `[1].check`.
    fn our_spelling(&self, path: &StepPath) -> StepPath {
        let Some((indices, name)) = split_foreign(path.as_str()) else { return path.clone() };
        let mut spelled = StepPath::root();
        for index in indices {
            let around = self.by_path.get(&spelled);
            let open_loop = around.and_then(|&around| self.slots[around].open_loop);
            let owner = open_loop.map_or(&spelled, |slot| &self.slots[slot].node.path);
            spelled = owner.iteration(index);
        }
        if name.is_empty() { spelled } else { spelled.child(name) }
    }
}

impl Slot {
    fn new(parent: usize, part: Part, path: StepPath) -> Self {
        let node = Node {
            part,
            path,
            kind: None,
            attempts: Vec::new(),
            work: Work::default(),
            children: Vec::new(),
        };
        Slot { parent, open_loop: None, node }
    }
}

/// Tells whether a step of this kind is a loop whose iterations AWF numbers without its name.
fn is_unnamed_loop(kind: &str) -> bool {
    matches!(kind, "for_each" | "while")
}
