//! Operation steps: something built in, and what it is given.

use super::fields::Fields;
use super::reader::Reader;
use super::values;
use crate::definition::problem::Problem;
use crate::definition::suggest::{did_you_mean, one_of};
use crate::definition::{OperationStep, StepKind};

/// The operations that are built in. Plugins may bring others.
const BUILT_IN: [&str; 10] = [
    "http.request",
    "notify.send",
    "github.get_issue",
    "github.get_pr",
    "github.create_issue",
    "github.create_pr",
    "github.add_labels",
    "github.add_comment",
    "github.list_comments",
    "github.batch",
];

/// Reads what an operation step has of its own.
pub(super) fn read(reader: &mut Reader, fields: &mut Fields<'_>) -> StepKind {
    let mut operation = String::new();
    match fields.take("operation") {
        Some(node) => {
            operation = reader.text("`operation`", node).unwrap_or_default();
            if !operation.is_empty() && !BUILT_IN.contains(&operation.as_str()) {
                let message = format!("`{operation}` is no operation that is built in");
                let problem = Problem::warning(&node.place, message);
                let hint = did_you_mean(&operation, BUILT_IN);
                reader.problems.push(problem.expected(one_of(BUILT_IN)).hint(hint));
            }
        }
        None => fields.missing(reader, "operation", &one_of(BUILT_IN)),
    }
    let mut inputs = values::read_map(reader, fields, "operation_inputs");
    inputs.extend(values::read_map(reader, fields, "inputs"));
    StepKind::Operation(OperationStep { operation, inputs })
}
