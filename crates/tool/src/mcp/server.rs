//! Tools as an MCP server. It calls no tool itself: a [`ToolSet`] does.

use std::io;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, Implementation, JsonObject, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, ToolAnnotations,
};
use rmcp::service::{QuitReason, RequestContext, ServerInitializeError, serve_server};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

use super::model_id::tool_use_id;
use super::wire::Wire;
use super::{Asked, Introduction, ToolSet};
use crate::{Answer, ToolSpec};

/// Serves tools over a pair of streams until the client is gone. Calls may be under way at the same time.
///
/// A call that the client cancels is dropped. Dropping the future ends the connection.
///
/// # Errors
///
/// Fails when the streams do, or when the client does not speak MCP.
pub async fn serve<R, W>(tools: Arc<dyn ToolSet>, reader: R, writer: W) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let server = Server { introduction: tools.introduction(), tools };
    let (wire, ended) = Wire::open(reader, writer);
    let quit = match serve_server(server, wire).await {
        Ok(running) => running.waiting().await,
        // A client that leaves before it has said anything is no failure.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(QuitReason::Closed),
        Err(cause) => return Err(io::Error::new(io::ErrorKind::InvalidData, cause)),
    };
    match quit {
        Ok(QuitReason::JoinError(cause)) | Err(cause) => Err(io::Error::other(cause)),
        // Whoever was still reading has been stopped, and has nothing to say.
        Ok(_) => ended.await.unwrap_or(Ok(())),
    }
}

struct Server {
    tools: Arc<dyn ToolSet>,
    introduction: Introduction,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let Introduction { name, instructions } = &self.introduction;
        let config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(name, env!("CARGO_PKG_VERSION")));
        match instructions {
            Some(instructions) => config.with_instructions(instructions),
            None => config,
        }
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = Arc::clone(&self.tools);
        let specs = isolated(async move { tools.specs() }).await;
        let specs = specs.map_err(|told| ErrorData::internal_error(told, None))?;
        Ok(ListToolsResult::with_all_items(specs.into_iter().map(described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let asked = Asked {
            name: request.name.into_owned(),
            input: Value::Object(request.arguments.unwrap_or_default()),
            tool_use_id: tool_use_id(&context.meta),
        };
        let tools = Arc::clone(&self.tools);
        tokio::select! {
            biased;
            () = context.ct.cancelled() => Err(ErrorData::internal_error("canceled", None)),
            answer = isolated(async move { tools.call(asked).await }) => {
                Ok(result(&answer.unwrap_or_else(Answer::failed)).into())
            }
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // The SDK takes a request that it knows, but whose parameters it cannot read, for a custom one.
        let method = request.method;
        match method.as_str() {
            "initialize" | "tools/call" | "tools/list" => {
                Err(ErrorData::invalid_params(format!("{method} cannot be called like that"), None))
            }
            _ => {
                let told = format!("there is no method `{method}`");
                Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, told, None))
            }
        }
    }
}

/// Waits for work that may panic. Dropping the future drops the work.
async fn isolated<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, String> {
    let mut tasks = JoinSet::new();
    tasks.spawn(work);
    match tasks.join_next().await {
        Some(Ok(done)) => Ok(done),
        Some(Err(_)) | None => Err("the tool broke down".to_owned()),
    }
}

fn described(spec: ToolSpec) -> rmcp::model::Tool {
    let schema = match spec.input_schema {
        Value::Object(schema) => schema,
        // A client refuses the whole list over one tool without a schema.
        _ => JsonObject::from_iter([("type".to_owned(), Value::from("object"))]),
    };
    let hints = ToolAnnotations::new().read_only(spec.is_read_only);
    rmcp::model::Tool::new(spec.name, spec.description, schema).with_annotations(hints)
}

fn result(answer: &Answer) -> CallToolResult {
    let shown = answer.shown();
    let content = shown.content.into_iter().map(block).collect();
    let mut result = match answer.is_completed() {
        true => CallToolResult::success(content),
        false => CallToolResult::error(content),
    };
    // Clients of all versions but the newest refuse anything else.
    result.structured_content = shown.structured.filter(Value::is_object);
    result
}

fn block(block: Value) -> ContentBlock {
    let text = block.to_string();
    serde_json::from_value(block).unwrap_or_else(|_| ContentBlock::text(text))
}
