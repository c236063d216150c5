//! One plugin through all its lives: started when it is needed, left alone for a while when it failed.
//!
//! A connection that failed is retired: nobody new gets it, and calls that are under way may still end
//! well. The last of them takes it down.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use quipu_event::StepPath;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::backoff::{Backoff, Pause};
use super::config::PluginConfig;
use super::connection::Connection;
use super::disclosure::{shown_transport, without_secrets};
use super::trouble::Trouble;
use crate::CallContext;

/// A plugin of a run.
pub(super) struct Plugin {
    pub(super) config: PluginConfig,
    state: Mutex<State>,
    /// Held by whoever brings it up, so that only one does.
    starting: tokio::sync::Mutex<()>,
    is_closed: AtomicBool,
}

#[derive(Default)]
struct State {
    current: Option<Arc<Connection>>,
    retired: Vec<Weak<Connection>>,
    backoff: Backoff,
    /// Where it is recorded that it was stopped: at the run, as no step does that.
    run: Option<CallContext>,
}

impl Plugin {
    /// Makes a plugin of what is configured. Nothing is started yet.
    pub(super) fn new(config: PluginConfig) -> Plugin {
        Plugin {
            config,
            state: Mutex::default(),
            starting: tokio::sync::Mutex::default(),
            is_closed: AtomicBool::new(false),
        }
    }

    /// Returns a connection to it. Brings it up if need be, after a pause if it failed before.
    pub(super) async fn connection(
        &self,
        context: &CallContext,
    ) -> Result<Arc<Connection>, Trouble> {
        loop {
            if let Some(connection) = self.usable(context).await {
                return Ok(connection);
            }
            let _starting = self.starting.lock().await;
            if self.current().is_some() {
                continue;
            }
            if self.is_closed.load(Ordering::SeqCst) {
                return Err(Trouble::new("it was stopped with the run"));
            }
            let pause = self.state().backoff.pause();
            if let Some(pause) = pause {
                self.wait_out(pause, context).await?;
            }
            return self.start(context).await;
        }
    }

    /// Records a fact about it.
    pub(super) fn note(&self, subtype: &str, mut facts: Value, context: &CallContext) {
        facts["plugin"] = json!(self.config.name);
        context.note(subtype, facts);
    }

    /// Takes a connection out of use. Only the first who does records why.
    pub(super) fn retire(
        &self,
        connection: &Arc<Connection>,
        trouble: &Trouble,
        context: &CallContext,
    ) {
        let is_first = {
            let mut state = self.state();
            let retired = state.current.take_if(|current| Arc::ptr_eq(current, connection));
            if let Some(retired) = &retired {
                state.retired.retain(|old| old.strong_count() > 0);
                state.retired.push(Arc::downgrade(retired));
                state.backoff.failed();
            }
            retired.is_some()
        };
        if is_first {
            connection.heap.record(&self.config.name, context);
            self.failed(trouble, context);
        }
    }

    /// Takes note of a call that went well.
    pub(super) fn went_well(&self) {
        self.state().backoff.went_well();
    }

    /// Returns a text without the secrets of the configuration.
    pub(super) fn disclose(&self, text: &str) -> String {
        without_secrets(text, &self.config)
    }

    /// Ends it for good.
    pub(super) async fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        // Whoever is bringing it up gives up or is done after this.
        let _starting = self.starting.lock().await;
        let (current, retired, run) = {
            let mut state = self.state();
            (state.current.take(), std::mem::take(&mut state.retired), state.run.take())
        };
        let is_up = current.is_some();
        for connection in current.into_iter().chain(retired.iter().filter_map(Weak::upgrade)) {
            connection.end().await;
            if let Some(run) = &run {
                connection.heap.record(&self.config.name, run);
            }
        }
        if let Some(run) = run.filter(|_| is_up) {
            self.note("plugin_stopped", json!({}), &run);
        }
    }

    /// Returns the connection there is, if it is of any use.
    async fn usable(&self, context: &CallContext) -> Option<Arc<Connection>> {
        let connection = self.current()?;
        if connection.is_over() {
            let trouble = connection.how_it_ended().await;
            self.retire(&connection, &trouble, context);
            return None;
        }
        // Somebody may be finding out whether it still answers.
        drop(connection.check.lock().await);
        self.current().filter(|current| Arc::ptr_eq(current, &connection))
    }

    /// Waits until a pause is over, but no longer than a call may take.
    async fn wait_out(&self, pause: Pause, context: &CallContext) -> Result<(), Trouble> {
        let deadline = Instant::now() + self.config.timeout;
        let delay = pause.until.saturating_duration_since(Instant::now());
        let facts = json!({ "attempt": pause.attempt, "delay_ms": millis(delay) });
        self.note("plugin_restarting", facts, context);
        tokio::time::sleep_until(pause.until.min(deadline)).await;
        match pause.until > deadline {
            true => Err(Trouble::new(format!(
                "timed out after {:?}: it failed {} times and is left alone for now",
                self.config.timeout, pause.attempt
            ))),
            false => Ok(()),
        }
    }

    async fn start(&self, context: &CallContext) -> Result<Arc<Connection>, Trouble> {
        let began = Instant::now();
        let attempt = Attempt { plugin: self, context, is_over: false };
        let opened = Connection::open(&self.config).await;
        attempt.end();
        match opened {
            Ok(connection) => {
                let connection = Arc::new(connection);
                let mut facts = connection.introduction();
                facts["transport"] = json!(shown_transport(&self.config));
                facts["duration_ms"] = json!(millis(began.elapsed()));
                self.note("plugin_started", facts, context);
                connection.heap.record(&self.config.name, context);
                let mut state = self.state();
                state.current = Some(Arc::clone(&connection));
                state.run =
                    Some(CallContext { path: StepPath::root(), iteration: 0, ..context.clone() });
                Ok(connection)
            }
            Err(trouble) => {
                self.state().backoff.failed();
                self.failed(&trouble, context);
                Err(trouble)
            }
        }
    }

    fn failed(&self, trouble: &Trouble, context: &CallContext) {
        let mut facts = json!({
            "reason": self.disclose(&trouble.reason),
            "transport": shown_transport(&self.config),
        });
        if let Some(said) = &trouble.stderr {
            facts["stderr"] = json!(self.disclose(said));
        }
        self.note("plugin_failed", facts, context);
    }

    fn current(&self) -> Option<Arc<Connection>> {
        self.state().current.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A start that is under way. Dropped with the call that needs it, it is a failure like any other.
struct Attempt<'a> {
    plugin: &'a Plugin,
    context: &'a CallContext,
    is_over: bool,
}

impl Attempt<'_> {
    fn end(mut self) {
        self.is_over = true;
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.plugin.state().backoff.failed();
            let reason = "nobody waited any longer for it to come up";
            self.plugin.failed(&Trouble::new(reason), self.context);
        }
    }
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
