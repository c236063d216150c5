//! Where the files that a workflow names are.

use std::path::{Path, PathBuf};

use super::setup::Setup;
use crate::definition::Workflow;

/// Returns the path of a file that a workflow names: below the home directory after `~/`, else
/// relative to the workflow's own file.
pub(super) fn of_file(plan: &Workflow, setup: &Setup, name: &str) -> PathBuf {
    if let Some(below) = name.strip_prefix("~/")
        && let Some(home) = setup.env.get("HOME")
    {
        return Path::new(home).join(below);
    }
    match plan.file.parent() {
        Some(dir) => dir.join(name),
        None => PathBuf::from(name),
    }
}
