//! Where called workflows come from: files, each read once in a run, with `--set` applied.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use quipu_workflow::definition::{GivenValue, Places, Workflow, check_inputs, load_with};
use quipu_workflow::driver::WorkflowSource;
use quipu_workflow::language::Value;
use serde_json::Map;

use super::overrides::Overrides;

/// The files that workflows can be called from.
pub(super) struct Sources {
    places: Places,
    /// Where the run works: what its inputs name is looked for there.
    dir: PathBuf,
    overrides: Overrides,
    read: Mutex<HashMap<PathBuf, Arc<Workflow>>>,
}

impl Sources {
    pub(super) fn new(places: Places, dir: PathBuf, overrides: Overrides) -> Self {
        Sources { places, dir, overrides, read: Mutex::default() }
    }
}

impl WorkflowSource for Sources {
    fn load(&self, name: &str, from: &Path) -> Result<Arc<Workflow>, String> {
        let path = self.places.find(name, Some(from)).map_err(|error| {
            let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
            format!("{error}{hint}")
        })?;
        // A loop that calls a workflow must not read it again each time.
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(workflow) = read.get(&path) {
            return Ok(Arc::clone(workflow));
        }
        let loaded = load_with(&path, &self.places).map_err(|error| error.to_string())?;
        let mut workflow = loaded.workflow;
        self.overrides.apply_everywhere(&mut workflow);
        let workflow = Arc::new(workflow);
        read.insert(path, Arc::clone(&workflow));
        Ok(workflow)
    }

    fn check_inputs(
        &self,
        workflow: &Workflow,
        inputs: Map<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        let given =
            inputs.into_iter().map(|(name, value)| (name, GivenValue::Value(value))).collect();
        check_inputs(&workflow.inputs, given, &|path| self.dir.join(path).is_file()).map_err(
            |problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        )
    }
}
