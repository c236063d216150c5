//! An operation step: something built in, with its inputs filled in.

use super::super::scope::StepScope;
use super::super::work::{OperationJob, Work};
use super::map;
use crate::definition::OperationStep;

pub(super) fn prepare(operation: &OperationStep, scope: &StepScope<'_>) -> Result<Work, String> {
    let inputs = map(&operation.inputs, scope)?;
    Ok(Work::Operation(OperationJob { operation: operation.operation.clone(), inputs }))
}
