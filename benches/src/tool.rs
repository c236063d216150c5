//! What the one door for tool calls costs beside the tool itself.

use std::path::Path;
use std::sync::Arc;

use anyhow::ensure;
use quipu_event::StepPath;
use quipu_journal::Options;
use quipu_tool::{Answer, Call, CallContext, Calling, Router, Tool, ToolSpec};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::measure::in_turns;
use crate::row::Outcome;
use crate::sample::recorder;

const CALLS: u64 = 10_000;

/// Calls through the router, each recorded with its result, against the same tool called directly.
pub(crate) fn router_call(dir: &Path) -> anyhow::Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let tool: Arc<dyn Tool> = Arc::new(Echo::new());
    let mut router = Router::default();
    router.register(Arc::clone(&tool))?;
    let times = in_turns(
        5,
        || runtime.block_on(directly(dir, tool.as_ref())),
        || runtime.block_on(through(dir, &router)),
    )?;
    let own = times.baseline * 1e6 / CALLS as f64;
    let value = times.subject * 1e6 / CALLS as f64 - own;
    Ok(Outcome { value, unit: "µs a call, beyond", baseline: own, ratio: value / own })
}

async fn directly(dir: &Path, tool: &dyn Tool) -> anyhow::Result<()> {
    let context = context(dir)?;
    for index in 0..CALLS {
        let answer = tool.call(input(index), &context).await;
        ensure!(answer.is_completed());
    }
    Ok(())
}

async fn through(dir: &Path, router: &Router) -> anyhow::Result<()> {
    let context = context(dir)?;
    for index in 0..CALLS {
        let (name, input) = ("echo".to_owned(), input(index));
        let call = Call { name, input, call_id: None, timeout: None };
        ensure!(router.call(call, &context).await.is_completed());
    }
    Ok(())
}

fn input(index: u64) -> Value {
    json!({ "text": "the quick brown fox", "index": index })
}

fn context(dir: &Path) -> anyhow::Result<CallContext> {
    Ok(CallContext {
        witness: Arc::new(recorder(dir, Options::default())?),
        path: StepPath::from("each_file[3].review"),
        iteration: 3,
        root: dir.to_owned(),
        stop: watch::channel(None).1,
        timeout: CallContext::TIMEOUT,
        call_id: String::new(),
        marks: Arc::default(),
    })
}

/// Says what it is told.
struct Echo(ToolSpec);

impl Echo {
    fn new() -> Self {
        Echo(ToolSpec {
            name: "echo".to_owned(),
            description: "Says what it is told.".to_owned(),
            input_schema: json!({ "type": "object" }),
            provider: "builtin".to_owned(),
            is_read_only: true,
        })
    }
}

impl Tool for Echo {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(&'a self, input: Value, _: &'a CallContext) -> Calling<'a> {
        Box::pin(async move { Answer::completed(input["text"].clone()) })
    }
}
