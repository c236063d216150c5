//! Operation steps: something built in, and what it is given.

use super::fields::Fields;
use super::reader::Reader;
use super::values;
use crate::definition::problem::Problem;
use crate::definition::suggest::{did_you_mean, one_of};
use crate::definition::{OperationStep, StepKind};
use crate::operation::OPERATIONS;

/// Reads what an operation step has of its own.
pub(super) fn read(reader: &mut Reader, fields: &mut Fields<'_>) -> StepKind {
    let mut operation = String::new();
    match fields.take("operation") {
        Some(node) => {
            operation = reader.text("`operation`", node).unwrap_or_default();
            if !operation.is_empty() && !OPERATIONS.contains(&operation.as_str()) {
                let message = format!("`{operation}` is no operation that is built in");
                let problem = Problem::warning(&node.place, message);
                let hint = did_you_mean(&operation, OPERATIONS.iter().copied());
                reader
                    .problems
                    .push(problem.expected(one_of(OPERATIONS.iter().copied())).hint(hint));
            }
        }
        None => fields.missing(reader, "operation", &one_of(OPERATIONS.iter().copied())),
    }
    let mut inputs = values::read_map(reader, fields, "operation_inputs");
    inputs.extend(values::read_map(reader, fields, "inputs"));
    StepKind::Operation(OperationStep { operation, inputs })
}
