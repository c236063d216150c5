//! Whether a step's texts use only what can be there when they are filled in.

use std::collections::BTreeMap;

use super::super::parse::{Language, Moment, Notes};
use super::super::problem::{Problem, Problems};
use super::graph::Graph;

/// A template that uses a result that no run can have by then fails every run that comes to it.
/// In an expression, what is not there is null, which may be just what is asked for.
pub(super) fn check(notes: &Notes, graph: &Graph<'_>, problems: &mut Problems) {
    let mut later = BTreeMap::new();
    for text in notes.texts.iter().filter(|text| text.language == Language::Template) {
        let Some(step) = &text.step else { continue };
        for (parts, place) in &text.references {
            let [space, used, ..] = parts.as_slice() else { continue };
            let Some((used, _)) = notes.steps.get_key_value(used) else { continue };
            if space != "states" || (used == step && text.moment != Moment::Before) {
                continue;
            }
            let after = later.entry(used.as_str()).or_insert_with(|| graph.later(used));
            if after.contains(step.as_str()) {
                continue;
            }
            if used == step {
                let message = format!("step `{step}` uses its own result before there is one");
                problems.push(Problem::warning(place, message));
            } else {
                let message = format!("step `{used}` cannot have run before step `{step}`");
                let expected = "a step that the run comes from";
                let hint = graph.are_branches(used, step).then(|| {
                    "branches of a parallel step do not see each other's results".to_owned()
                });
                problems.push(Problem::error(place, message).expected(expected).hint(hint));
            }
        }
    }
}
