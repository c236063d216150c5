//! What the engine is given before the run begins.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_event::{RunId, Timestamp};

use super::history::History;
use crate::language::Value;

/// What a run knows of the world around it. The engine looks at nothing else.
#[derive(Clone)]
pub struct Setup {
    /// The run's id.
    pub run_id: RunId,
    /// When it began.
    pub started_at: Timestamp,
    /// What it was given, checked and with defaults filled in.
    pub inputs: serde_json::Map<String, Value>,
    /// The environment.
    pub env: BTreeMap<String, String>,
    /// Where it runs.
    pub working_dir: PathBuf,
    /// Who runs it.
    pub user: String,
    /// On which machine.
    pub hostname: String,
    /// The directories of the `awf` namespace by name: `prompts_dir`, `scripts_dir` …
    pub awf: BTreeMap<String, String>,
    /// Where skills are looked for, in order.
    pub skill_dirs: Vec<PathBuf>,
    /// Where roles are looked for, in order.
    pub role_dirs: Vec<PathBuf>,
    /// How prompts and scripts are read.
    pub files: Arc<dyn ReadFile>,
    /// What the run did before it was resumed.
    pub history: History,
}

/// Reads text files for the engine, which opens none itself.
pub trait ReadFile: Send + Sync {
    /// Returns the text of a file. The error is a fragment for a message.
    fn read(&self, path: &Path) -> Result<String, String>;
}
