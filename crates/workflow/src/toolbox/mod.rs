//! The tools of a run: what is built in, the operations, and the plugins that it and its callers have.
//!
//! A step asks for the tools it may use and gets a router with exactly those. Nothing is called here but
//! through a router, and no plugin is started before somebody asks for one of its tools.

mod absent;
mod call_ids;
mod naming;
mod operate;
mod surroundings;
mod variables;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use quipu_tool::plugin::Plugins;
pub use quipu_tool::plugin::{PluginConfig, PluginTransport};
use quipu_tool::{CallContext, Router, Tool, builtin};

use crate::definition::{McpProxy, PluginTools};
use crate::driver::RunRequest;
use crate::operation::{self, OperationSettings, OperationTool};
use call_ids::CallIds;
pub use naming::{plugin_name_problem, split_words};
pub use operate::operate;
pub(crate) use surroundings::surroundings;

/// How long plugins may take to end, before the run ends without them.
const PATIENCE: Duration = Duration::from_secs(10);

/// The word for every tool of a plugin.
const ALL: &str = "*";

/// What tools can be had, as somebody has set it up.
#[derive(Clone)]
pub struct ToolSettings {
    /// The tools that are built in.
    pub builtins: Vec<Arc<dyn Tool>>,
    /// What operations take from their surroundings.
    pub operations: Arc<OperationSettings>,
    /// Plugins by name. Variables in them are not filled in yet.
    pub plugins: BTreeMap<String, PluginConfig>,
}

impl ToolSettings {
    /// Has everything that is built in, and no plugin.
    pub fn new(operations: OperationSettings) -> ToolSettings {
        let (builtins, operations) = (builtin::all(), Arc::new(operations));
        ToolSettings { builtins, operations, plugins: BTreeMap::new() }
    }
}

/// The tools of a run.
pub struct Toolbox {
    settings: Arc<ToolSettings>,
    /// Those that this run has opened; it closes them.
    plugins: Plugins,
    /// Plugins that cannot be started, and why.
    unusable: BTreeMap<String, String>,
    /// The toolbox of the run that calls this one.
    around: Option<Arc<Toolbox>>,
    call_ids: CallIds,
}

/// Where plugins are started.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The variables that they are configured with.
    pub env: &'a BTreeMap<String, String>,
    /// Where they run, unless they say.
    pub dir: &'a Path,
    /// Returns the variables by which the program of a plugin, by its name, is known to be the run's.
    pub marks: &'a (dyn Fn(&str) -> BTreeMap<String, String> + Sync),
}

/// Where a plugin is.
enum Whose<'a> {
    /// It is none: these are operations.
    Operations,
    Plugin(&'a Plugins),
    Unusable(&'a str),
    Nobody,
}

impl Toolbox {
    /// Makes the toolbox of a run that nobody calls. A plugin of its own comes before one of the same name
    /// in the settings. Nothing is started.
    pub fn open(
        settings: &Arc<ToolSettings>,
        own: &BTreeMap<String, PluginConfig>,
        place: &Place<'_>,
    ) -> Toolbox {
        let mut plugins = settings.plugins.clone();
        plugins.extend(own.clone());
        Toolbox::with(settings, plugins, place, None)
    }

    /// Makes the toolbox of a run that is called: it has its caller's plugins, and its own before them.
    pub fn within(
        around: &Arc<Toolbox>,
        own: &BTreeMap<String, PluginConfig>,
        place: &Place<'_>,
    ) -> Toolbox {
        Toolbox::with(&around.settings, own.clone(), place, Some(Arc::clone(around)))
    }

    /// Makes the toolbox of a run.
    pub(crate) fn of_run(
        request: &RunRequest,
        marks: &(dyn Fn(&str) -> BTreeMap<String, String> + Sync),
    ) -> Toolbox {
        let (world, own) = (&request.world, &request.workflow.plugins);
        let place = Place { env: &world.env, dir: &world.working_dir, marks };
        match &request.around {
            Some(around) => Toolbox::within(around, own, &place),
            None => Toolbox::open(&world.tools, own, &place),
        }
    }

    /// Sees to it that the secrets that a run's plugins are given are not told.
    pub(crate) fn learn_secrets(request: &RunRequest) {
        let (world, own) = (&request.world, &request.workflow.plugins);
        let configured = world.tools.plugins.values().chain(own.values());
        let named: Vec<&str> = configured.flat_map(variables::used).collect();
        let set = named.iter().filter_map(|name| Some((*name, world.env.get(*name)?.as_str())));
        world.secrets.learn(&serde_json::Map::new(), set);
    }

    fn with(
        settings: &Arc<ToolSettings>,
        plugins: BTreeMap<String, PluginConfig>,
        place: &Place<'_>,
        around: Option<Arc<Toolbox>>,
    ) -> Toolbox {
        let (mut usable, mut unusable) = (Vec::new(), BTreeMap::new());
        for (name, config) in plugins {
            match variables::filled_in(config, place.env) {
                Ok(config) => usable.push(placed(config, place)),
                Err(reason) => drop(unusable.insert(name, reason)),
            }
        }
        let (settings, plugins) = (Arc::clone(settings), Plugins::new(usable));
        Toolbox { settings, plugins, unusable, around, call_ids: CallIds::default() }
    }

    /// Returns the tools that an agent is given.
    ///
    /// # Errors
    ///
    /// Says which tool cannot be had and why, or which name two of them have.
    pub async fn router_for(
        &self,
        proxy: &McpProxy,
        context: &CallContext,
    ) -> Result<Router, String> {
        let mut router = Router::default();
        if !proxy.enable {
            return Ok(router);
        }
        if proxy.intercept_builtins {
            register(&mut router, self.settings.builtins.iter().cloned())?;
        }
        for tools in &proxy.plugin_tools {
            register(&mut router, self.exposed(tools, context).await?)?;
        }
        Ok(router)
    }

    /// Returns an id for a call that no other call of the run has: `wanted`, if it is still free.
    pub fn call_id(&self, wanted: &str) -> String {
        self.call_ids.unique(wanted)
    }

    /// Takes note of ids that calls of the run have already.
    pub(crate) fn remember_calls(&self, ids: impl IntoIterator<Item = String>) {
        self.call_ids.take(ids);
    }

    /// Returns the names of the plugins that there are, the callers' too.
    pub fn plugin_names(&self) -> Vec<String> {
        let own = self.plugins.names().map(str::to_owned).chain(self.unusable.keys().cloned());
        let around = self.around.iter().flat_map(|around| around.plugin_names());
        let mut names: Vec<String> = own.chain(around).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Ends the plugins that this run has opened. The callers' stay.
    pub async fn close(&self) {
        if tokio::time::timeout(PATIENCE, self.plugins.close()).await.is_err() {
            tracing::warn!("a plugin does not end");
        }
    }

    /// Returns an operation that is built in.
    fn operation(&self, name: &str) -> Result<Arc<OperationTool>, String> {
        operation::as_tool(name, &self.settings.operations)
    }

    /// Returns one tool: `tool` of `plugin`, or an operation that is built in.
    async fn tool(
        &self,
        plugin: &str,
        tool: &str,
        context: &CallContext,
    ) -> Result<Arc<dyn Tool>, String> {
        match self.whose(plugin) {
            Whose::Operations => Ok(self.operation(&format!("{plugin}.{tool}"))?),
            Whose::Plugin(plugins) => {
                plugins.tool(plugin, tool, context).await.map_err(|error| error.to_string())
            }
            Whose::Unusable(reason) => {
                Err(format!("the plugin `{plugin}` cannot be used: {reason}"))
            }
            Whose::Nobody => Err(self.unknown(plugin)),
        }
    }

    /// Finds a tool for a step that is one call of it: a plugin that does not come up is not tried again.
    async fn tool_at_once(
        &self,
        plugin: &str,
        tool: &str,
        context: &CallContext,
    ) -> Result<Arc<dyn Tool>, String> {
        let Whose::Plugin(plugins) = self.whose(plugin) else {
            return self.tool(plugin, tool, context).await;
        };
        let name = format!("{plugin}_{tool}");
        let all = plugins.tools(plugin, context).await.map_err(|error| error.to_string())?;
        match all.into_iter().find(|found| found.spec().name == name) {
            Some(found) => Ok(found),
            None => self.tool(plugin, tool, context).await,
        }
    }

    async fn exposed(
        &self,
        tools: &PluginTools,
        context: &CallContext,
    ) -> Result<Vec<Arc<dyn Tool>>, String> {
        let PluginTools { plugin, expose } = tools;
        if expose.iter().any(|tool| tool == ALL) {
            return self.all_of(plugin, context).await;
        }
        let mut found = Vec::new();
        for tool in expose {
            found.push(self.tool(plugin, tool, context).await?);
        }
        Ok(found)
    }

    async fn all_of(
        &self,
        plugin: &str,
        context: &CallContext,
    ) -> Result<Vec<Arc<dyn Tool>>, String> {
        match self.whose(plugin) {
            Whose::Plugin(plugins) => {
                plugins.tools(plugin, context).await.map_err(|error| error.to_string())
            }
            Whose::Operations => operation::names_of(plugin)
                .map(|name| Ok(self.operation(name)? as Arc<dyn Tool>))
                .collect(),
            Whose::Unusable(_) | Whose::Nobody => {
                self.tool(plugin, ALL, context).await.map(|tool| vec![tool])
            }
        }
    }

    fn whose(&self, plugin: &str) -> Whose<'_> {
        if operation::is_namespace(plugin) {
            Whose::Operations
        } else if self.plugins.names().any(|name| name == plugin) {
            Whose::Plugin(&self.plugins)
        } else if let Some(reason) = self.unusable.get(plugin) {
            Whose::Unusable(reason)
        } else {
            self.around.as_ref().map_or(Whose::Nobody, |around| around.whose(plugin))
        }
    }

    fn unknown(&self, plugin: &str) -> String {
        let names = self.plugin_names();
        let known = names.iter().map(String::as_str).chain(operation::NAMESPACES);
        let hint = crate::definition::did_you_mean(plugin, known);
        let hint = hint.map(|hint| format!(": {hint}")).unwrap_or_default();
        let there = match names.is_empty() {
            true => "no plugin is configured".to_owned(),
            false => format!("there are {}", names.join(", ")),
        };
        format!("there is no plugin `{plugin}`{hint} ({there})")
    }
}

/// Has a program run where the run does, unless its configuration says where.
fn placed(mut config: PluginConfig, place: &Place<'_>) -> PluginConfig {
    if let PluginTransport::Stdio { dir, env, .. } = &mut config.transport {
        let here = place.dir;
        *dir = Some(dir.as_ref().map_or_else(|| here.to_owned(), |dir| here.join(dir)));
        env.extend((place.marks)(&config.name));
    }
    config
}

fn register(
    router: &mut Router,
    tools: impl IntoIterator<Item = Arc<dyn Tool>>,
) -> Result<(), String> {
    for tool in tools {
        router.register(tool).map_err(|taken| taken.to_string())?;
    }
    Ok(())
}
