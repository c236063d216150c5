//! Smaller facts: what the system did, what failed, which files were touched.

use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::vocabulary::vocabulary;

/// Payload of `system`: a subtype and whatever facts belong to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct System {
    /// `recovered`, `retry`, `transition`, `compaction`, `turn_started`, `subscriber_gap` …
    pub subtype: String,
    /// The facts, beside the subtype in the same object.
    pub facts: Map<String, Value>,
}

impl Serialize for System {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1 + self.facts.len()))?;
        map.serialize_entry("subtype", &self.subtype)?;
        for (key, value) in self.facts.iter().filter(|(key, _)| *key != "subtype") {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for System {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut facts = Map::deserialize(deserializer)?;
        let subtype = match facts.remove("subtype") {
            Some(Value::String(subtype)) => subtype,
            None => String::new(),
            Some(_) => return Err(serde::de::Error::custom("subtype is not a string")),
        };
        Ok(System { subtype, facts })
    }
}

impl JsonSchema for System {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "System".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Payload of `system`: a subtype and whatever facts belong to it.",
            "type": "object",
            "properties": { "subtype": { "type": "string" } },
        })
    }
}

/// Payload of `error`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ErrorReport {
    /// A short stable word for it.
    pub code: String,
    /// The family it belongs to.
    pub category: String,
    /// What a person should read.
    pub message: String,
    /// Whether trying again may help.
    pub retryable: bool,
    /// Whatever else is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<crate::json::Json>,
}

/// Payload of `unknown`; the record itself is in the event's `raw`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UnknownRecord {
    /// What the record calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native_type: Option<String>,
    /// Why it was not understood.
    pub reason: String,
}

/// Payload of `file.read`, `file.written` and `file.rejected`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FileAccess {
    /// Which file.
    pub file: String,
    /// How many bytes passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The hash of what passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tool call it was part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

vocabulary! {
    /// What a check of deliverables found.
    DeliverableResult {
        /// All there.
        Passed = "passed",
        /// There and wrong.
        Failed = "failed",
        /// Not all there.
        Incomplete = "incomplete",
        /// The check could not be made.
        Blocked = "blocked",
    }
}

/// Payload of `deliverable.check.started`, `deliverable.check.completed`, `deliverable.missing`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DeliverableCheck {
    /// What must be there.
    pub required: Vec<String>,
    /// What is not, or is empty.
    pub missing: Vec<String>,
    /// What is wrong with each that does not pass: which, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// What the check found, once it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<DeliverableResult>,
}
