//! Events → tree.
//!
//! One event costs one look-up by path, however long the run. Steps are kept side by side, each
//! knowing the one around it, and are put into each other only at the end.

mod attempts;
mod run;

use std::collections::HashMap;

use quipu_event::{Event, RunId};

use super::{RunTree, join};
use run::RunBuilder;

/// A tree while its events arrive.
///
/// The first event says which run it is. Events of other runs among them, which some writers put
/// into the file of the calling run, become trees of their own and are joined where a step calls
/// them.
#[derive(Clone, Debug, Default)]
pub struct TreeBuilder {
    /// The run itself comes first.
    runs: Vec<RunBuilder>,
    by_id: HashMap<RunId, usize>,
}

impl TreeBuilder {
    /// Takes the next event.
    pub fn add(&mut self, event: &Event) {
        let position = match self.by_id.get(&event.run_id) {
            Some(&position) => position,
            None => {
                self.runs.push(RunBuilder::new(event));
                self.by_id.insert(event.run_id.clone(), self.runs.len() - 1);
                self.runs.len() - 1
            }
        };
        self.runs[position].add(event);
    }

    /// Returns the tree, or nothing if there was no event.
    pub fn finish(self) -> Option<RunTree> {
        let mut runs = self.runs.into_iter().map(RunBuilder::finish);
        let root = runs.next()?;
        let mut others: Vec<Option<RunTree>> = runs.map(Some).collect();
        if others.is_empty() {
            return Some(root);
        }
        let by_id = &self.by_id;
        // The run itself stands at 0, so the others are off by one; the run itself is never asked
        // for.
        let mut take = |id: &RunId| others.get_mut(by_id.get(id)?.checked_sub(1)?)?.take();
        let mut root = join(root, &mut take);
        root.strays.extend(others.into_iter().flatten());
        Some(root)
    }

    /// Returns the tree as it stands, and goes on.
    pub fn snapshot(&self) -> Option<RunTree> {
        self.clone().finish()
    }
}
