//! The keys of an audit line, in their order.

use serde::Serialize;
use serde_json::Map;

use crate::language::Value;

/// The version of the shape.
pub(super) const SCHEMA_VERSION: u8 = 1;

#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct AuditWire {
    pub(super) event: &'static str,
    pub(super) execution_id: String,
    pub(super) timestamp: String,
    pub(super) user: String,
    pub(super) workflow_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) inputs: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) inputs_truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit_code: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    pub(super) schema_version: u8,
}

impl AuditWire {
    /// Returns the line, line feed included.
    pub(super) fn line(&self) -> String {
        // Texts, numbers and an object whose keys are texts: nothing here can fail to be JSON.
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }
}
