//! Calls: each has an id of its own in a bundle, and none that a reply announces is lost unseen.
//!
//! WINK joins calls and answers by id and source, and the steps of a workflow are one source, whose
//! agents may count their calls alike.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use quipu_event::payload::{Message, ToolCall};
use quipu_event::{BlockContent, Event, Kind};

use crate::files::Losses;

/// Which call of an id an event is about. Ids are kept as hashes: a run may have many.
#[derive(Default)]
pub(super) struct CallIds {
    /// How many calls had an id.
    calls: HashMap<u64, u32>,
    /// Which of them was the latest at a place.
    latest: HashMap<u64, u32>,
}

impl CallIds {
    /// Returns the id in the bundle of the call that `event` is about, where it is another than the
    /// call's own.
    pub(super) fn of(&mut self, event: &Event) -> Option<String> {
        if !matches!(event.kind, Kind::ToolCall | Kind::ToolResult) {
            return None;
        }
        let id = event.payload.decode::<ToolCall>().ok()?.call_id;
        let place = hash((event.path.as_str(), event.source.as_deref(), &id));
        let calls = self.calls.entry(hash(&id)).or_default();
        let number = match self.latest.get(&place) {
            Some(&latest) if event.kind == Kind::ToolResult => latest,
            // Somebody else may tell of the answer than of the call.
            None if event.kind == Kind::ToolResult && *calls > 0 => *calls,
            _ => {
                *calls += 1;
                self.latest.insert(place, *calls);
                *calls
            }
        };
        (number > 1).then(|| format!("{id}#{number}"))
    }
}

/// Replies that say nothing but calls are carried by the calls, if those come.
#[derive(Default)]
pub(super) struct AnnouncedCalls {
    /// Calls that came, by a hash: only whether they did matters.
    came: BTreeSet<u64>,
    /// The calls of each reply that became no entry of its own.
    awaited: Vec<Box<[u64]>>,
}

impl AnnouncedCalls {
    pub(super) fn note(&mut self, event: &Event, became_nothing: bool) {
        match event.kind {
            Kind::ToolCall | Kind::ToolResult => {
                if let Ok(call) = event.payload.decode::<ToolCall>() {
                    self.came.insert(hash(&call.call_id));
                }
            }
            Kind::MessageAssistant if became_nothing => {
                let message = event.payload.decode::<Message>().unwrap_or_default();
                let calls = message.blocks.iter().filter_map(|block| match &block.content {
                    BlockContent::ToolUse { tool_id, .. }
                    | BlockContent::ToolResult { tool_id, .. } => Some(hash(tool_id)),
                    _ => None,
                });
                self.awaited.push(calls.collect());
            }
            _ => {}
        }
    }

    /// Counts the replies of which a part is nowhere.
    pub(super) fn count_lost(&self, losses: &mut Losses) {
        let came =
            |calls: &[u64]| !calls.is_empty() && calls.iter().all(|call| self.came.contains(call));
        let lost = self.awaited.iter().filter(|calls| !came(calls)).count();
        if lost > 0 {
            let name = Kind::MessageAssistant.as_str().to_owned();
            *losses.events.entry(name).or_default() += lost as u64;
        }
    }
}

fn hash(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
