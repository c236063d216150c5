//! Links to the pages of other runs, which lie beside this one.

use quipu_event::{Event, RunId};

/// Appends a link to the run that an event calls.
pub(crate) fn child(out: &mut String, event: &Event) {
    if let Some(run) = &event.child_run_id {
        out.push_str("Calls run ");
        to(out, run);
        out.push_str("\n\n");
    }
}

/// Appends a link to a run's page. Nothing in a run's id means anything to a Markdown reader but a
/// colon, which could make the beginning of a path look like the name of a protocol.
pub(crate) fn to(out: &mut String, run: &RunId) {
    out.push_str("[`");
    out.push_str(run.as_str());
    out.push_str("`](./");
    out.push_str(run.as_str());
    out.push_str(".md)");
}
