//! An API on loopback that gives the answers it was told to give, one a request.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// An answer.
#[derive(Clone)]
pub(crate) enum Answer {
    /// A status, headers and a body.
    Plain(u16, &'static str, String),
    /// Server-sent events, one a piece; then the end.
    Events(Vec<String>),
    /// The same, and then nothing, for good.
    EventsThenSilence(Vec<String>),
    /// The same, and then a connection that breaks.
    EventsThenBreak(Vec<String>),
    /// The connection is closed without a word.
    Nothing,
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// The server.
pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Starts a server. What is asked beyond the last answer gets the last one again.
    pub(crate) async fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (seen, answers) = (requests.clone(), Arc::new(Mutex::new(VecDeque::from(answers))));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, seen.clone(), answers.clone()));
            }
        });
        Server { url, requests }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: Arc<Mutex<Vec<Request>>>,
    answers: Arc<Mutex<VecDeque<Answer>>>,
) {
    let request = read(&mut stream).await;
    seen.lock().unwrap().push(request);
    let answer = {
        let mut answers = answers.lock().unwrap();
        match answers.len() {
            1 => answers[0].clone(),
            _ => answers.pop_front().unwrap(),
        }
    };
    let (events, silence, breaks) = match answer {
        Answer::Nothing => return,
        Answer::Plain(status, headers, body) => {
            let length = body.len();
            let text = format!(
                "HTTP/1.1 {status} Some\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
            );
            stream.write_all(text.as_bytes()).await.unwrap();
            return;
        }
        Answer::Events(events) => (events, false, false),
        Answer::EventsThenSilence(events) => (events, true, false),
        Answer::EventsThenBreak(events) => (events, false, true),
    };
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    for event in events {
        let event = format!("data: {event}\n\n");
        let chunk = format!("{:x}\r\n{event}\r\n", event.len());
        // Whoever asked may have gone.
        if stream.write_all(chunk.as_bytes()).await.is_err() {
            return;
        }
    }
    if silence {
        std::future::pending::<()>().await;
    }
    if !breaks {
        stream.write_all(b"0\r\n\r\n").await.unwrap();
    }
}

async fn read(stream: &mut TcpStream) -> Request {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let read = stream.read(&mut buffer).await.unwrap();
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse::<usize>().unwrap())
        });
        if body.len() >= length.unwrap_or(0) {
            let body = serde_json::from_str(body).unwrap_or(Value::Null);
            return Request { head: head.to_owned(), body };
        }
    }
}

/// Returns the events of an answer that says `text` in pieces.
pub(crate) fn saying(text: &[&str]) -> Vec<String> {
    let mut events: Vec<String> = text
        .iter()
        .map(|piece| chunk(&json!({ "role": "assistant", "content": piece }), None))
        .collect();
    events.push(chunk(&json!({}), Some("stop")));
    events.extend(ending());
    events
}

/// Returns the events of an answer that asks for tools.
pub(crate) fn calling(calls: &[(&str, &str, &str)]) -> Vec<String> {
    let calls = calls.iter().enumerate().map(|(index, (id, name, arguments))| {
        let function = json!({ "name": name, "arguments": arguments });
        json!({ "index": index, "id": id, "type": "function", "function": function })
    });
    let calls: Vec<Value> = calls.collect();
    let mut events =
        vec![chunk(&json!({ "role": "assistant", "content": null, "tool_calls": calls }), None)];
    events.push(chunk(&json!({}), Some("tool_calls")));
    events.extend(ending());
    events
}

pub(crate) fn chunk(delta: &Value, finish: Option<&str>) -> String {
    json!({
        "id": "chat-1", "object": "chat.completion.chunk", "created": 1_700_000_000,
        "model": "small-1",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
    })
    .to_string()
}

fn ending() -> [String; 2] {
    let usage = json!({
        "id": "chat-1", "object": "chat.completion.chunk", "created": 1_700_000_000,
        "model": "small-1", "choices": [],
        "usage": { "prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25 },
    });
    [usage.to_string(), "[DONE]".to_owned()]
}
