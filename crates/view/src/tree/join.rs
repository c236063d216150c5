//! A run and the runs it calls → one tree.
//!
//! Where the other runs come from is the caller's business.

use std::collections::HashSet;

use quipu_event::RunId;

use super::{Node, RunTree};

/// How many runs deep a joined tree may be.
const MAX_RUNS: usize = 64;

/// How many nodes deep a joined tree may be, since it is walked and dropped recursively.
const MAX_NODES: usize = 512;

/// Attaches to every step the run it calls, and to that run's steps the runs they call.
///
/// `lookup` answers with a run's tree, or nothing if there is none to be had. Each run is attached
/// once, where it is first called, so runs that call each other in a circle come to an end and no
/// work is counted twice. Runs nested deeper than 64 stay unattached.
pub fn join(mut root: RunTree, lookup: &mut dyn FnMut(&RunId) -> Option<RunTree>) -> RunTree {
    let attached = HashSet::from([root.run_id.clone()]);
    let mut joiner = Joiner { lookup, attached };
    joiner.join_run(&mut root, Depth { runs: 1, nodes: 1 });
    root
}

struct Joiner<'a> {
    lookup: &'a mut dyn FnMut(&RunId) -> Option<RunTree>,
    attached: HashSet<RunId>,
}

#[derive(Clone, Copy)]
struct Depth {
    runs: usize,
    nodes: usize,
}

impl Joiner<'_> {
    fn join_run(&mut self, run: &mut RunTree, depth: Depth) {
        let nodes = depth.nodes + 1;
        run.steps.iter_mut().for_each(|step| self.join_node(step, Depth { nodes, ..depth }));
    }

    fn join_node(&mut self, node: &mut Node, depth: Depth) {
        for attempt in &mut node.attempts {
            let deeper = Depth { runs: depth.runs + 1, nodes: depth.nodes + 1 };
            if attempt.child.is_none()
                && let Some(id) = &attempt.child_run_id
            {
                attempt.child = self.fetch(id, deeper).map(Box::new);
            }
            if let Some(child) = attempt.child.as_deref_mut() {
                self.join_run(child, deeper);
            }
        }
        let nodes = depth.nodes + 1;
        node.children.iter_mut().for_each(|child| self.join_node(child, Depth { nodes, ..depth }));
    }

    fn fetch(&mut self, id: &RunId, depth: Depth) -> Option<RunTree> {
        let room = depth.runs <= MAX_RUNS && depth.nodes <= MAX_NODES;
        if !room || self.attached.contains(id) {
            return None;
        }
        let run = (self.lookup)(id)?;
        self.attached.insert(id.clone());
        Some(run)
    }
}
