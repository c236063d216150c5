//! Outputs too large for a session file: the agent puts them into files beside it.
//!
//! In their place stands a note that begins with `<persisted-output>` and names the file, with the
//! beginning of the output. Here the note is read and the body asked for; what cannot be had
//! leaves the note as it is. It opens nothing itself.

use quipu_event::Json;
use serde_json::json;

use super::wire;
use crate::outbox::{Outbox, Stamp};
use crate::value::{Value, json_inside, json_text};

/// How a note begins.
const MARK: &str = "<persisted-output>";
/// The folder of such files.
const FOLDER: &str = "tool-results";
/// The path stands near the beginning of a note, before the preview.
const LINES_LOOKED_AT: usize = 4;

/// Where the outputs of a session are kept.
#[derive(Default)]
pub(super) struct Persisted {
    /// The session of the record at hand: its folder has its name.
    session: Option<String>,
    /// Whether the input is the file of a subagent, which has a folder in its session's folder.
    pub(super) is_of_subagent: bool,
}

/// An output that was kept beside the session.
pub(super) struct Output {
    pub(super) body: Json,
    file: String,
    bytes: usize,
}

impl Persisted {
    /// Notes whose record is at hand.
    pub(super) fn turn_to(&mut self, session: &str) {
        self.session = Some(session.to_owned()).filter(|session| is_plain(session));
    }

    /// Returns the output that `content` is a note of, if it can be had.
    pub(super) fn find(
        &self,
        out: &Outbox<'_>,
        content: Value<'_>,
        details: Option<Value<'_>>,
    ) -> Option<Output> {
        if !out.has_companions() {
            return None;
        }
        let file = file_of(&note(content)?).or_else(|| {
            let path = details?.fields()?.text("persistedOutputPath")?;
            file_name(&path)
        })?;
        let own = self.session.iter().map(|session| format!("{session}/{FOLDER}/{file}"));
        let way = if self.is_of_subagent { "../" } else { "" };
        let others = [format!("{way}{FOLDER}/{file}")];
        let bytes = own.chain(others).find_map(|place| out.companion(&place))?;
        let text = String::from_utf8_lossy(&bytes);
        let body = if file.ends_with(".json") { json_inside(&text) } else { json_text(&text) };
        Some(Output { body, bytes: bytes.len(), file })
    }
}

impl Output {
    /// Puts that the output came from elsewhere than the record.
    pub(super) fn tell(&self, out: &mut Outbox<'_>, stamp: &Stamp, call_id: &str) {
        let facts = json!({ "tool_id": call_id, "file": self.file, "bytes": self.bytes });
        out.system(stamp, "output_joined", facts);
    }
}

/// Returns the note that an answer is, if it is one.
fn note(content: Value<'_>) -> Option<String> {
    let text = match content.is_list() {
        true => content.items().first()?.fields()?.get("text")?,
        false => content,
    };
    // An output that is no note may be long and is not worth decoding.
    let is_note = text.source().get(1..).is_some_and(|inside| inside.starts_with(MARK));
    is_note.then(|| wire::answer_text(text).map(|text| text.into_owned()))?
}

/// Returns the name of the file that a note names.
fn file_of(note: &str) -> Option<String> {
    let mut lines = note.lines().take(LINES_LOOKED_AT);
    lines.find_map(|line| file_name(line.split_once("saved to")?.1.trim_start_matches(':')))
}

/// Returns the last part of the path of such a file, which may be of any system.
fn file_name(path: &str) -> Option<String> {
    let (folder, name) = path.trim().rsplit_once(['/', '\\'])?;
    let is_own = folder.rsplit(['/', '\\']).next() == Some(FOLDER);
    (is_own && is_plain(name)).then(|| name.to_owned())
}

/// Tells whether a name is one and not a way to somewhere else.
fn is_plain(name: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !name.is_empty() && !name.starts_with('.') && name.bytes().all(is_usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_names_a_file_in_its_own_folder() {
        let cases = [
            ("Full output saved to: /h/me/p/s1/tool-results/b1.txt", Some("b1.txt")),
            ("Full output saved to: C:\\p\\s1\\tool-results\\toolu_1.json", Some("toolu_1.json")),
            ("Output has been saved to /p/s1/tool-results/mcp-x-1.txt", Some("mcp-x-1.txt")),
            ("Full output saved to: /p/s1/elsewhere/b1.txt", None),
            ("Full output saved to: /p/s1/tool-results/..", None),
            ("Full output saved to: /p/s1/tool-results/.hidden", None),
            ("Full output saved to: /p/s1/tool-results/a b.txt", None),
            ("Full output saved to: b1.txt", None),
            ("Nothing was said.", None),
        ];
        for (line, name) in cases {
            let note = format!("{MARK}\nOutput too large (2MB). {line}\n\nPreview (first 2KB):\na");
            assert_eq!(file_of(&note).as_deref(), name, "{line}");
        }
    }

    #[test]
    fn a_path_in_the_preview_is_no_name() {
        let note = format!("{MARK}\nOutput too large.\n\nPreview:\nsaved to: /tool-results/x.txt");
        assert_eq!(file_of(&note), None);
    }
}
