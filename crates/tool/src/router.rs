//! The door: names to tools, and the only place where a tool is called.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use quipu_process::{GRACE, StopReason, stop_beyond};
use serde_json::Value;

use crate::answer::Answer;
use crate::context::CallContext;
use crate::cut::cut_for_caller;
use crate::recording::OpenCall;
use crate::spec::{Calling, Tool, ToolSpec};

/// How long a tool that ends by itself has to do so: what it runs has [`GRACE`].
const FAREWELL: Duration = GRACE.saturating_add(Duration::from_secs(1));

/// Names to tools. A step that may use some of them has a router with those.
#[derive(Clone, Default)]
pub struct Router {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

/// A call to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Which tool.
    pub name: String,
    /// What it is given.
    pub input: Value,
    /// The caller's own id of the call; a new one is made if there is none.
    pub call_id: Option<String>,
    /// How long it may take; as the context says if there is none.
    pub timeout: Option<Duration>,
}

/// Two tools have one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tool name `{name}` is taken: {new} has one, and so has {old}")]
pub struct NameTaken {
    /// The name.
    pub name: String,
    /// Whose tool has it.
    pub old: String,
    /// Whose tool would have it too.
    pub new: String,
}

impl Router {
    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// Refuses one whose name is taken; the tool that has it stays.
    pub fn register(&mut self, tool: Arc<dyn Tool>) -> Result<(), NameTaken> {
        let ToolSpec { name, provider, .. } = tool.spec();
        if let Some(old) = self.tools.get(name) {
            let (name, new) = (name.clone(), provider.clone());
            return Err(NameTaken { name, old: old.spec().provider.clone(), new });
        }
        self.tools.insert(name.clone(), tool);
        Ok(())
    }

    /// Returns what there is, in the order of the names.
    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.values().map(|tool| tool.spec())
    }

    /// Tells whether there is a tool of that name.
    pub fn has(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// Calls a tool, and records the call and what came of it.
    ///
    /// It always has an answer: a name that nobody has, a tool that panics, one that takes too long and
    /// one that is stopped are calls that failed. Dropping the future gives the call up, which is
    /// recorded too.
    pub async fn call(&self, call: Call, context: &CallContext) -> Answer {
        let mut answer = self.call_whole(call, context).await;
        cut_for_caller(&mut answer);
        answer
    }

    /// As [`Router::call`], for a caller that is no model and wants all of a long answer.
    pub async fn call_whole(&self, call: Call, context: &CallContext) -> Answer {
        let call_id =
            call.call_id.unwrap_or_else(|| format!("call_{}", uuid::Uuid::new_v4().simple()));
        let context = CallContext { call_id, ..context.clone() };
        let tool = self.tools.get(&call.name);
        let provider = tool.map(|tool| tool.spec().provider.as_str());
        let open = OpenCall::begin(&call.name, provider, &call.input, &context);
        let answer = match tool {
            Some(tool) => {
                let timeout = call.timeout.unwrap_or(context.timeout);
                // Within a future, so that a panic before the first wait is caught too.
                let calling = Box::pin(async { tool.call(call.input, &context).await });
                supervised(calling, timeout, tool.ends_by_itself(), &context).await
            }
            None => Answer::failed(self.unknown(&call.name)),
        };
        open.end(&answer);
        answer
    }

    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.tools.keys().map(String::as_str).collect();
        match names.is_empty() {
            true => format!("there is no tool `{name}`, nor any other"),
            false => format!("there is no tool `{name}`; there are {}", names.join(", ")),
        }
    }
}

/// Waits for a call no longer than it may take.
async fn supervised(
    calling: Calling<'_>,
    timeout: Duration,
    ends_by_itself: bool,
    context: &CallContext,
) -> Answer {
    let mut stop = context.stop.clone();
    let mut calling = Caught(AssertUnwindSafe(calling));
    let reason = tokio::select! {
        biased;
        reason = stop_beyond(&mut stop, None) => reason,
        answer = &mut calling => return answer,
        () = tokio::time::sleep(timeout) => {
            return Answer::failed(format!("timed out after {timeout:?}"));
        }
    };
    if ends_by_itself && let Ok(answer) = tokio::time::timeout(FAREWELL, calling).await {
        return answer;
    }
    Answer::failed(match reason {
        StopReason::TimedOut => "canceled: the step took too long",
        StopReason::Canceled | StopReason::Now => "canceled",
    })
}

/// A call whose panic is an answer.
struct Caught<'a>(AssertUnwindSafe<Calling<'a>>);

impl Future for Caught<'_> {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answer> {
        let calling = &mut self.0;
        let polled = std::panic::catch_unwind(AssertUnwindSafe(|| calling.as_mut().poll(cx)));
        polled.unwrap_or_else(|panic| Poll::Ready(Answer::failed(broken_down(panic.as_ref()))))
    }
}

fn broken_down(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    match said {
        Some(said) => format!("the tool broke down: {said}"),
        None => "the tool broke down".to_owned(),
    }
}

#[cfg(test)]
mod tests;
