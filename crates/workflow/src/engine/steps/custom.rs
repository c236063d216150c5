//! A plugin's own step, with its configuration filled in.

use super::super::scope::StepScope;
use super::super::work::{CustomJob, Work};
use super::map;
use crate::definition::CustomStep;

pub(super) fn prepare(custom: &CustomStep, scope: &StepScope<'_>) -> Result<Work, String> {
    Ok(Work::Custom(CustomJob {
        step_type: custom.step_type.clone(),
        config: map(&custom.config, scope)?,
    }))
}
