//! Notes that others leave for a run while it goes on: this process alone may record them.

use std::path::Path;
use std::sync::Arc;

use quipu_journal::{Mask, Options, deliver_notes, take_up_notes};

use super::Drive;
use crate::scribe::Scribe;

impl Drive {
    /// Records the notes that others left for the run. `transcript` is where notes may stand already.
    pub(super) fn take_up_notes(&self, transcript: Option<&Path>) {
        let Some(layout) = &self.request.world.layout else { return };
        let taken = take_up_notes(layout, &self.request.run.run_id, transcript, |draft| {
            if self.scribe.is_sound() {
                self.scribe.record(draft);
            }
            self.scribe.is_sound()
        });
        if let Err(cause) = taken {
            tracing::warn!(%cause, "notes for the run are not taken up");
        }
    }

    /// Records the notes of those who found the run still being written, after its last line.
    pub(super) fn deliver_late_notes(&self) {
        let world = &self.request.world;
        let Some(layout) = world.layout.as_ref().filter(|_| self.scribe.is_sound()) else { return };
        let options = Options {
            durability: world.durability,
            mask: Some(Arc::clone(&world.secrets) as Arc<dyn Mask>),
            clock: Arc::clone(&world.clock),
            ..Options::default()
        };
        if let Err(cause) = deliver_notes(layout, &self.request.run.run_id, options) {
            tracing::warn!(%cause, "notes for the run are not taken up");
        }
    }
}
