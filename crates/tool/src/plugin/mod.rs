//! Plugins: MCP servers whose tools are ours while they last.
//!
//! A plugin is started when it is first needed and shared by all steps of a run. One that crashes,
//! hangs or answers garbage fails the call it was asked for and no other; the next call starts it again,
//! after a pause that grows with every failure. All of that is recorded at the step that noticed.

mod config;

use std::sync::Arc;

use crate::{CallContext, Tool};
pub use config::{PluginConfig, PluginTransport};

/// The plugins of a run, by name. Cloning shares them.
#[derive(Clone, Default)]
pub struct Plugins {
    configs: Arc<Vec<PluginConfig>>,
}

/// Why a plugin's tools cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PluginError {
    /// Nobody has heard of it.
    #[error("there is no plugin `{plugin}`{}", .known.hint())]
    Unknown {
        /// Its name.
        plugin: String,
        /// Those that there are.
        known: Known,
    },
    /// It has no such tool.
    #[error("the plugin `{plugin}` has no tool `{tool}`{}", .known.hint())]
    NoTool {
        /// The plugin.
        plugin: String,
        /// What was looked for.
        tool: String,
        /// What it has.
        known: Known,
    },
    /// It could not be started, or does not say what it has.
    #[error("the plugin `{plugin}` cannot be used: {reason}")]
    Unusable {
        /// The plugin.
        plugin: String,
        /// What happened.
        reason: String,
    },
}

/// Names to choose from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known(pub Vec<String>);

impl Known {
    fn hint(&self) -> String {
        match self.0.as_slice() {
            [] => String::new(),
            names => format!("; there are {}", names.join(", ")),
        }
    }
}

impl Plugins {
    /// Makes plugins of what is configured. Nothing is started yet.
    pub fn new(configs: Vec<PluginConfig>) -> Plugins {
        Plugins { configs: Arc::new(configs) }
    }

    /// Returns the names of the plugins.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.configs.iter().map(|config| config.name.as_str())
    }

    /// Returns every tool that a plugin has, named `<plugin>_<tool>`. Starts it if need be.
    ///
    /// # Errors
    ///
    /// Fails for a plugin that is not configured, and for one that does not come up.
    pub async fn tools(
        &self,
        plugin: &str,
        context: &CallContext,
    ) -> Result<Vec<Arc<dyn Tool>>, PluginError> {
        let _ = context;
        let (plugin, reason) = (plugin.to_owned(), "not yet".to_owned());
        Err(PluginError::Unusable { plugin, reason })
    }

    /// Returns one tool of a plugin, named `<plugin>_<tool>`.
    ///
    /// A plugin that does not come up has it all the same, with a schema that takes anything: calling it
    /// tries again, and fails that call.
    ///
    /// # Errors
    ///
    /// Fails for a plugin that is not configured, and for one that came up and has no such tool.
    pub async fn tool(
        &self,
        plugin: &str,
        tool: &str,
        context: &CallContext,
    ) -> Result<Arc<dyn Tool>, PluginError> {
        let _ = (tool, context);
        let (plugin, reason) = (plugin.to_owned(), "not yet".to_owned());
        Err(PluginError::Unusable { plugin, reason })
    }

    /// Ends every plugin that was started, with all of its processes.
    pub async fn close(&self) {}
}
