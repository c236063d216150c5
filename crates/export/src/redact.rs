//! Events without their secrets, on the way out. The transcript keeps them.

use quipu_event::{Draft, Event, RunIdentity};
use quipu_journal::{Mask, SecretMask};

/// Hides well-known secrets in events, and changes nothing else of them.
pub struct Redaction {
    mask: SecretMask,
    hidden: u64,
}

impl Redaction {
    /// Hides what `mask` hides.
    pub fn new(mask: SecretMask) -> Self {
        Redaction { mask, hidden: 0 }
    }

    /// Returns the event without secrets.
    pub fn apply(&mut self, event: Event) -> Event {
        let Event { seq, run_id, parent_run_id, timestamp, origin, mut extra, .. } = event;
        let draft = Draft {
            kind: event.kind,
            path: event.path,
            iteration: event.iteration,
            timestamp: Some(timestamp),
            child_run_id: event.child_run_id,
            payload: event.payload,
            source: event.source,
            origin: None,
            raw: event.raw,
        };
        let (draft, hidden) = self.mask.mask(draft);
        self.hidden += hidden;
        for (_, value) in &mut extra {
            if let Some((masked, hidden)) = self.mask.mask_value(value) {
                *value = masked;
                self.hidden += hidden;
            }
        }
        let mut event = draft.seal(seq, &RunIdentity { run_id, parent_run_id }, timestamp);
        event.origin = origin;
        event.extra = extra;
        event
    }

    /// Returns how many places were hidden so far.
    pub fn hidden(&self) -> u64 {
        self.hidden
    }
}
