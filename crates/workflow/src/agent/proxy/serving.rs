//! What an agent is told of our tools: how to start the server, which tools it has, what to use them for.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use quipu_tool::CallContext;
use serde_json::{Map, Value};

use super::names::SERVER;

/// Our tools, as an agent's program is to be told of them.
#[derive(Clone, Debug, Default)]
pub(in crate::agent) struct Serving {
    /// The program that the agent starts to reach them, and its arguments.
    pub(in crate::agent) command: Vec<String>,
    /// Their names.
    pub(in crate::agent) tools: Vec<String>,
    /// Whether they stand in place of the agent's own.
    pub(in crate::agent) intercepts: bool,
    /// Whether the system prompt speaks of them only, and is no step's own.
    pub(in crate::agent) is_all_of_system: bool,
    /// The agent's variables, beside those of this process.
    pub(in crate::agent) env: BTreeMap<String, String>,
}

impl Serving {
    /// Returns the program, and its arguments.
    pub(in crate::agent) fn program(&self) -> (&str, &[String]) {
        match self.command.split_first() {
            Some((program, args)) => (program, args),
            None => ("", &[]),
        }
    }

    /// Returns how long an agent should wait for a call: longer than the router does, which knows why.
    pub(in crate::agent) fn patience() -> Duration {
        CallContext::TIMEOUT + Duration::from_secs(60)
    }

    /// Returns the same in milliseconds.
    pub(in crate::agent) fn patience_ms() -> u64 {
        Serving::patience().as_secs() * 1000
    }

    /// Returns a variable as the agent will see it.
    pub(in crate::agent) fn variable(&self, name: &str) -> Option<String> {
        let inherited = || std::env::var(name).ok();
        self.env.get(name).cloned().or_else(inherited).filter(|value| !value.is_empty())
    }

    /// Returns a configuration of many agents: servers by name.
    pub(in crate::agent) fn servers(&self, server: Value) -> Value {
        Value::Object(Map::from_iter([(SERVER.to_owned(), server)]))
    }
}

/// Returns the command that reaches a socket: this program's own, unless another is set.
pub(super) fn command_for(socket: &Path, set: &[String]) -> std::io::Result<Vec<String>> {
    let mut command = match set {
        [] => vec![std::env::current_exe()?.display().to_string(), "mcp-serve".to_owned()],
        set => set.to_vec(),
    };
    command.extend(["--socket".to_owned(), socket.display().to_string()]);
    Ok(command)
}

/// Returns a system prompt that says which tools to use, behind what the step says.
pub(in crate::agent) fn instructed(system: Option<&str>) -> String {
    let told = format!(
        "Your tools are those of the MCP server `{SERVER}`. Use them, and only them, for whatever you \
         do: to read and change files, to run commands, to reach other services. If a tool of your own \
         does the same, do not use it."
    );
    match system.filter(|system| !system.trim().is_empty()) {
        Some(system) => format!("{system}\n\n{told}"),
        None => told,
    }
}
