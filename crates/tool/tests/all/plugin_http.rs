//! Plugins that are servers: MCP over streamable HTTP, spoken by hand on loopback.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use quipu_tool::plugin::{PluginConfig, PluginTransport, Plugins};
use quipu_tool::{Answer, CallContext};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::witness::{Seen, step};

/// How the server answers calls of tools; it does everything else well.
#[derive(Clone, Copy, PartialEq)]
enum Mood {
    Json,
    Stream,
    /// Says in words, and not by the status alone, that it does not know a session.
    Wordy,
    /// Refuses everything with this status.
    Refuses(&'static str),
    /// Answers calls with something that is no JSON.
    Garbage,
    /// Never answers a call.
    Hangs,
}

/// A server on loopback, until it is dropped.
struct Server {
    address: SocketAddr,
    /// The heads of all requests, each with its body.
    heard: Arc<Mutex<Vec<String>>>,
    serving: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Server {
    async fn start(mood: Mood) -> Server {
        Server::start_at("127.0.0.1:0".parse().unwrap(), mood).await
    }

    async fn start_at(address: SocketAddr, mood: Mood) -> Server {
        // The sessions of a server that was started before are none of this one's.
        static SERVERS: AtomicUsize = AtomicUsize::new(0);
        let session = format!("session-{}", SERVERS.fetch_add(1, Ordering::SeqCst));
        let listener = loop {
            match TcpListener::bind(address).await {
                Ok(listener) => break listener,
                // One that was dropped is gone a moment later.
                Err(_) if address.port() != 0 => {
                    tokio::time::sleep(Duration::from_millis(10)).await
                }
                Err(cause) => panic!("{cause}"),
            }
        };
        let address = listener.local_addr().unwrap();
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let serving = tokio::spawn(serve(listener, mood, session, Arc::clone(&heard)));
        Server { address, heard, serving }
    }

    fn plugin(&self) -> PluginConfig {
        let url = format!("http://user:pass-word@{}/mcp?key=query-key", self.address);
        let headers = [("X-Api-Key".to_owned(), "header-key".to_owned())].into();
        PluginConfig::new("web", PluginTransport::Http { url, headers })
    }
}

async fn serve(listener: TcpListener, mood: Mood, session: String, heard: Arc<Mutex<Vec<String>>>) {
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(converse(stream, mood, session.clone(), Arc::clone(&heard)));
    }
}

async fn converse(stream: TcpStream, mood: Mood, session: String, heard: Arc<Mutex<Vec<String>>>) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if stream.read_line(&mut head).await.unwrap_or(0) == 0 {
                return;
            }
        }
        let lower = head.to_lowercase();
        let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        stream.read_exact(&mut body).await.unwrap();
        heard.lock().unwrap().push(format!("{head}{}", String::from_utf8_lossy(&body)));
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let has_session = lower.contains(&format!("mcp-session-id: {session}"));
        let answer = match mood {
            Mood::Refuses(status) => plain(status, "text/plain", "go away", ""),
            _ if !head.starts_with("POST") => plain("405 Method Not Allowed", "text/plain", "", ""),
            Mood::Wordy if message["method"] != "initialize" && !has_session => {
                let error = json!({ "code": -32000, "message": "No valid session ID provided" });
                let error = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
                plain("400 Bad Request", "application/json", &error.to_string(), "")
            }
            _ if message["method"] != "initialize" && !has_session => {
                plain("404 Not Found", "text/plain", "no such session", "")
            }
            mood => reply(&message, mood, &session),
        };
        if answer.is_empty() {
            std::future::pending::<()>().await;
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
    }
}

fn reply(message: &Value, mood: Mood, session: &str) -> String {
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "by hand", "version": "1" },
        }),
        "tools/list" => {
            json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] })
        }
        "tools/call" if mood == Mood::Hangs => return String::new(),
        "tools/call" if mood == Mood::Garbage => {
            return plain("200 OK", "application/json", "<html>", "");
        }
        "tools/call" => {
            let text = message["params"]["arguments"].to_string();
            json!({ "content": [{ "type": "text", "text": text }] })
        }
        "ping" => json!({}),
        _ => return plain("202 Accepted", "text/plain", "", ""),
    };
    let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string();
    let session = format!("Mcp-Session-Id: {session}\r\n");
    match mood {
        Mood::Stream => {
            let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress",
                "params": { "progressToken": 0, "progress": 1 } });
            let events = format!("event: message\ndata: {progress}\n\ndata: {answer}\n\n");
            plain("200 OK", "text/event-stream", &events, &session)
        }
        _ => plain("200 OK", "application/json", &answer, &session),
    }
}

fn plain(status: &str, kind: &str, body: &str, more: &str) -> String {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n");
    format!("{head}{more}\r\n{body}")
}

/// A run with one plugin, `web`.
struct Run {
    plugins: Plugins,
    context: CallContext,
    seen: Arc<Seen>,
}

impl Run {
    fn new(config: PluginConfig) -> Run {
        let (context, seen) = step();
        Run { plugins: Plugins::new(vec![config]), context, seen }
    }

    async fn call(&self) -> Answer {
        let tool = self.plugins.tool("web", "echo", &self.context).await.unwrap();
        tool.call(json!({ "a": 1 }), &self.context).await
    }

    async fn echoes(&self) {
        let answer = self.call().await;
        assert_eq!(answer.output, r#"{"a":1}"#, "{answer:?}");
    }
}

#[tokio::test]
async fn a_server_answers_at_once_or_in_a_stream() {
    for mood in [Mood::Json, Mood::Stream] {
        let server = Server::start(mood).await;
        let run = Run::new(server.plugin());
        run.echoes().await;
        run.echoes().await;
        assert_eq!(run.seen.subtypes(), ["plugin_started"]);
        let started = &run.seen.facts("plugin_started")[0];
        assert_eq!(started["transport"], format!("http://{}/mcp", server.address));
        assert_eq!(started["server"], "by hand");
        let heard = server.heard.lock().unwrap().clone();
        assert!(
            heard.iter().all(|request| request.to_lowercase().contains("x-api-key: header-key"))
        );
        run.plugins.close().await;
        assert_eq!(run.seen.subtypes(), ["plugin_started", "plugin_stopped"]);
    }
}

#[tokio::test]
async fn a_server_that_refuses_is_told_with_its_status_and_without_secrets() {
    for status in
        ["401 Unauthorized", "403 Forbidden", "404 Not Found", "500 Internal Server Error"]
    {
        let server = Server::start(Mood::Refuses(status)).await;
        let run = Run::new(server.plugin());
        let error = run.plugins.tools("web", &run.context).await.err().unwrap().to_string();
        assert!(error.contains(&status[..3]), "{status}: {error}");
        let error = run.call().await.error.unwrap();
        assert!(error.contains(&status[..3]), "{status}: {error}");
        let told = format!("{:?} {error}", run.seen.all());
        for secret in ["pass-word", "query-key", "header-key"] {
            assert!(!told.contains(secret), "{secret}: {told}");
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_fails_the_call_and_is_tried_again() {
    let server = Server::start(Mood::Json).await;
    let (address, config) = (server.address, server.plugin());
    drop(server);
    let run = Run::new(config);
    let error = run.call().await.error.unwrap();
    assert!(error.contains("it cannot be reached: Connection refused"), "{error}");
    let told = format!("{error} {:?}", run.seen.all());
    assert!(!told.contains("pass-word") && !told.contains("query-key"), "{told}");
    let _server = Server::start_at(address, Mood::Json).await;
    run.echoes().await;
}

#[tokio::test]
async fn a_server_that_starts_anew_is_greeted_anew() {
    for mood in [Mood::Json, Mood::Wordy] {
        let server = Server::start(mood).await;
        let address = server.address;
        let run = Run::new(server.plugin());
        run.echoes().await;
        drop(server);
        let server = Server::start_at(address, mood).await;
        // A connection that was open is closed only now, which may cost one call.
        if !run.call().await.is_completed() {
            run.echoes().await;
        }
        run.echoes().await;
        let heard = server.heard.lock().unwrap().clone();
        let greetings = heard.iter().filter(|request| request.contains("\"initialize\""));
        assert_eq!(greetings.count(), 1, "{heard:?}");
    }
}

#[tokio::test]
async fn a_server_that_answers_garbage_or_nothing_fails_its_call_only() {
    for mood in [Mood::Garbage, Mood::Hangs] {
        let server = Server::start(mood).await;
        let timeout = match mood {
            Mood::Hangs => Duration::from_millis(300),
            _ => PluginConfig::TIMEOUT,
        };
        let run = Run::new(PluginConfig { timeout, ..server.plugin() });
        let error = run.call().await.error.unwrap();
        match mood {
            Mood::Hangs => assert_eq!(error, "timed out after 300ms"),
            _ => assert!(error.contains("<html>"), "{error}"),
        }
        run.plugins.tools("web", &run.context).await.unwrap();
    }
}

#[tokio::test]
async fn an_address_that_is_none_is_told() {
    for (url, why) in
        [("nonsense", "its url cannot be read"), ("ftp://x/", "neither http nor https")]
    {
        let transport = PluginTransport::Http { url: url.to_owned(), headers: Default::default() };
        let run = Run::new(PluginConfig::new("web", transport));
        let error = run.call().await.error.unwrap();
        assert!(error.contains(why), "{error}");
    }
}
