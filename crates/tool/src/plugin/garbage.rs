//! What a plugin wrote that is no message, kept until somebody can record it.

use std::sync::{Mutex, PoisonError};

use serde_json::json;

use crate::CallContext;

/// How many lines are kept between two records. Of the others only the number is.
const KEPT: usize = 5;
/// How much of a line is kept, in characters.
const SHOWN: usize = 200;

/// Lines that nobody could read.
#[derive(Debug, Default)]
pub(super) struct Heap(Mutex<Pile>);

#[derive(Debug, Default)]
struct Pile {
    lines: Vec<(String, usize)>,
    more: u64,
}

impl Heap {
    /// Adds a line.
    pub(super) fn add(&self, line: &[u8]) {
        let mut pile = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if pile.lines.len() == KEPT {
            pile.more += 1;
            return;
        }
        // Four bytes are the longest that a character can be.
        let start = String::from_utf8_lossy(&line[..line.len().min(4 * SHOWN)]);
        pile.lines.push((start.chars().take(SHOWN).collect(), line.len()));
    }

    /// Returns what was added last, of what is kept.
    pub(super) fn newest(&self) -> Option<String> {
        let pile = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pile.lines.last().map(|(line, _)| line.clone())
    }

    /// Records what has piled up, where the call is that came by.
    pub(super) fn record(&self, plugin: &str, context: &CallContext) {
        let pile = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let last = pile.lines.len().saturating_sub(1);
        for (at, (line, bytes)) in pile.lines.into_iter().enumerate() {
            let mut facts = json!({ "plugin": plugin, "line": line, "bytes": bytes });
            if at == last && pile.more > 0 {
                facts["more"] = json!(pile.more);
            }
            context.note("plugin_garbage", facts);
        }
    }
}
