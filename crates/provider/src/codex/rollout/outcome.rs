//! How a tool call ended.
//!
//! The item that the model is given is mostly text. Where the agent tells the outcome in an event
//! of its own, that counts; else the text is looked at where the agent itself writes: at its
//! beginning, or in the wrapping of older versions at its end.

use quipu_event::payload::ToolStatus;

use super::wire::duration_ms;
use crate::value::{Fields, Value};

/// So far into a text the agent's own words may reach; a command can be long.
const HEAD: usize = 8 * 1024;
/// So far from the end the exit code of older versions stands.
const TAIL: usize = 120;
/// An error is told in at most so many bytes.
const ERROR_LENGTH: usize = 200;

/// How a call ended, as an event tells.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) status: Option<ToolStatus>,
    pub(super) exit_code: Option<i64>,
    pub(super) duration_ms: Option<u64>,
    pub(super) error: Option<String>,
}

impl Outcome {
    /// Reads the end of a command, patch or call of a server's tool.
    pub(super) fn read(event: &Fields<'_>) -> Self {
        let exit_code = event.integer("exit_code");
        let result = event.fields("result");
        let error = event
            .fields("error")
            .and_then(|error| error.string("message"))
            .or_else(|| event.string("error"))
            .or_else(|| result.as_ref()?.string("Err"));
        let is_error = || {
            let result = result.as_ref()?;
            let ok = result.fields("Ok");
            ok.as_ref().unwrap_or(result).flag("isError")
        };
        let status = match event.text("status").as_deref() {
            Some("completed") => Some(ToolStatus::Completed),
            Some("failed") => Some(ToolStatus::Failed),
            Some("declined") => Some(ToolStatus::Blocked),
            _ if error.is_some() || is_error() == Some(true) => Some(ToolStatus::Failed),
            _ if event.flag("success") == Some(false) => Some(ToolStatus::Failed),
            _ if event.flag("success") == Some(true) || result.is_some() => {
                Some(ToolStatus::Completed)
            }
            _ => None,
        };
        Outcome { status, exit_code, duration_ms: duration_ms(event), error }
    }

    /// Adds what the answer to the model shows, where the event was silent or there was none.
    pub(super) fn complete_from(mut self, answer: Option<Value<'_>>) -> Self {
        let Some(answer) = answer else { return self };
        let Some(text) = agents_words(answer) else {
            self.status = self.status.or(Some(ToolStatus::Completed));
            return self;
        };
        self.exit_code = self.exit_code.or_else(|| exit_code(text));
        if self.status.is_none() {
            self.status = Some(self.shown_status(text));
        }
        if self.error.is_none() && self.status != Some(ToolStatus::Completed) {
            self.error = Some(self.shown_error(text));
        }
        self
    }

    fn shown_status(&self, text: &str) -> ToolStatus {
        let head = head(text, ERROR_LENGTH);
        match self.exit_code {
            Some(0) => ToolStatus::Completed,
            Some(_) => ToolStatus::Failed,
            None if REFUSALS.iter().any(|words| head.contains(words)) => ToolStatus::Blocked,
            None if FAILURES.iter().any(|words| head.starts_with(words)) => ToolStatus::Failed,
            None => ToolStatus::Completed,
        }
    }

    fn shown_error(&self, text: &str) -> String {
        let text = match text.split_once("\\nOutput:\\n") {
            Some((report, answer)) if report.starts_with("Wall time") => answer,
            _ => text,
        };
        match self.exit_code {
            Some(code) if code != 0 => format!("exit code {code}"),
            _ => unescaped(head(text, ERROR_LENGTH).split("\\n").next().unwrap_or_default()),
        }
    }
}

const REFUSALS: &[&str] = &["rejected by user", "Rejected("];
const FAILURES: &[&str] = &[
    "Script failed",
    "apply_patch verification failed",
    "patch rejected",
    "failed in sandbox",
    "failed to parse function arguments",
    "collab spawn failed",
    "exec_command failed",
    "write_stdin failed",
    "unsupported call",
    "unsupported custom tool call",
    "execution error",
    "aborted",
    "tool call error",
];

/// Returns the text of an answer, or of the first part of one, still escaped as in the record.
fn agents_words(answer: Value<'_>) -> Option<&str> {
    let source = answer.source();
    let text = if answer.is_list() {
        let start = source.find("\"text\":\"").map(|at| at + "\"text\":\"".len())?;
        &source[start..]
    } else {
        source.strip_prefix('"')?
    };
    Some(text.strip_suffix('"').unwrap_or(text))
}

/// Finds the exit code where the agent writes it.
fn exit_code(text: &str) -> Option<i64> {
    if text.starts_with("{\\\"") {
        return number_after(tail(text), "\\\"exit_code\\\":");
    }
    let is_report = ["Chunk ID:", "Command: ", "Wall time", "Exit code: "];
    if !is_report.iter().any(|words| text.starts_with(words)) {
        return None;
    }
    let head = head(text, HEAD);
    // What follows is the command's own output and may say anything.
    let head = head.find("\\nOutput:").map_or(head, |end| &head[..end]);
    number_after(head, "Process exited with code ").or_else(|| number_after(head, "Exit code: "))
}

fn number_after(text: &str, words: &str) -> Option<i64> {
    let rest = &text[text.rfind(words)? + words.len()..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// Reads a piece of a JSON string; one that was cut inside an escape stays as it is.
fn unescaped(piece: &str) -> String {
    let quoted = format!("\"{piece}\"");
    let text = Value::parse(&quoted).ok().and_then(Value::text);
    text.map_or_else(|| piece.to_owned(), |text| text.into_owned())
}

fn head(text: &str, length: usize) -> &str {
    &text[..text.floor_char_boundary(length)]
}

fn tail(text: &str) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(TAIL))..]
}
