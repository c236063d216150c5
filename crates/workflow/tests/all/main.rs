//! Workflows, tested from outside.
//!
//! - `agents`: every provider, played by the fake agent or a server on loopback.
//! - `definition`: files become checked plans, and what is wrong is told with its place.
//! - `definition_conformance`: real files, where they are at hand.
//! - `driver`: real runs, with commands as processes and transcripts and audit trails on disk.
//! - `engine`: the engine alone; its work is answered from a script.
//! - `language`: templates, expressions, and values that must not become code.
//! - `model`: random workflows; what their transcripts tell is what happened.
//! - `memory`: long loops and wide parallel steps take no more memory than short and narrow ones.
//! - `operation`: what needs no program, against servers on loopback.
//! - `tools`: what is built in and what a plugin has, called by agents and by steps.
//! - `transcripts`: golden transcripts, one for each provider.

#![expect(clippy::unwrap_used, reason = "a test may fail wherever it likes")]

use std::path::Path;
use std::sync::Arc;

use quipu_workflow::definition::{NoLibrary, Workflow, check};

mod agents;
mod definition;
mod definition_conformance;
mod driver;
mod engine;
mod language;
mod memory;
mod model;
mod operation;
mod tools;
mod transcripts;

/// Reads a workflow that calls no other.
fn load(file: &Path) -> Arc<Workflow> {
    let text = std::fs::read_to_string(file).unwrap();
    // What a run says of its file must not depend on where this crate lies.
    let name = Path::new(file.file_name().unwrap());
    let checked = check(name, &text, &NoLibrary);
    checked.workflow.map(Arc::new).unwrap_or_else(|| panic!("{:#?}", checked.problems))
}
