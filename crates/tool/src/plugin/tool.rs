//! A plugin's tool: one call, from its arguments to its answer.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{JsonObject, RequestId};
use serde_json::Value;
use tokio::time::timeout;

use super::catalogue::Offer;
use super::connection::{Connection, NoResult};
use super::outcome::answer_of;
use super::supervision::Plugin;
use crate::{Answer, CallContext, Calling, Tool, ToolSpec};

/// A tool of a plugin.
pub(super) struct PluginTool {
    spec: ToolSpec,
    /// Its name, as the plugin knows it.
    name: String,
    plugin: Arc<Plugin>,
}

impl PluginTool {
    /// Makes a tool of what a plugin offers.
    pub(super) fn new(offer: &Offer, plugin: &Arc<Plugin>) -> PluginTool {
        let spec = offer.spec(&plugin.config.name);
        PluginTool { spec, name: offer.name.clone(), plugin: Arc::clone(plugin) }
    }

    async fn answer(&self, input: Value, context: &CallContext) -> Answer {
        let arguments = match input {
            Value::Object(arguments) => arguments,
            Value::Null => JsonObject::new(),
            other => {
                return Answer::failed(format!("a tool takes an object, not {}", kind(&other)));
            }
        };
        let patience = self.plugin.config.timeout;
        let connection = match self.plugin.connection(context).await {
            Ok(connection) => connection,
            Err(trouble) => return self.unusable(&trouble.to_string()),
        };
        let call = Underway::new(&self.plugin, &connection, context);
        let answering = call.answer(&self.name, arguments);
        // The time to come up is the plugin's own, and not that of a call.
        match timeout(patience, answering).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(reason)) => self.unusable(&reason),
            Err(_) => self.timed_out(patience, &connection, context),
        }
    }

    /// Says that there was no answer, and what there was in its place.
    fn timed_out(
        &self,
        patience: Duration,
        connection: &Connection,
        context: &CallContext,
    ) -> Answer {
        let garbage = connection.heap.newest();
        connection.heap.record(&self.plugin.config.name, context);
        let garbage = garbage.map(|line| {
            let line = self.plugin.disclose(&line);
            format!("; it wrote what is no message of MCP: {line:?}")
        });
        Answer::failed(format!("timed out after {patience:?}{}", garbage.unwrap_or_default()))
    }

    fn unusable(&self, reason: &str) -> Answer {
        let reason = self.plugin.disclose(reason);
        Answer::failed(format!("the plugin `{}` failed: {reason}", self.plugin.config.name))
    }
}

impl Tool for PluginTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, input: Value, context: &'a CallContext) -> Calling<'a> {
        Box::pin(self.answer(input, context))
    }
}

/// A call under way. Dropped before it has an answer, it tells the plugin that nobody waits any more.
struct Underway<'a> {
    plugin: &'a Arc<Plugin>,
    connection: &'a Arc<Connection>,
    context: &'a CallContext,
    asked: std::sync::OnceLock<RequestId>,
    is_answered: std::sync::atomic::AtomicBool,
}

impl<'a> Underway<'a> {
    fn new(
        plugin: &'a Arc<Plugin>,
        connection: &'a Arc<Connection>,
        context: &'a CallContext,
    ) -> Underway<'a> {
        let (asked, is_answered) = Default::default();
        Underway { plugin, connection, context, asked, is_answered }
    }

    async fn answer(&self, tool: &str, arguments: JsonObject) -> Result<Answer, String> {
        let result = self.result(tool, arguments).await;
        self.is_answered.store(true, std::sync::atomic::Ordering::SeqCst);
        let result = result.and_then(|result| answer_of(result).map_err(NoResult::Nonsense));
        match result {
            Ok(answer) => {
                self.plugin.went_well();
                Ok(answer)
            }
            Err(NoResult::Refused(reason)) => {
                self.plugin.went_well();
                Ok(Answer::failed(self.plugin.disclose(&reason)))
            }
            Err(NoResult::Nonsense(reason)) => {
                let trouble = self.connection.trouble(reason);
                self.plugin.retire(self.connection, &trouble, self.context);
                Err(trouble.reason)
            }
            Err(NoResult::Over(trouble)) => {
                self.plugin.retire(self.connection, &trouble, self.context);
                Err(trouble.to_string())
            }
        }
    }

    async fn result(&self, tool: &str, arguments: JsonObject) -> Result<Value, NoResult> {
        let asked = self.connection.ask(tool, arguments).await?;
        // It is set only here, once.
        let _ = self.asked.set(asked.id.clone());
        self.connection.result(asked).await
    }
}

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        self.connection.heap.record(&self.plugin.config.name, self.context);
        let Some(asked) = self.asked.take() else { return };
        if *self.is_answered.get_mut() {
            return;
        }
        let (plugin, connection) = (Arc::clone(self.plugin), Arc::clone(self.connection));
        let context = self.context.clone();
        // Taken here and now: the next call must not get ahead of the check.
        let check = Arc::clone(&connection.check).try_lock_owned();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            connection.cancel(asked).await;
            // One check is enough for all calls that were given up meanwhile.
            if let Ok(_check) = check
                && !connection.answers().await
            {
                let trouble = match connection.is_over() {
                    true => connection.how_it_ended().await,
                    false => connection.trouble("it does not answer any more"),
                };
                plugin.retire(&connection, &trouble, &context);
            }
        });
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "a list",
        Value::String(_) => "a text",
        Value::Number(_) => "a number",
        Value::Bool(_) => "a truth value",
        Value::Null | Value::Object(_) => "what it is",
    }
}
