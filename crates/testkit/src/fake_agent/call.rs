//! What a fake agent was called with, understood as the real program would.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// A call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Call {
    /// Whose language it was to speak.
    pub provider: String,
    /// The arguments behind that.
    pub args: Vec<String>,
    /// What it was given to read.
    pub stdin: String,
    /// The prompt.
    pub prompt: String,
    /// What it was told about itself beside the prompt.
    pub system: Option<String>,
    /// The session it was to continue.
    pub resume: Option<String>,
    /// Where it ran.
    pub dir: String,
    /// Its environment.
    pub env: BTreeMap<String, String>,
}

impl Call {
    /// Reads the call of this process.
    pub(super) fn read(provider: &str, args: Vec<String>) -> Self {
        let mut call = Call { provider: provider.to_owned(), args, ..Call::default() };
        call.env = std::env::vars().collect();
        call.dir = std::env::current_dir().unwrap_or_default().display().to_string();
        call.resume = call.find_resume();
        call.system = call.find_system();
        let by_argument = call.find_prompt();
        let mut bytes = Vec::new();
        if by_argument.is_none() || provider == "opencode" {
            // What cannot be read is not there.
            let _ = io::stdin().read_to_end(&mut bytes);
        }
        call.stdin = String::from_utf8_lossy(&bytes).into_owned();
        call.prompt = by_argument.unwrap_or_else(|| call.stdin.clone());
        call
    }

    /// Reads the calls that were appended to a log, in their order.
    pub fn logged(log: &Path) -> Vec<Call> {
        let text = fs::read_to_string(log).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    pub(super) fn log(&self, file: &Path) -> io::Result<()> {
        let mut line = serde_json::to_string(self)?;
        line.push('\n');
        OpenOptions::new().create(true).append(true).open(file)?.write_all(line.as_bytes())
    }

    /// Tells whether `text` reached the agent, in whichever way.
    pub fn was_told(&self, text: &str) -> bool {
        self.prompt.contains(text) || self.system.as_deref().is_some_and(|told| told.contains(text))
    }

    fn find_prompt(&self) -> Option<String> {
        match self.provider.as_str() {
            "claude" => self.after("-p").filter(|text| !text.starts_with('-')),
            "codex" => self.args.last().filter(|text| *text != "-").cloned(),
            "opencode" => self.after("--"),
            _ => self.after("-p").or_else(|| self.joined("--prompt")),
        }
    }

    fn find_resume(&self) -> Option<String> {
        match self.provider.as_str() {
            "claude" => self.after("-r"),
            "codex" => self.after("resume"),
            "opencode" => self.after("-s"),
            _ => self.after("--resume").or_else(|| self.joined("--resume")),
        }
    }

    fn find_system(&self) -> Option<String> {
        match self.provider.as_str() {
            "claude" => {
                let file = self.after("--system-prompt-file");
                let read = file.and_then(|file| fs::read_to_string(file).ok());
                self.after("--system-prompt").or(read)
            }
            "codex" => {
                let value =
                    self.args.iter().find_map(|arg| arg.strip_prefix("developer_instructions="));
                value.map(|value| serde_json::from_str(value).unwrap_or_else(|_| value.to_owned()))
            }
            _ => None,
        }
    }

    fn after(&self, name: &str) -> Option<String> {
        let at = self.args.iter().position(|arg| arg == name)?;
        self.args.get(at + 1).cloned()
    }

    fn joined(&self, name: &str) -> Option<String> {
        let value = |arg: &String| arg.strip_prefix(name)?.strip_prefix('=').map(str::to_owned);
        self.args.iter().find_map(value)
    }
}
