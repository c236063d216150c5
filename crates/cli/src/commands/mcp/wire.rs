//! What the tools are given. An unknown field is refused, so that a model learns of its mistake.

use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ListRuns {
    pub(super) limit: Option<usize>,
    pub(super) status: Option<String>,
    pub(super) name: Option<String>,
    pub(super) since: Option<String>,
    pub(super) offset: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadRun {
    pub(super) run: String,
    #[serde(default)]
    pub(super) from_seq: Option<u64>,
    #[serde(default)]
    pub(super) limit: Option<usize>,
    #[serde(default)]
    pub(super) types: Option<Vec<String>>,
    #[serde(default)]
    pub(super) path: Option<String>,
    #[serde(default)]
    pub(super) text_offset: Option<usize>,
    #[serde(default)]
    pub(super) format: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    #[default]
    Text,
    Events,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunTree {
    pub(super) run: String,
    #[serde(default)]
    pub(super) depth: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    pub(super) query: String,
    #[serde(default)]
    pub(super) run: Option<String>,
    #[serde(default)]
    pub(super) types: Option<Vec<String>>,
    #[serde(default)]
    pub(super) limit: Option<usize>,
    #[serde(default)]
    pub(super) offset: Option<usize>,
    #[serde(default)]
    pub(super) case_insensitive: Option<bool>,
    #[serde(default)]
    pub(super) regex: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunStats {
    pub(super) run: String,
}
