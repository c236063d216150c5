//! Sizes and hashes of texts, as far as the texts are what they were.
//!
//! Where a secret was hidden, the text has a mark in its place: its size and its hash would be those
//! of no text that anybody wrote or sent. Whether something is to be hidden is not decided here.

use serde_json::{Value, json};

use super::identity::sha256;

/// How the marks of what was hidden begin: those of a recorder or an export, those of a workflow.
const MARKS: [&str; 2] = ["[masked:", "***secret:"];

/// The size and the hash of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Measure {
    pub(super) bytes: u64,
    pub(super) characters: usize,
    pub(super) sha256: String,
}

impl Measure {
    /// Measures a text; nothing when something in it was hidden.
    pub(super) fn of(text: &str) -> Option<Measure> {
        let is_whole = !MARKS.iter().any(|mark| text.contains(mark));
        is_whole.then(|| Measure {
            bytes: text.len() as u64,
            characters: text.chars().count(),
            sha256: sha256(text.as_bytes()),
        })
    }
}

/// Returns what stands for the text of a prompt.
pub(super) fn of_prompt(text: &str) -> Value {
    match Measure::of(text) {
        Some(text) => json!({ "characters": text.characters, "sha256": text.sha256 }),
        None => json!({ "masked": true }),
    }
}
