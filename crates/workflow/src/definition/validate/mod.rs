//! Whether everything in a workflow leads somewhere. Takes the whole plan, and opens no file.

mod calls;
mod files;
mod graph;
mod inputs;
mod nesting;
mod order;
mod references;
mod targets;

use super::Workflow;
use super::library::Library;
use super::parse::Notes;
use super::problem::Problems;
use graph::Graph;

/// Checks a workflow that was read, and adds what is wrong.
pub(super) fn validate(
    workflow: &Workflow,
    notes: &Notes,
    library: &dyn Library,
    problems: &mut Problems,
) {
    let graph = Graph::of(notes);
    inputs::check(workflow, notes, problems);
    targets::check(workflow, notes, &graph, problems);
    nesting::check(notes, &graph, problems);
    references::check(workflow, notes, problems);
    order::check(notes, &graph, problems);
    calls::check(workflow, notes, library, problems);
    files::check(workflow, notes, library, problems);
}
