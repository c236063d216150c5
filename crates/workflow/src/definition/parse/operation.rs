//! Operation steps: something built in or of a plugin, and what it is given.

use super::fields::Fields;
use super::reader::Reader;
use super::values;
use crate::definition::suggest::one_of;
use crate::definition::{OperationStep, StepKind};
use crate::operation::OPERATIONS;

/// Reads what an operation step has of its own.
pub(super) fn read(reader: &mut Reader, fields: &mut Fields<'_>) -> StepKind {
    let mut operation = String::new();
    match fields.take("operation") {
        Some(node) => {
            operation = reader.text("`operation`", node).unwrap_or_default();
            if !operation.is_empty() {
                reader.tool(&operation, &format!("operation `{operation}`"), &node.place);
            }
        }
        None => fields.missing(reader, "operation", &one_of(OPERATIONS.iter().copied())),
    }
    let mut inputs = values::read_map(reader, fields, "operation_inputs");
    inputs.extend(values::read_map(reader, fields, "inputs"));
    StepKind::Operation(OperationStep { operation, inputs })
}
