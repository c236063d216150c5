//! Where a plugin is and how it is reached.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// A plugin, as somebody has set it up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginConfig {
    /// Its name: the first part of the names of its tools.
    pub name: String,
    /// How it is reached.
    pub transport: PluginTransport,
    /// How long one of its calls may take.
    pub timeout: Duration,
    /// How long it may take to come up.
    pub start_timeout: Duration,
}

/// How a plugin is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginTransport {
    /// A program that speaks MCP over its standard input and output.
    Stdio {
        /// The program and its arguments.
        command: Vec<String>,
        /// Variables, beside those of this process.
        env: BTreeMap<String, String>,
        /// Where it runs.
        dir: Option<PathBuf>,
    },
    /// A server that speaks MCP over streamable HTTP.
    Http {
        /// Where it is.
        url: String,
        /// What is sent along. Never recorded.
        headers: BTreeMap<String, String>,
    },
}

impl PluginConfig {
    /// How long a call may take, unless the configuration says.
    pub const TIMEOUT: Duration = Duration::from_secs(60);
    /// How long a plugin may take to come up, unless the configuration says.
    pub const START_TIMEOUT: Duration = Duration::from_secs(30);

    /// Makes a plugin with the usual patience.
    pub fn new(name: impl Into<String>, transport: PluginTransport) -> PluginConfig {
        let (timeout, start_timeout) = (PluginConfig::TIMEOUT, PluginConfig::START_TIMEOUT);
        PluginConfig { name: name.into(), transport, timeout, start_timeout }
    }
}
