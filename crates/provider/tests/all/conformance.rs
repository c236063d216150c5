//! Recorded files of the real agents against ground truth that was computed from them apart.
//!
//! The files are not part of the repository: they are read from `QUIPU_FIXTURES`, or from
//! `../shared/fixtures` beside it. Where there are none, the tests say so and check nothing.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod http;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use quipu_event::payload::{TokenCounts, ToolResult};
use quipu_event::{BlockContent, Kind, Payload};
use quipu_provider::{KeptBytes, Made, PROVIDERS, Surface, Tally, detect};
use serde_json::Value;

use crate::reading::{payloads, read};

/// What a file should become, by its folder.
type Check = fn(&Outcome, &Value) -> Vec<String>;

/// Which ground truth is checked how.
const CHECKS: &[(&str, Check)] = &[
    ("claude/session/", claude::session),
    ("claude/stream/", claude::stream),
    ("codex/rollout/", codex::rollout),
    ("codex/exec/", codex::exec),
    ("codex/app-server/", codex::app_server),
    ("copilot/", copilot::any),
    ("gemini/session/", gemini::session),
    ("openai/chat/", http::chat),
    ("openai/responses/", http::responses),
    ("anthropic/", http::anthropic),
];

/// What became of a file.
pub(crate) struct Outcome {
    pub(crate) file: String,
    pub(crate) payloads: Vec<(Kind, Payload)>,
    pub(crate) tally: Tally,
}

impl Outcome {
    fn of(file: &str, surface: &Surface, input: &[u8]) -> (Self, Vec<Made>) {
        let (made, tally) = read(surface, KeptBytes::Full, input);
        (Outcome { file: file.to_owned(), payloads: payloads(&made), tally }, made)
    }

    /// Returns how many events there are of `kind`.
    pub(crate) fn count(&self, kind: &Kind) -> u64 {
        self.tally.events.get(kind.as_str()).copied().unwrap_or(0)
    }

    /// Returns the tokens of all models.
    pub(crate) fn tokens(&self) -> TokenCounts {
        self.tally.total_usage()
    }

    /// Returns the blocks of all replies.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &BlockContent> {
        self.payloads
            .iter()
            .filter(|(kind, _)| *kind == Kind::MessageAssistant)
            .filter_map(|(_, payload)| match payload {
                Payload::Message(message) => Some(&message.blocks),
                _ => None,
            })
            .flatten()
            .map(|block| &block.content)
    }

    /// Returns how many characters of text the replies have.
    pub(crate) fn text_chars(&self) -> u64 {
        let text = |block: &BlockContent| match block {
            BlockContent::Text { text } => text.chars().count() as u64,
            _ => 0,
        };
        self.blocks().map(text).sum()
    }

    /// Returns how many characters of thinking the replies have.
    pub(crate) fn thinking_chars(&self) -> u64 {
        let thinking = |block: &BlockContent| match block {
            BlockContent::Thinking { thinking, .. } => thinking.chars().count() as u64,
            _ => 0,
        };
        self.blocks().map(thinking).sum()
    }

    /// Returns how many blocks of a type the replies have.
    pub(crate) fn block_count(&self, block_type: &str) -> u64 {
        self.blocks().filter(|block| block.block_type() == block_type).count() as u64
    }

    /// Returns the results of calls.
    pub(crate) fn results(&self) -> impl Iterator<Item = &ToolResult> {
        self.payloads.iter().filter_map(|(_, payload)| match payload {
            Payload::ToolResult(result) => Some(&**result),
            _ => None,
        })
    }
}

/// Adds a complaint if two figures differ.
pub(crate) fn same(wrong: &mut Vec<String>, what: &str, actual: u64, expected: &Value) {
    if let Some(expected) = expected.as_u64()
        && actual != expected
    {
        wrong.push(format!("{what} is {actual}, should be {expected}"));
    }
}

/// Returns the folder of recorded files, if there is one.
pub(crate) fn fixtures() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures");
    let folder = std::env::var_os("QUIPU_FIXTURES").map_or(beside, PathBuf::from);
    if !folder.is_dir() {
        tell(format!("NOT CHECKED: there are no recorded files at {}", folder.display()));
        return None;
    }
    Some(folder)
}

/// Says something even when the test succeeds.
fn tell(text: String) {
    // A test whose output is closed still checks.
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[test]
fn recorded_files_become_what_ground_truth_says() {
    let Some(home) = fixtures().map(|home| home.join("providers")) else { return };
    let truth: Value =
        serde_json::from_slice(&fs::read(home.join("expected.json")).unwrap()).unwrap();
    let (mut checked, mut wrong) = (0, Vec::new());
    for (file, truth) in truth.as_object().unwrap() {
        let Ok(input) = fs::read(home.join(file)) else { continue };
        // Compressed files are the business of whoever opens them.
        if file.ends_with(".zst") || input.is_empty() {
            continue;
        }
        checked += 1;
        wrong.extend(check(file, &input, truth).into_iter().map(|what| format!("{file}: {what}")));
    }
    tell(format!("checked {checked} recorded files against ground truth"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn check(file: &str, input: &[u8], truth: &Value) -> Vec<String> {
    let Some(found) = detect(input, PROVIDERS) else { return vec!["looks like nobody's".into()] };
    let name = format!("{}/{}", found.provider.name, found.surface.name);
    let mut wrong = Vec::new();
    let wanted = file.replace("torture/claude_session/", "claude/session/");
    let wanted = wanted.replace("torture/copilot_stream/", "copilot/stream/");
    if !wanted.starts_with(&name) && !wanted.starts_with("acp/") {
        wrong.push(format!("is taken for {name}"));
    }
    let (outcome, made) = Outcome::of(file, found.surface, input);
    let values = truth["json_values"].as_u64();
    let recoverable = truth["expected_recoverable"].as_u64();
    if let Some(records) = values.max(recoverable)
        && outcome.tally.records != records
    {
        wrong.push(format!("{} records, should be {records}", outcome.tally.records));
    }
    if made.is_empty() {
        wrong.push("nothing came of it".into());
    }
    if let Some((_, check)) = CHECKS.iter().find(|(folder, _)| file.starts_with(folder)) {
        wrong.extend(check(&outcome, truth));
    }
    wrong
}

/// Files of recordings that some surface reads.
fn recordings(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().into_string().unwrap_or_default();
        if path.is_dir() {
            recordings(&path, found);
        } else if is_recording(&name, &path) {
            found.push(path);
        }
    }
}

fn is_recording(name: &str, path: &Path) -> bool {
    let is_output = name.starts_with("stdout") || name.starts_with("messages");
    let is_session = ["projects", "sessions", "chats", "session-state"]
        .iter()
        .any(|part| path.iter().any(|folder| folder.to_str() == Some(*part)));
    name.ends_with(".jsonl") && (is_output || is_session)
}

#[test]
fn recorded_runs_of_real_agents_have_nothing_that_nobody_knows() {
    let Some(home) = fixtures().map(|home| home.join("recorded")) else { return };
    let mut files = Vec::new();
    recordings(&home, &mut files);
    files.sort();
    let mut wrong = Vec::new();
    for path in &files {
        let input = fs::read(path).unwrap();
        if input.trim_ascii().is_empty() {
            continue;
        }
        let file = path.strip_prefix(&home).unwrap().display().to_string();
        let Some(found) = detect(&input, PROVIDERS) else {
            wrong.push(format!("{file}: looks like nobody's"));
            continue;
        };
        let (outcome, _) = Outcome::of(&file, found.surface, &input);
        let profile = file.split('/').next().unwrap_or_default();
        let is_protocol = profile.ends_with("-acp") && !file.contains("home/");
        let provider =
            if is_protocol { "acp" } else { profile.split('-').next().unwrap_or_default() };
        if found.provider.name != provider || !found.is_sure {
            wrong.push(format!("{file}: is taken for {}", found.provider.name));
        }
        if outcome.tally.unknown() > 0 || outcome.tally.problem_count > 0 {
            let (unknown, problems) = (outcome.tally.unknown(), outcome.tally.problem_count);
            wrong.push(format!("{file}: {unknown} unknown, {problems} problems"));
        }
    }
    tell(format!("checked {} recordings of real agents", files.len()));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
