//! Runs in Flow Studio's layout.
//!
//! - `cases`: transcripts and the files they become
//! - `promises`: what holds for every run
//! - `again`: runs from there, imported and put back
//! - `readers`: other people's programs read the files, which a small `server` hands out

#![expect(clippy::unwrap_used, reason = "a test that meets nothing has failed")]
#![expect(clippy::print_stderr, reason = "a check that was not made is said")]

mod again;
mod cases;
mod promises;
mod readers;
mod server;

use quipu_event::Event;
use quipu_view::{FileTree, FileView, FlowStudioView, Losses};

/// Returns the files that events become, and what has no place in them.
pub(crate) fn files_of(events: &[Event]) -> (FileTree, Losses) {
    let (mut view, mut tree) = (FlowStudioView::new(), FileTree::default());
    events.iter().for_each(|event| view.add(event, &mut tree));
    view.finish(&mut tree);
    (tree, view.losses().clone())
}
