//! Plain YAML for whoever needs values from it: a file of inputs, say. It knows no workflows.

use std::path::Path;

use super::problem::Problems;
use super::yaml;
use crate::language::Value;

/// Reads a YAML text as one value. What is wrong is told with its place in `file`.
pub fn read_data(file: &Path, text: &str) -> Result<Value, Problems> {
    yaml::read(file, text).map(|node| node.to_value())
}
