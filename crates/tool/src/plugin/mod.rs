//! Plugins: MCP servers whose tools are ours while they last.
//!
//! A plugin is started when it is first needed and shared by all steps of a run. One that crashes,
//! hangs or answers garbage fails the call it was asked for and no other; the next call starts it again,
//! after a pause that grows with every failure. All of that is recorded at the step that noticed.

mod backoff;
mod catalogue;
mod client;
mod config;
mod connection;
mod disclosure;
mod garbage;
mod http;
mod line;
mod lines;
mod outcome;
mod session;
mod stderr;
mod stdio;
mod supervision;
mod tool;
mod trouble;

use std::sync::Arc;

use crate::{CallContext, Tool};
use catalogue::Offer;
pub use config::{PluginConfig, PluginTransport};
use connection::NoResult;
pub use line::{Line, read_line};
use supervision::Plugin;
use tool::PluginTool;
use trouble::Trouble;

/// The plugins of a run, by name. Cloning shares them.
#[derive(Clone, Default)]
pub struct Plugins {
    plugins: Arc<Vec<Arc<Plugin>>>,
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
        let plugins = configs.into_iter().map(Plugin::new).map(Arc::new).collect();
        Plugins { plugins: Arc::new(plugins) }
    }

    /// Returns the names of the plugins.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.plugins.iter().map(|plugin| plugin.config.name.as_str())
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
        let plugin = self.find(plugin)?;
        let offers = offers(plugin, context).await.map_err(|trouble| unusable(plugin, &trouble))?;
        let tool = |offer| Arc::new(PluginTool::new(offer, plugin)) as Arc<dyn Tool>;
        Ok(offers.iter().map(tool).collect())
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
        let plugin = self.find(plugin)?;
        let Ok(offers) = offers(plugin, context).await else {
            return Ok(Arc::new(PluginTool::new(&Offer::unseen(tool), plugin)));
        };
        match offers.iter().find(|offer| offer.name == tool) {
            Some(offer) => Ok(Arc::new(PluginTool::new(offer, plugin))),
            None => Err(PluginError::NoTool {
                plugin: plugin.config.name.clone(),
                tool: tool.to_owned(),
                known: Known(offers.iter().map(|offer| offer.name.clone()).collect()),
            }),
        }
    }

    /// Ends every plugin that was started, with all of its processes. None is started after that.
    pub async fn close(&self) {
        let closing = self.plugins.iter().map(|plugin| {
            let plugin = Arc::clone(plugin);
            tokio::spawn(async move { plugin.close().await })
        });
        for closed in closing.collect::<Vec<_>>() {
            if let Err(cause) = closed.await {
                tracing::warn!(%cause, "a plugin could not be closed");
            }
        }
    }

    fn find(&self, name: &str) -> Result<&Arc<Plugin>, PluginError> {
        let found = self.plugins.iter().find(|plugin| plugin.config.name == name);
        found.ok_or_else(|| PluginError::Unknown {
            plugin: name.to_owned(),
            known: Known(self.names().map(str::to_owned).collect()),
        })
    }
}

/// Returns what a plugin has to offer. Brings it up if need be.
async fn offers(plugin: &Arc<Plugin>, context: &CallContext) -> Result<Arc<Vec<Offer>>, Trouble> {
    let patience = plugin.config.timeout;
    let connection = plugin.connection(context).await?;
    connection.offers(patience).await.map_err(|no_list| {
        let trouble = match no_list {
            NoResult::Refused(reason) | NoResult::Nonsense(reason) => connection.trouble(reason),
            NoResult::Over(trouble) => trouble,
        };
        plugin.retire(&connection, &trouble, context);
        trouble
    })
}

fn unusable(plugin: &Plugin, trouble: &Trouble) -> PluginError {
    let reason = plugin.disclose(&trouble.to_string());
    PluginError::Unusable { plugin: plugin.config.name.clone(), reason }
}
