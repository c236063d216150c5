//! Parallel steps: steps that run side by side.

use super::fields::Fields;
use super::notes::Role;
use super::reader::Reader;
use crate::definition::problem::Problem;
use crate::definition::{ParallelStep, StepKind, Strategy};

const STRATEGIES: [(&str, Strategy); 3] = [
    ("all_succeed", Strategy::AllSucceed),
    ("any_succeed", Strategy::AnySucceed),
    ("best_effort", Strategy::BestEffort),
];

/// Reads what a parallel step has of its own.
pub(super) fn read(reader: &mut Reader, fields: &mut Fields<'_>) -> StepKind {
    let names = fields.names(reader, "parallel");
    let is_list = fields.take("parallel").is_none_or(|node| node.scalar().is_none());
    if is_list && names.as_ref().is_none_or(Vec::is_empty) {
        let problem = Problem::error(&fields.place, "a parallel step has no branches");
        let older = ["branches", "steps"].into_iter().find(|key| fields.has(key));
        let hint =
            older.map(|key| format!("`{key}` has no effect: make each branch a step and name it"));
        reader.problems.push(problem.expected("`parallel` with a list of step names").hint(hint));
    }
    let names = names.unwrap_or_default();
    for (index, (name, place)) in names.iter().enumerate() {
        reader.target(name, place, Role::Branch);
        if names[..index].iter().any(|(earlier, _)| earlier == name) {
            reader.error(place, format!("branch `{name}` stands twice"), "each branch once");
        }
    }
    let max = fields.whole(reader, "max_concurrent", 0, i64::MAX);
    StepKind::Parallel(ParallelStep {
        branches: names.into_iter().map(|(name, _)| name).collect(),
        strategy: fields.word(reader, "strategy", &STRATEGIES).unwrap_or_default(),
        // As many as there are: that is what 0 says.
        max_concurrent: max.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0),
    })
}
