//! Which files belong to which step. What a receipt says counts for more than how a file is called.

use quipu_event::Timestamp;
use serde_json::Value;

use super::super::error::ImportError;
use super::super::folder::Folder;
use super::super::record::{lines, owned, text, time};

/// The transcript and the receipt of one step.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    pub(super) flow: String,
    pub(super) step: String,
    pub(super) engine: String,
    pub(super) transcript: Option<String>,
    pub(super) receipt: Option<String>,
    /// What the receipt says; null without one.
    pub(super) says: Value,
    pub(super) began: Option<Timestamp>,
    /// Whether the transcript has tool calls, and messages.
    pub(super) has_tools: bool,
    pub(super) has_messages: bool,
}

/// All of them, in the order in which they began.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts(pub(super) Vec<Part>);

impl Parts {
    /// Looks for them by the names of their files.
    pub(super) fn find(folder: &Folder) -> Result<Self, ImportError> {
        let mut parts: Vec<Part> = Vec::new();
        for (name, _) in folder.files() {
            let Some((flow, file)) = name.split_once("/receipts/") else { continue };
            let is_other = file.contains('/') || file.starts_with("prompt_receipt_");
            let Some(stem) = file.strip_suffix(".json").filter(|_| !is_other) else { continue };
            let Some((step, _agent)) = stem.split_once('-') else { continue };
            let Some(says) = folder.read_json(name)?.filter(Value::is_object) else { continue };
            let part = Part {
                flow: owned(&says, &["flow_key"]).unwrap_or_else(|| flow.to_owned()),
                step: owned(&says, &["step_id"]).unwrap_or_else(|| step.to_owned()),
                engine: owned(&says, &["engine"]).unwrap_or_default(),
                receipt: Some(name.to_owned()),
                began: time(&says, "started_at"),
                says,
                ..Part::default()
            };
            parts.push(part);
        }
        for (name, _) in folder.files() {
            let Some((flow, file)) = name.split_once("/llm/") else { continue };
            let Some(stem) = file.strip_suffix(".jsonl").filter(|s| !s.contains('/')) else {
                continue;
            };
            let Some((step, rest)) = stem.split_once('-') else { continue };
            let engine = rest.rsplit_once('-').map_or("", |(_agent, engine)| engine);
            let at = match parts.iter().position(|part| part.is_of(flow, file, stem)) {
                Some(at) => at,
                None => {
                    parts.push(Part {
                        flow: flow.to_owned(),
                        step: step.to_owned(),
                        engine: engine.to_owned(),
                        ..Part::default()
                    });
                    parts.len() - 1
                }
            };
            parts[at].look_into(name, &folder.read(name)?.unwrap_or_default());
        }
        parts.sort_by_key(|part| part.began);
        Ok(Parts(parts))
    }

    /// Returns the name of each file.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .flat_map(|part| [&part.transcript, &part.receipt])
            .flatten()
            .map(String::as_str)
    }

    /// Returns the run that the receipts name.
    pub(super) fn run_id(&self) -> Option<String> {
        self.0.iter().find_map(|part| owned(&part.says, &["run_id"]))
    }

    /// Tells whether no agent was asked.
    pub(super) fn is_stub(&self) -> bool {
        let is_stub = |part: &Part| {
            text(&part.says, &["mode"]) == Some("stub")
                || text(&part.says, &["model"]).is_some_and(|model| model.ends_with("-stub"))
        };
        self.0.iter().any(is_stub)
    }

    /// Returns when the first of them began.
    pub(super) fn began(&self) -> Option<Timestamp> {
        self.0.iter().filter_map(|part| part.began).min()
    }
}

impl Part {
    /// Tells whether the transcript called `file` is this step's.
    fn is_of(&self, flow: &str, file: &str, stem: &str) -> bool {
        let Some(receipt) = &self.receipt else { return false };
        let Some((folder, name)) = receipt.split_once("/receipts/") else { return false };
        let named = text(&self.says, &["transcript_path"]).and_then(|path| path.rsplit('/').next());
        let name = name.strip_suffix(".json").unwrap_or(name);
        let rest = stem.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
        self.transcript.is_none()
            && folder == flow
            && (named == Some(file) || rest.is_some_and(|engine| !engine.contains('-')))
    }

    fn look_into(&mut self, name: &str, bytes: &[u8]) {
        self.transcript = Some(name.to_owned());
        for line in lines(name, bytes).filter_map(|record| record.object()) {
            let kind = text(&line, &["type"]).unwrap_or_default();
            let role = text(&line, &["role"]).unwrap_or_default();
            let holds = |what: &str| {
                let blocks = line["message"]["content"].as_array();
                blocks.is_some_and(|blocks| blocks.iter().any(|block| block["type"] == what))
            };
            self.has_tools |=
                matches!(kind, "tool_use" | "tool_result") || role == "tool" || holds("tool_use");
            self.has_messages |= !role.is_empty() || matches!(kind, "assistant" | "user");
            self.began = self.began.or_else(|| time(&line, "timestamp"));
        }
    }
}
