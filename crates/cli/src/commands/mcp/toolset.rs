//! The tools of `quipu mcp`: which name does what, off the threads that serve.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quipu_journal::Layout;
use quipu_tool::mcp::{Answering, Asked, Introduction, ToolSet};
use quipu_tool::{Answer, Shown, ToolSpec};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{list_runs, read_run, run_stats, run_tree, search, specs};

/// All transcripts of a storage.
pub(super) struct Transcripts {
    layout: Layout,
}

/// What a tool has to say: a text for a model, and the same as a structure where it has one.
pub(super) struct Said {
    pub(super) text: String,
    pub(super) structured: Option<Value>,
}

/// Whether the client still waits. Long work asks now and then.
#[derive(Clone, Default)]
pub(super) struct GivenUp(Arc<AtomicBool>);

impl GivenUp {
    pub(super) fn is_so(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Transcripts {
    pub(super) fn new(layout: Layout) -> Self {
        Transcripts { layout }
    }
}

impl ToolSet for Transcripts {
    fn introduction(&self) -> Introduction {
        specs::introduction()
    }

    fn specs(&self) -> Vec<ToolSpec> {
        specs::specs()
    }

    fn call(&self, asked: Asked) -> Answering<'_> {
        let layout = self.layout.clone();
        Box::pin(async move {
            let given_up = GivenUp::default();
            let on_drop = WhenDropped(given_up.clone());
            let work = tokio::task::spawn_blocking(move || answer(&layout, asked, &given_up));
            let answer = work.await.unwrap_or_else(|_| Answer::failed("the tool broke down"));
            drop(on_drop);
            answer
        })
    }
}

struct WhenDropped(GivenUp);

impl Drop for WhenDropped {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

fn answer(layout: &Layout, asked: Asked, given_up: &GivenUp) -> Answer {
    match said(layout, asked, given_up) {
        Ok(Said { text, structured }) => {
            let shown = Shown { structured, ..Shown::text_only(text) };
            Answer { shown: Some(shown), ..Answer::completed(Value::Null) }
        }
        Err(error) => Answer::failed(format!("{error:#}")),
    }
}

fn said(layout: &Layout, asked: Asked, given_up: &GivenUp) -> anyhow::Result<Said> {
    match asked.name.as_str() {
        "list_runs" => list_runs::said(layout, &read(asked)?),
        "read_run" => read_run::said(layout, &read(asked)?, given_up),
        "run_tree" => run_tree::said(layout, &read(asked)?),
        "search" => search::said(layout, &read(asked)?, given_up),
        "run_stats" => run_stats::said(layout, &read(asked)?),
        other => {
            let names: Vec<String> = specs::specs().into_iter().map(|spec| spec.name).collect();
            anyhow::bail!("there is no tool `{other}`; there are {}", names.join(", "))
        }
    }
}

fn read<T: DeserializeOwned>(asked: Asked) -> anyhow::Result<T> {
    // A field that is null is one that is not given, to every model that fills in all of them.
    let input = match asked.input {
        Value::Object(fields) => fields.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        other => other,
    };
    serde_json::from_value(input)
        .map_err(|cause| anyhow::anyhow!("{} cannot be called like that: {cause}", asked.name))
}
