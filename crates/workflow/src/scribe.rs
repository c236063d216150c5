//! Where what happens is told: to the transcript, and to whoever watches.

use quipu_event::Draft;

use crate::display::DisplayEvent;

/// Takes what happens in one run.
///
/// A scribe never fails towards the work: a transcript that cannot be written is reported once,
/// by the scribe, and the work goes on.
pub trait Scribe: Send + Sync {
    /// Records an event. Whoever watches sees what follows from it; nobody shows it twice.
    fn record(&self, draft: Draft);

    /// Shows something that is no event of its own: a piece of a text still in the making.
    fn show(&self, event: DisplayEvent);
}
