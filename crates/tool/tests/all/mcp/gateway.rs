//! The private socket, and the way to it.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use quipu_tool::mcp::{Gateway, forward};
use rmcp::ServiceExt;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::net::UnixStream;
use tokio::task::JoinHandle;

use super::clients::{asking, text_of};
use super::toolset::Tools;

/// Begins to forward to a gateway, and returns the client's end.
fn carried(gateway: &Gateway) -> (DuplexStream, JoinHandle<std::io::Result<()>>) {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(far);
    let socket = gateway.socket().to_owned();
    (near, tokio::spawn(async move { forward(&socket, reader, writer).await }))
}

#[tokio::test]
async fn nobody_else_can_enter() {
    let gateway = Gateway::open(Tools::new()).await.unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(gateway.socket()), 0o600);
    assert_eq!(mode(gateway.socket().parent().unwrap()), 0o700);
    assert!(gateway.socket().as_os_str().len() < 108);
}

#[tokio::test]
async fn several_clients_call_through_the_socket_at_once() {
    let tools = Tools::new();
    let gateway = Gateway::open(Arc::<Tools>::clone(&tools)).await.unwrap();
    let (waiting_end, _) = carried(&gateway);
    let waiting = ().serve(waiting_end).await.unwrap();
    let peer = waiting.peer().clone();
    let open = tokio::spawn(async move { peer.call_tool(asking("wait", json!({}))).await });
    tools.until(&tools.begun, 1).await;
    for n in 0..5 {
        let (end, forwarding) = carried(&gateway);
        let client = ().serve(end).await.unwrap();
        let result = client.call_tool(asking("echo", json!({"n": n}))).await.unwrap();
        assert_eq!(text_of(&result), json!({"n": n}).to_string());
        client.cancel().await.unwrap();
        forwarding.await.unwrap().unwrap();
    }
    tools.go.notify_waiters();
    assert_eq!(text_of(&open.await.unwrap().unwrap()), "waited");
}

#[tokio::test]
async fn what_was_asked_before_the_reader_ended_is_answered() {
    let gateway = Gateway::open(Tools::new()).await.unwrap();
    let asked = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\
        \"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\
        \"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n\
        {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}}\n";
    let (mut said, writer) = tokio::io::duplex(64 * 1024);
    forward(gateway.socket(), asked.as_bytes(), writer).await.unwrap();
    let mut text = String::new();
    said.read_to_string(&mut text).await.unwrap();
    assert!(text.contains("\"protocolVersion\":\"2025-06-18\""), "{text}");
    assert!(text.contains("\"id\":2,\"result\":{\"content\""), "{text}");
}

#[tokio::test]
async fn a_gateway_that_is_dropped_ends_its_connections_and_leaves_nothing() {
    let tools = Tools::new();
    let gateway = Gateway::open(Arc::<Tools>::clone(&tools)).await.unwrap();
    let socket = gateway.socket().to_owned();
    let (end, forwarding) = carried(&gateway);
    let client = ().serve(end).await.unwrap();
    let peer = client.peer().clone();
    let open = tokio::spawn(async move { peer.call_tool(asking("wait", json!({}))).await });
    tools.until(&tools.begun, 1).await;
    drop(gateway);
    forwarding.await.unwrap().unwrap();
    assert!(open.await.unwrap().is_err());
    tools.until(&tools.given_up, 1).await;
    assert!(!socket.parent().unwrap().exists());
    let (reader, writer) = tokio::io::split(tokio::io::duplex(64).0);
    let nobody = forward(&socket, reader, writer).await.unwrap_err();
    assert!(nobody.to_string().contains("the run that offered these tools is over"), "{nobody}");
}

#[tokio::test]
async fn a_client_that_says_nothing_keeps_nobody_else_waiting() {
    let gateway = Gateway::open(Tools::new()).await.unwrap();
    let mut silent = UnixStream::connect(gateway.socket()).await.unwrap();
    silent.write_all(b"{\"jsonrpc\":").await.unwrap();
    let (end, _) = carried(&gateway);
    let client = ().serve(end).await.unwrap();
    let result = client.call_tool(asking("echo", json!({}))).await.unwrap();
    assert_eq!(text_of(&result), "{}");
}
