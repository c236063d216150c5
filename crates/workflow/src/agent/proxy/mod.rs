//! Our tools for agents that have a program: a private socket per turn, behind which the step's router is.
//!
//! The agent starts `quipu mcp-serve`, which carries its calls to the socket; the router records them,
//! once. What the agent says about the same calls on its own stream is linked to them (`ledger`).

mod ledger;
mod links;
mod names;
mod serving;

use std::sync::Arc;
use std::time::Duration;

use quipu_event::RunId;
use quipu_tool::mcp::{Answering, Asked, Gateway, Introduction, ToolSet};
use quipu_tool::{Answer, Call, CallContext, Router, ToolSpec};
use tokio::sync::watch;

use super::cli::Cli;
use super::desk::Desk;
use crate::toolbox::Toolbox;
pub(super) use ledger::Ids;
pub(super) use links::Links;
use names::Names;
pub(super) use names::SERVER;
pub(super) use serving::{Serving, instructed};

/// How long calls that are under way may take to end when the agent has.
const PATIENCE: Duration = Duration::from_secs(10);

/// Tools that are served for one turn.
pub(super) struct Proxy {
    gateway: Gateway,
    links: Arc<Links>,
    at_work: watch::Receiver<usize>,
    command: Vec<String>,
}

impl Proxy {
    /// Serves the tools of `router` to an agent.
    pub(super) async fn open(router: &Router, cli: &Cli, desk: &Desk) -> Result<Proxy, String> {
        let tools = router.specs().map(|spec| spec.name.clone()).collect();
        let links = Arc::new(Links::new(Names::new(cli.tool_prefix, tools), cli.ids));
        let (begun, at_work) = watch::channel(0);
        let served = Served {
            router: router.clone(),
            context: desk.call_context(),
            toolbox: Arc::clone(&desk.toolbox),
            links: Arc::clone(&links),
            at_work: begun,
        };
        let cannot = |cause| format!("its tools cannot be served: {cause}");
        let gateway = Gateway::open(Arc::new(served)).await.map_err(cannot)?;
        let set = &desk.settings.mcp_serve;
        let command = serving::command_for(gateway.socket(), set).map_err(cannot)?;
        Ok(Proxy { gateway, links, at_work, command })
    }

    /// Returns the account of calls.
    pub(super) fn links(&self) -> Arc<Links> {
        Arc::clone(&self.links)
    }

    /// Returns the command that the agent is to start.
    pub(super) fn command(&self) -> Vec<String> {
        self.command.clone()
    }

    /// Takes the socket away, and waits until the last call has its result.
    pub(super) async fn close(mut self) {
        self.links.refuse();
        drop(self.gateway);
        let ended = self.at_work.wait_for(|at_work| *at_work == 0);
        if tokio::time::timeout(PATIENCE, ended).await.is_err() {
            tracing::warn!("a tool is still at work for an agent that has ended");
        }
    }
}

/// The tools of a step, as others may call them.
struct Served {
    router: Router,
    context: CallContext,
    toolbox: Arc<Toolbox>,
    links: Arc<Links>,
    at_work: watch::Sender<usize>,
}

impl ToolSet for Served {
    fn introduction(&self) -> Introduction {
        Introduction { name: SERVER.to_owned(), instructions: None }
    }

    fn specs(&self) -> Vec<ToolSpec> {
        self.router.specs().cloned().collect()
    }

    fn call(&self, asked: Asked) -> Answering<'_> {
        Box::pin(async move {
            let _at_work = AtWork::begin(&self.at_work);
            let free = |wanted: Option<&str>| match wanted {
                Some(wanted) => self.toolbox.call_id(wanted),
                None => format!("call_{}", RunId::random().as_str()),
            };
            let Some((call_id, told)) = self.links.made(&asked, free) else {
                return Answer::failed("the agent has ended");
            };
            told.into_iter().for_each(|draft| self.context.record(draft));
            let Asked { name, input, .. } = asked;
            let call = Call { name, input, call_id: Some(call_id), timeout: None };
            self.router.call(call, &self.context).await
        })
    }
}

/// A call under way, counted until it has ended or been dropped.
struct AtWork<'a>(&'a watch::Sender<usize>);

impl<'a> AtWork<'a> {
    fn begin(count: &'a watch::Sender<usize>) -> AtWork<'a> {
        count.send_modify(|count| *count += 1);
        AtWork(count)
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
