//! What was done, in a few words. The words are as they were recorded: whoever shows them makes
//! them safe to be shown.

use std::fmt;

use quipu_event::payload::Status;
use quipu_event::{Json, StepPath};
use serde_json::Value;

/// How much of a text is kept.
const KEPT: usize = 400;
/// Longer arguments are not looked into: they would take longer than they tell.
const LONGEST_ARGUMENTS: usize = 64 * 1024;
/// The arguments that tell most, the most telling first.
const TELLING: [&str; 14] = [
    "command",
    "cmd",
    "file_path",
    "path",
    "notebook_path",
    "question",
    "questions",
    "pattern",
    "query",
    "url",
    "skill",
    "description",
    "prompt",
    "input",
];

/// What was done last, or is being done.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Action {
    /// Nothing yet.
    #[default]
    Nothing,
    /// Somebody told the agent what to do.
    Prompted(String),
    /// The agent thinks.
    Thinking,
    /// The agent wrote something.
    Wrote(String),
    /// A tool is at work.
    Calling {
        /// Which.
        tool: String,
        /// What it is about: the argument that tells most.
        about: Option<String>,
    },
    /// A tool has answered.
    Called {
        /// Which.
        tool: String,
        /// What it was about.
        about: Option<String>,
    },
    /// A person is asked something.
    Asking {
        /// What.
        about: Option<String>,
    },
    /// A person is asked whether a tool may be used.
    NeedsPermission {
        /// Which; empty if nobody says.
        tool: String,
        /// What it is about.
        about: Option<String>,
    },
    /// A person stopped the agent.
    Interrupted,
    /// A step runs.
    Step {
        /// Which.
        path: StepPath,
        /// Its command or agent.
        about: Option<String>,
    },
    /// A step has ended.
    StepEnded {
        /// Which.
        path: StepPath,
        /// How.
        status: Status,
    },
    /// Something went wrong.
    Failed(String),
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let about = |about: &Option<String>| match about {
            Some(about) => format!(": {about}"),
            None => String::new(),
        };
        match self {
            Action::Nothing => f.write_str("started"),
            Action::Prompted(text) => write!(f, "thinking: {text}"),
            Action::Thinking => f.write_str("thinking"),
            Action::Wrote(text) => write!(f, "wrote: {text}"),
            Action::Calling { tool, about: what } => write!(f, "running {tool}{}", about(what)),
            Action::Called { tool, about: what } => {
                write!(f, "thinking after {tool}{}", about(what))
            }
            Action::Asking { about: what } => write!(f, "asks{}", about(what)),
            Action::NeedsPermission { tool, about: what } if tool.is_empty() => {
                write!(f, "asks for permission{}", about(what))
            }
            Action::NeedsPermission { tool, about: what } => {
                write!(f, "asks to run {tool}{}", about(what))
            }
            Action::Interrupted => f.write_str("was interrupted"),
            Action::Step { path, about: what } => write!(f, "step {path}{}", about(what)),
            Action::StepEnded { path, status } => write!(f, "step {path} {}", status.as_str()),
            Action::Failed(why) => write!(f, "error: {why}"),
        }
    }
}

/// Returns the line of a text that says most: a question at its end, else its first.
pub(super) fn gist(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let last = lines.next_back().filter(|last| last.ends_with('?'));
    let line = last.unwrap_or(first);
    line[..line.floor_char_boundary(KEPT)].to_owned()
}

/// Returns the argument of a call that tells most.
pub(super) fn telling(input: &Json) -> Option<String> {
    if input.as_str().len() > LONGEST_ARGUMENTS {
        return None;
    }
    let input: Value = input.decode().ok()?;
    text_of(&input)
}

fn text_of(input: &Value) -> Option<String> {
    let text = match input {
        Value::String(text) => text.clone(),
        Value::Object(arguments) => {
            let telling = TELLING.iter().find_map(|key| arguments.get(*key).and_then(text_of));
            return telling.or_else(|| arguments.values().find_map(text_of));
        }
        Value::Array(parts) => match parts.iter().map(Value::as_str).collect::<Option<Vec<_>>>() {
            // What a shell is given says more than that it is one.
            Some(words) => match words.as_slice() {
                [_, flag, script] if flag.starts_with('-') && flag.ends_with('c') => {
                    (*script).to_owned()
                }
                words => words.join(" "),
            },
            None => return parts.iter().find_map(text_of),
        },
        _ => return None,
    };
    let text = gist(&text);
    (!text.is_empty()).then_some(text)
}
