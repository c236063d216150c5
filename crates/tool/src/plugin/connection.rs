//! A plugin that has come up: its tools, its calls, and word of how it ended.
//!
//! A connection that failed is never mended: whoever needs the plugin opens another.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest, JsonObject,
    PingRequest, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, Peer, PeerRequestOptions, RequestHandle, RunningService, ServiceError,
};
use rmcp::transport::Transport;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::catalogue::{self, NoList, Offer};
use super::client::Ourselves;
use super::config::{PluginConfig, PluginTransport};
use super::garbage::Heap;
use super::http;
use super::stdio::Program;
use super::trouble::Trouble;

/// How long a plugin that gave no answer to a call has to answer whether it is there.
const SIGN_OF_LIFE: Duration = Duration::from_secs(2);
/// How long the end of a program is waited for when it has closed its output.
const LAST_WORD: Duration = Duration::from_secs(1);
/// How long a connection may take to close.
const CLOSING: Duration = Duration::from_secs(3);

/// A plugin that has come up.
pub(super) struct Connection {
    /// What it wrote that nobody could read.
    pub(super) heap: Arc<Heap>,
    /// Held while it is found out whether the plugin still answers.
    pub(super) check: Arc<tokio::sync::Mutex<()>>,
    peer: Peer<RoleClient>,
    service: tokio::sync::Mutex<RunningService<RoleClient, Ourselves>>,
    ourselves: Ourselves,
    program: Option<Program>,
    offers: Mutex<Arc<Vec<Offer>>>,
}

/// Why a call has no result.
pub(super) enum NoResult {
    /// The plugin refuses it, and is well.
    Refused(String),
    /// What came back is no answer.
    Nonsense(String),
    /// The connection is of no use any more.
    Over(Trouble),
}

impl Connection {
    /// Brings a plugin up: starts it, greets it and asks what it has.
    pub(super) async fn open(config: &PluginConfig) -> Result<Connection, Trouble> {
        let heap = Arc::<Heap>::default();
        match &config.transport {
            PluginTransport::Stdio { command, env, dir } => {
                let started = Program::start(command, env, dir.as_deref(), Arc::clone(&heap));
                let (program, lines) = started.await.map_err(Trouble::new)?;
                Connection::greet(config, lines, Some(program), heap).await
            }
            PluginTransport::Http { url, headers } => {
                let transport = http::transport(url, headers).map_err(Trouble::new)?;
                Connection::greet(config, transport, None, heap).await
            }
        }
    }

    async fn greet(
        config: &PluginConfig,
        transport: impl Transport<RoleClient> + 'static,
        program: Option<Program>,
        heap: Arc<Heap>,
    ) -> Result<Connection, Trouble> {
        let ourselves = Ourselves::default();
        let greeting = async {
            let service = ourselves.clone().serve(transport).await.map_err(explain_greeting)?;
            let offers =
                catalogue::list(service.peer()).await.map_err(|no_list| match no_list {
                    NoList::Said(reason) => Some(reason),
                    NoList::Failed(error) => explain(&error),
                })?;
            Ok((service, offers))
        };
        let patience = config.start_timeout;
        let greeted = timeout(patience, greeting).await;
        let late = || Err(Some(format!("it did not come up within {patience:?}")));
        match greeted.unwrap_or_else(|_| late()) {
            Ok((service, offers)) => Ok(Connection {
                heap,
                check: Arc::default(),
                peer: service.peer().clone(),
                service: tokio::sync::Mutex::new(service),
                ourselves,
                program,
                offers: Mutex::new(Arc::new(offers)),
            }),
            Err(Some(reason)) => Err(Trouble::with(reason, program.as_ref())),
            Err(None) => Err(ended(program.as_ref()).await),
        }
    }

    /// Returns what is known of the server, for the record.
    pub(super) fn introduction(&self) -> Value {
        let info = self.peer.peer_info();
        let server = info.as_ref().and_then(|info| info.server_info.as_ref());
        json!({
            "server": server.map(|server| server.name.as_str()),
            "version": server.map(|server| server.version.as_str()),
            "protocol": info.as_ref().map(|info| info.protocol_version.to_string()),
            "tools": self.known_offers().len(),
        })
    }

    /// Returns the tools it has, asked for again if it said that they are others now.
    pub(super) async fn offers(&self, patience: Duration) -> Result<Arc<Vec<Offer>>, NoResult> {
        if !self.ourselves.has_other_tools.swap(false, Ordering::SeqCst) {
            return Ok(self.known_offers());
        }
        let listed = timeout(patience, catalogue::list(&self.peer)).await;
        let late = || Err(NoList::Said(format!("it did not list its tools within {patience:?}")));
        match listed.unwrap_or_else(|_| late()) {
            Ok(offers) => {
                *self.offers.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(offers);
                Ok(self.known_offers())
            }
            Err(no_list) => {
                self.ourselves.has_other_tools.store(true, Ordering::SeqCst);
                match no_list {
                    NoList::Said(reason) => Err(NoResult::Nonsense(reason)),
                    NoList::Failed(error) => Err(self.no_result(error).await),
                }
            }
        }
    }

    fn known_offers(&self) -> Arc<Vec<Offer>> {
        Arc::clone(&self.offers.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Asks for a call. The answer is waited for with [`Connection::result`].
    pub(super) async fn ask(
        &self,
        tool: &str,
        arguments: JsonObject,
    ) -> Result<RequestHandle<RoleClient>, NoResult> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let asked = self.peer.send_request_with_option(request, PeerRequestOptions::no_options());
        match asked.await {
            Ok(handle) => Ok(handle),
            Err(error) => Err(self.no_result(error).await),
        }
    }

    /// Waits for the result of a call.
    pub(super) async fn result(&self, asked: RequestHandle<RoleClient>) -> Result<Value, NoResult> {
        match asked.await_response().await {
            Ok(ServerResult::CustomResult(result)) => Ok(result.0),
            Ok(result) => {
                let value = serde_json::to_value(&result);
                value.map_err(|cause| NoResult::Nonsense(cause.to_string()))
            }
            Err(error) => Err(self.no_result(error).await),
        }
    }

    /// Tells the plugin that nobody waits for a result any more.
    pub(super) async fn cancel(&self, asked: rmcp::model::RequestId) {
        let reason = Some("nobody waits for it any more".to_owned());
        let canceled = CancelledNotificationParam::new(Some(asked), reason);
        // A plugin that cannot be told does not answer either, which is found out next.
        let _ = timeout(SIGN_OF_LIFE, self.peer.notify_cancelled(canceled)).await;
    }

    /// Finds out whether the plugin answers anything at all.
    pub(super) async fn answers(&self) -> bool {
        let ping = ClientRequest::PingRequest(PingRequest::default());
        let pong = timeout(SIGN_OF_LIFE, self.peer.send_request(ping)).await;
        // A plugin that does not know what a ping is has answered all the same.
        matches!(pong, Ok(Ok(_) | Err(ServiceError::McpError(_))))
    }

    /// Tells whether it has ended.
    pub(super) fn is_over(&self) -> bool {
        self.peer.is_transport_closed() || self.program.as_ref().is_some_and(Program::has_ended)
    }

    /// Returns how it ended.
    pub(super) async fn how_it_ended(&self) -> Trouble {
        ended(self.program.as_ref()).await
    }

    /// Describes a trouble, with what the program said last.
    pub(super) fn trouble(&self, reason: impl Into<String>) -> Trouble {
        Trouble::with(reason, self.program.as_ref())
    }

    /// Ends it, and waits until it is gone with all of its processes.
    pub(super) async fn end(&self) {
        let close = async {
            let mut service = self.service.lock().await;
            if let Err(cause) = service.close_with_timeout(CLOSING).await {
                tracing::debug!(%cause, "a plugin's connection broke down");
            }
        };
        match &self.program {
            Some(program) => program.end(close).await,
            None => close.await,
        }
    }

    async fn no_result(&self, error: ServiceError) -> NoResult {
        match &error {
            ServiceError::McpError(data) if data.code == rmcp::model::ErrorCode::PARSE_ERROR => {
                NoResult::Nonsense(data.message.to_string())
            }
            ServiceError::McpError(data) => {
                NoResult::Refused(format!("{} ({})", data.message, data.code.0))
            }
            error => match explain(error) {
                Some(reason) => NoResult::Over(self.trouble(reason)),
                None => NoResult::Over(self.how_it_ended().await),
            },
        }
    }
}

/// Says why a greeting failed; nothing if the plugin has just gone away.
fn explain_greeting(error: ClientInitializeError) -> Option<String> {
    Some(match &error {
        ClientInitializeError::ConnectionClosed(_) => return None,
        ClientInitializeError::JsonRpcError(error) => error.message.to_string(),
        ClientInitializeError::TransportError { error, .. } => {
            return explain_transport(error.error.as_ref());
        }
        ClientInitializeError::ExpectedInitResult(_) => {
            "it does not greet as MCP has it".to_owned()
        }
        error => error.to_string(),
    })
}

/// Says why a request failed; nothing if the plugin has just gone away.
fn explain(error: &ServiceError) -> Option<String> {
    match error {
        ServiceError::TransportClosed => None,
        ServiceError::TransportSend(error) => explain_transport(error.error.as_ref()),
        error => Some(error.to_string()),
    }
}

/// Says why nothing could be sent; nothing if that is because the plugin has gone away.
fn explain_transport(error: &(dyn std::error::Error + Send + Sync + 'static)) -> Option<String> {
    match error.downcast_ref::<std::io::Error>() {
        Some(_) => None,
        None => Some(http::explain(error)),
    }
}

async fn ended(program: Option<&Program>) -> Trouble {
    let Some(program) = program else { return Trouble::new("it has closed the connection") };
    Trouble::with(
        match program.how_it_ended(LAST_WORD).await {
            Some(how) => format!("its program has ended: {how}"),
            None => "its program has closed its output".to_owned(),
        },
        Some(program),
    )
}
