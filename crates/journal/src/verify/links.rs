//! Do a run and the runs it calls name each other?

use quipu_event::{Event, Kind, RunId};

use super::{FindingKind, Fold, Report};
use crate::error::ReadError;
use crate::layout::Layout;
use crate::reader::Reader;

/// Checks the links of a run whose lines have been seen, in both directions.
pub(super) fn check_links(
    layout: &Layout,
    fold: &Fold,
    report: &mut Report,
) -> Result<(), ReadError> {
    for (line, child) in &fold.children {
        let what = match first_event(layout, child)? {
            None => FindingKind::ChildMissing { child: child.clone() },
            Some(first) if first.parent_run_id.as_ref() == Some(&fold.run) => continue,
            Some(first) => {
                FindingKind::ChildDisowns { child: child.clone(), named: first.parent_run_id }
            }
        };
        report.add(Some(*line), None, what);
    }
    let Some(parent) = &fold.parent else { return Ok(()) };
    let silent = || FindingKind::ParentSilent { parent: parent.clone() };
    match calls(layout, parent, &fold.run)? {
        Called::ByName => {}
        // A workflow that calls others names them all; what else is part of it, it need not know.
        Called::OthersOnly if fold.is_workflow => report.add(None, None, silent()),
        Called::OthersOnly | Called::Nobody => report.notes.push(silent()),
        Called::NoTranscript => {
            report.add(None, None, FindingKind::ParentMissing { parent: parent.clone() });
        }
    }
    Ok(())
}

fn first_event(layout: &Layout, run: &RunId) -> Result<Option<Event>, ReadError> {
    let path = layout.transcript(run);
    if !path.is_file() {
        return Ok(None);
    }
    Ok(Reader::open(path)?.find_map(Result::ok))
}

/// Whom a parent calls.
enum Called {
    /// The child in question.
    ByName,
    /// Runs, but not this one.
    OthersOnly,
    /// No run at all.
    Nobody,
    /// It cannot be told.
    NoTranscript,
}

fn calls(layout: &Layout, parent: &RunId, child: &RunId) -> Result<Called, ReadError> {
    let path = layout.transcript(parent);
    if !path.is_file() {
        return Ok(Called::NoTranscript);
    }
    let mut called = Called::Nobody;
    for event in Reader::open(path)?.filter_map(Result::ok) {
        if event.child_run_id.as_ref() == Some(child) {
            return Ok(Called::ByName);
        }
        if event.kind == Kind::CallWorkflowStarted {
            called = Called::OthersOnly;
        }
    }
    Ok(called)
}
