//! Tests of the crate from outside. A new area gets a file here and a line below.

use std::path::Path;
use std::sync::Arc;

use quipu_workflow::definition::{self, NoLibrary, Workflow};

mod engine;

/// Reads a workflow that calls no other.
fn load(file: &Path) -> Arc<Workflow> {
    let text = std::fs::read_to_string(file).unwrap();
    // What a run says of its file must not depend on where this crate lies.
    let name = Path::new(file.file_name().unwrap());
    let checked = definition::check(name, &text, &NoLibrary);
    checked.workflow.map(Arc::new).unwrap_or_else(|| panic!("{:#?}", checked.problems))
}
