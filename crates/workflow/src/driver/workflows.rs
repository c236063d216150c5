//! Called workflows, found where workflows are kept.

use std::path::Path;
use std::sync::Arc;

use serde_json::Map;

use super::request::WorkflowSource;
use crate::definition::{GivenValue, LoadError, Places, Workflow, check_inputs, load_with};
use crate::language::Value;

impl WorkflowSource for Places {
    fn load(&self, name: &str, from: &Path) -> Result<Arc<Workflow>, String> {
        let path = self.find(name, Some(from)).map_err(|problem| problem.to_string())?;
        let loaded = load_with(&path, self).map_err(|error| match error {
            LoadError::Read { path, source } => format!("{}: {source}", path.display()),
            LoadError::Invalid { problems } => problems.to_string(),
        })?;
        Ok(Arc::new(loaded.workflow))
    }

    fn check_inputs(
        &self,
        workflow: &Workflow,
        inputs: Map<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        let given = inputs.into_iter().map(|(name, value)| (name, GivenValue::Value(value)));
        check_inputs(&workflow.inputs, given.collect(), &|path| path.exists()).map_err(|problems| {
            problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        })
    }
}
