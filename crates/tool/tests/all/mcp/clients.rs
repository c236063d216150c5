//! What a client that speaks MCP gets.

use std::sync::Arc;

use quipu_tool::mcp::serve;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ContentBlock,
    RequestMetaObject,
};
use rmcp::service::{PeerRequestOptions, RoleClient, RunningService};
use rmcp::{ServiceError, ServiceExt};
use serde_json::{Value, json};

use super::toolset::Tools;

type Client = RunningService<RoleClient, ()>;

async fn connected(tools: Arc<Tools>) -> Client {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(far);
    tokio::spawn(serve(tools, reader, writer));
    ().serve(near).await.unwrap()
}

pub(crate) fn asking(name: &str, arguments: Value) -> CallToolRequestParams {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    CallToolRequestParams::new(name.to_owned()).with_arguments(arguments)
}

pub(crate) fn text_of(result: &CallToolResult) -> String {
    let text = |block: &ContentBlock| block.as_text().map(|text| text.text.clone());
    result.content.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_client_sees_who_serves_and_every_tool() {
    let client = connected(Tools::new()).await;
    let server = client.peer_info().unwrap();
    assert_eq!(server.server_info.as_ref().unwrap().name, "trial");
    assert_eq!(server.instructions.as_deref(), Some("call echo first"));
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["echo", "wait", "panic", "fail", "block", "picture"]);
    let read_only = |at: usize| tools[at].annotations.as_ref().unwrap().read_only_hint;
    assert_eq!((read_only(0), read_only(1)), (Some(true), Some(false)));
}

#[tokio::test]
async fn answers_keep_their_blocks_their_structure_and_whether_they_are_errors() {
    let client = connected(Tools::new()).await;
    let cases = [
        ("echo", r#"{"n":1}"#, false),
        ("fail", "it did not work", true),
        ("block", "it is not allowed", true),
        ("panic", "the tool broke down", true),
        ("nobody", "there is no tool `nobody`", true),
    ];
    for (name, expected, is_error) in cases {
        let result = client.call_tool(asking(name, json!({"n": 1}))).await.unwrap();
        assert_eq!((text_of(&result).as_str(), result.is_error), (expected, Some(is_error)));
    }
    let result = client.call_tool(asking("picture", json!({}))).await.unwrap();
    assert!(matches!(result.content[0], ContentBlock::Image(_)), "{result:?}");
    assert_eq!(text_of(&result), r#"{"of":"coffee","type":"smell"}"#, "an unknown block is text");
    assert_eq!(result.structured_content, Some(json!({"pixels": 1})));
}

#[tokio::test]
async fn the_id_of_the_model_comes_with_the_call() {
    let tools = Tools::new();
    let client = connected(Arc::clone(&tools)).await;
    let mut meta = RequestMetaObject::new();
    meta.0.insert("claudecode/toolUseId".to_owned(), json!("toolu_7"));
    let mut params = asking("echo", json!({"a": [1, null]}));
    params.meta = Some(meta);
    client.call_tool(params).await.unwrap();
    client.call_tool(asking("echo", json!({}))).await.unwrap();
    let asked = tools.asked.lock().unwrap();
    assert_eq!(asked[0].tool_use_id.as_deref(), Some("toolu_7"));
    assert_eq!(asked[0].input, json!({"a": [1, null]}));
    assert_eq!(asked[1].tool_use_id, None);
}

#[tokio::test]
async fn calls_are_under_way_at_the_same_time() {
    let tools = Tools::new();
    let client = connected(Arc::clone(&tools)).await;
    let waiting: Vec<_> = (0..20)
        .map(|_| {
            let peer = client.peer().clone();
            tokio::spawn(async move { peer.call_tool(asking("wait", json!({}))).await })
        })
        .collect();
    tools.until(&tools.begun, 20).await;
    let echoed = client.call_tool(asking("echo", json!({}))).await.unwrap();
    assert_eq!(text_of(&echoed), "{}");
    tools.go.notify_waiters();
    for waiting in waiting {
        assert_eq!(text_of(&waiting.await.unwrap().unwrap()), "waited");
    }
}

#[tokio::test]
async fn a_call_that_its_client_cancels_is_dropped() {
    let tools = Tools::new();
    let client = connected(Arc::clone(&tools)).await;
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(asking("wait", json!({}))));
    let options = PeerRequestOptions::no_options();
    let waiting = client.send_cancellable_request(request, options).await.unwrap();
    tools.until(&tools.begun, 1).await;
    waiting.cancel(Some("enough".to_owned())).await.unwrap();
    tools.until(&tools.given_up, 1).await;
    let echoed = client.call_tool(asking("echo", json!({}))).await.unwrap();
    assert_eq!(text_of(&echoed), "{}", "the connection goes on");
}

#[tokio::test]
async fn the_calls_of_a_connection_that_is_dropped_are_dropped() {
    let tools = Tools::new();
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(far);
    let set: Arc<Tools> = Arc::clone(&tools);
    let serving = tokio::spawn(serve(set, reader, writer));
    let client = ().serve(near).await.unwrap();
    let peer = client.peer().clone();
    let waiting = tokio::spawn(async move { peer.call_tool(asking("wait", json!({}))).await });
    tools.until(&tools.begun, 1).await;
    serving.abort();
    tools.until(&tools.given_up, 1).await;
    let ended: Result<_, ServiceError> = waiting.await.unwrap();
    assert!(ended.is_err(), "{ended:?}");
}
