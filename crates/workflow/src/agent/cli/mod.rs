//! Agents by their own programs: what each is called, how it is asked, and which stream it prints.
//!
//! One file per provider. They only say what to run; nobody here runs anything.

mod claude;
mod codex;
mod gemini;
mod gemini_home;
mod github_copilot;
mod opencode;
mod options;

use std::collections::BTreeMap;

use serde_json::Value;
use tempfile::{NamedTempFile, TempDir};

use super::proxy::{Ids, SERVER, Serving};

pub(super) use options::{Options, as_text};

/// The agents that have a program. Adding one touches this line and its own file.
pub(super) const CLIS: &[&Cli] =
    &[&claude::CLI, &codex::CLI, &gemini::CLI, &github_copilot::CLI, &opencode::CLI];

/// The longest text that goes by argument: systems refuse one of 128 KiB.
const LONGEST_ARGUMENT: usize = 100_000;

/// An agent that has a program.
pub(super) struct Cli {
    /// What workflows call it.
    pub(super) name: &'static str,
    /// Its program.
    pub(super) program: &'static str,
    /// Which provider reads what it prints, and as which surface.
    pub(super) surface: (&'static str, &'static str),
    /// Says how a question is asked.
    pub(super) ask: fn(&Question<'_>, &mut Options) -> Result<Invocation, String>,
    /// Finds a piece of the main agent's text in a record, for who watches.
    pub(super) piece: fn(&Value) -> Option<&str>,
    /// What it puts before the name of a tool that our MCP server has.
    pub(super) tool_prefix: &'static str,
    /// What the ids are worth that it sends along with a call of such a tool.
    pub(super) ids: Ids,
    /// Whether its usage counts the whole session, earlier processes included.
    pub(super) counts_whole_session: bool,
}

/// What is asked in one turn.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    /// The prompt.
    pub(super) prompt: &'a str,
    /// What the agent is told about itself.
    pub(super) system: Option<&'a str>,
    /// The session that goes on.
    pub(super) resume: Option<&'a str>,
    /// Whether this step asks for the first time: what was told in earlier turns is still known.
    pub(super) is_first: bool,
    /// The tools of ours that it is given.
    pub(super) serving: Option<&'a Serving>,
}

/// How a program is called for one turn.
#[derive(Debug, Default)]
pub(super) struct Invocation {
    /// Its arguments, behind the program and its first words.
    pub(super) args: Vec<String>,
    /// What it reads.
    pub(super) stdin: Option<String>,
    /// The text that the agent gets as its prompt.
    pub(super) sent: String,
    /// A file that must stay until it ends.
    pub(super) file: Option<NamedTempFile>,
    /// A directory that must stay until it ends.
    pub(super) scratch: Option<TempDir>,
    /// Variables for it, beside those of the step.
    pub(super) env: BTreeMap<String, String>,
    /// What of the agent's own tools cannot be switched off.
    pub(super) limit: Option<&'static str>,
}

impl Invocation {
    fn push(&mut self, args: &[&str]) {
        self.args.extend(args.iter().map(|arg| (*arg).to_owned()));
    }

    /// Adds `name value` if there is a value.
    fn option(&mut self, name: &str, value: Option<String>) {
        if let Some(value) = value {
            self.push(&[name, &value]);
        }
    }

    /// Adds `name=value` if there is a value.
    fn joined(&mut self, name: &str, value: Option<String>) {
        if let Some(value) = value {
            self.args.push(format!("{name}={value}"));
        }
    }
}

impl Question<'_> {
    /// Returns the system prompt if it has to be told in this turn, with the prompt itself.
    fn news(&self) -> Option<&str> {
        self.system.filter(|_| self.is_first)
    }

    /// Returns the tools of ours that stand in place of the agent's own.
    fn intercepting(&self) -> Option<&Serving> {
        self.serving.filter(|serving| serving.intercepts)
    }

    /// Returns the prompt, with the system prompt before it where there is no other way to tell it.
    fn inlined(&self) -> String {
        match self.news() {
            Some(system) => format!("{system}\n\n{}", self.prompt),
            None => self.prompt.to_owned(),
        }
    }
}

/// Tells whether a text can be an argument that stands alone.
fn fits_argument(text: &str) -> bool {
    !text.starts_with('-') && fits_option(text)
}

/// Tells whether a text can be the value of an option.
fn fits_option(text: &str) -> bool {
    text.len() <= LONGEST_ARGUMENT && !text.contains('\0')
}

/// Puts the parts of one JSON object into another, part by part.
fn merge(into: &mut Value, more: Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (key, value) in more {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more,
    }
}

/// Finds no pieces: what is said is printed whole.
fn no_piece(_: &Value) -> Option<&str> {
    None
}

/// Adds the arguments that a step gives as they are.
fn extra(invocation: &mut Invocation, options: &mut Options) {
    invocation.args.extend(options.list(&["args", "extra_args"]));
}

#[cfg(test)]
mod tests;
