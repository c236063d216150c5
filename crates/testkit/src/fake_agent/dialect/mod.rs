//! The languages: what each program prints when something happens.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod opencode;

use serde_json::Value;

use super::call::Call;
use super::script::{Script, Spent, Subagent, Tool};

/// One program's language. Each method returns the lines it prints.
pub(super) trait Dialect {
    /// It has been started.
    fn begin(&mut self) -> Vec<String>;
    /// It says something.
    fn text(&mut self, text: &str) -> Vec<String>;
    /// It thinks something.
    fn thinking(&mut self, text: &str) -> Vec<String>;
    /// It uses tools, at once.
    fn tools(&mut self, tools: &[Tool]) -> Vec<String>;
    /// Returns what it calls a tool of an MCP server.
    fn name_of(&self, server: &str, tool: &str) -> String;
    /// Returns what it sends along with a call, for a call that it tells by this id.
    fn meta(&self, _id: Option<&str>, _number: usize) -> Value {
        Value::Null
    }
    /// It has another agent do something.
    fn subagent(&mut self, subagent: &Subagent) -> Vec<String>;
    /// It has used up something.
    fn spend(&mut self, spent: Spent);
    /// The API failed for good.
    fn fail(&mut self, message: &str) -> Vec<String>;
    /// It is done.
    fn end(&mut self) -> Vec<String>;
}

/// What a message uses up unless the script says otherwise.
const USUAL: Spent = Spent { input: 10, output: 5, cache_read: 0, cache_write: 0 };

/// Returns the language of `provider`.
pub(super) fn of(provider: &str, script: &Script, call: &Call) -> Option<Box<dyn Dialect>> {
    Some(match provider {
        "claude" => Box::new(claude::Claude::new(script, call)),
        "codex" => Box::new(codex::Codex::new(script, call)),
        "gemini" => Box::new(gemini::Gemini::new(script, call)),
        "copilot" | "github_copilot" => Box::new(copilot::Copilot::new(script, call)),
        "opencode" => Box::new(opencode::Opencode::new(script, call)),
        _ => return None,
    })
}

/// Gives times that are the same in every run, a tenth of a second apart.
#[derive(Default)]
struct Clock {
    tenths: u64,
}

impl Clock {
    /// 2026-01-01T00:00:00Z.
    const START_MS: u64 = 1_767_225_600_000;

    fn ms(&mut self) -> u64 {
        self.tenths += 1;
        Self::START_MS + self.tenths * 100
    }

    fn text(&mut self) -> String {
        let ms = self.ms() - Self::START_MS;
        let (minutes, seconds) = (ms / 60_000, ms / 1000 % 60);
        format!("2026-01-01T00:{minutes:02}:{seconds:02}.{:03}Z", ms % 1000)
    }
}

/// Returns the session that is spoken of.
fn session_of(script: &Script, call: &Call) -> String {
    call.resume.clone().unwrap_or_else(|| script.session().to_owned())
}

/// Returns a tool's input, an object whatever the script says.
fn input_of(tool: &Tool) -> Value {
    match &tool.input {
        Value::Null => Value::Object(serde_json::Map::new()),
        input => input.clone(),
    }
}
