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

    /// Returns the event without secrets, wherever in it they stood.
    ///
    /// Only the ids of runs stay as they are: files are named by them, and other runs name them.
    pub fn apply(&mut self, event: Event) -> Event {
        let Event { seq, run_id, parent_run_id, timestamp, mut origin, mut extra, .. } = event;
        let draft = Draft {
            kind: self.without(event.kind.as_str()).map_or(event.kind, |kind| (&*kind).into()),
            path: self.without(event.path.as_str()).map_or(event.path, |path| (&*path).into()),
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
        for (key, value) in &mut extra {
            if let Some((masked, hidden)) = self.mask.mask_member(key, value) {
                *value = masked;
                self.hidden += hidden;
            }
            if let Some(masked) = self.without(key) {
                *key = masked;
            }
        }
        if let Some(origin) = &mut origin
            && let Some(masked) = self.without(&origin.file)
        {
            origin.file = masked;
        }
        let mut event = draft.seal(seq, &RunIdentity { run_id, parent_run_id }, timestamp);
        event.origin = origin;
        event.extra = extra;
        event
    }

    /// Returns `text` without its secrets; nothing when it has none.
    fn without(&mut self, text: &str) -> Option<String> {
        let (masked, hidden) = self.mask.mask_text(text)?;
        self.hidden += hidden;
        Some(masked)
    }

    /// Returns how many places were hidden so far.
    pub fn hidden(&self) -> u64 {
        self.hidden
    }
}
