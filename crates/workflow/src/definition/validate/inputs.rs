//! Whether each input's default is a value that the input would take.

use super::super::inputs::check_default;
use super::super::parse::Notes;
use super::super::problem::{Problem, Problems};
use super::Workflow;

pub(super) fn check(workflow: &Workflow, notes: &Notes, problems: &mut Problems) {
    for input in &workflow.inputs {
        let Some(place) = notes.defaults.get(&input.name) else { continue };
        for found in check_default(input) {
            let message = format!("the default of input `{}` {}", input.name, found.message);
            problems.push(Problem::error(place, message).expected(found.expected));
        }
    }
}
