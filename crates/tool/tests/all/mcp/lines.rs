//! What a client gets that sends lines of its own making.

use std::sync::Arc;

use quipu_tool::mcp::{LONGEST_MESSAGE, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

use super::toolset::Tools;

pub(crate) const HELLO: &str = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

/// A connection that any bytes can be sent over.
pub(crate) struct Line {
    to: WriteHalf<DuplexStream>,
    from: BufReader<ReadHalf<DuplexStream>>,
}

impl Line {
    pub(crate) fn open(tools: Arc<Tools>) -> (Line, tokio::task::JoinHandle<std::io::Result<()>>) {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(far);
        let serving = tokio::spawn(serve(tools, reader, writer));
        let (from, to) = tokio::io::split(near);
        (Line { to, from: BufReader::new(from) }, serving)
    }

    pub(crate) async fn say(&mut self, bytes: &[u8]) {
        // A server that has hung up hears nothing, which the answers show.
        let _ = self.to.write_all(bytes).await;
        let _ = self.to.write_all(b"\n").await;
    }

    pub(crate) async fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.from.read_line(&mut line).await.unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }
}

#[tokio::test]
async fn what_is_no_message_is_answered_with_an_error_and_the_connection_goes_on() {
    let cases: [(&[u8], i64, Value); 14] = [
        (b"garbage", -32700, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,", -32700, Value::Null),
        (b"\xff\xfe\x00", -32700, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", -32700, Value::Null),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600, Value::Null),
        (b"[]", -32600, Value::Null),
        (b"17", -32600, Value::Null),
        (b"{\"foo\":1}", -32600, Value::Null),
        (b"{\"jsonrpc\":\"1.0\",\"id\":3,\"method\":\"ping\"}", -32600, json!(3)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"no/such\"}", -32601, json!(4)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\"}", -32602, json!(5)),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"tools/call\",\"params\":{\"name\":7}}",
            -32602,
            json!(6),
        ),
        (b"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"logging/setLevel\",\"params\":{\"level\":\"info\"}}", -32601, json!(8)),
    ];
    let (mut line, _serving) = Line::open(Tools::new());
    line.say(HELLO.as_bytes()).await;
    assert_eq!(line.hear().await.unwrap()["result"]["protocolVersion"], "2025-06-18");
    for (said, code, id) in cases {
        line.say(said).await;
        let heard = line.hear().await.unwrap();
        let said = String::from_utf8_lossy(said);
        assert_eq!((&heard["error"]["code"], &heard["id"]), (&json!(code), &id), "{said}: {heard}");
    }
    line.say(br#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#).await;
    assert_eq!(line.hear().await.unwrap(), json!({"jsonrpc": "2.0", "id": 9, "result": {}}));
}

#[tokio::test]
async fn before_it_is_introduced_a_client_is_told_so_and_may_still_begin() {
    let (mut line, _serving) = Line::open(Tools::new());
    line.say(b"garbage").await;
    assert_eq!(line.hear().await.unwrap()["error"]["code"], -32700);
    line.say(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#).await;
    line.say(br#"{"jsonrpc":"2.0","id":44,"result":{}}"#).await;
    line.say(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    let heard = line.hear().await.unwrap();
    assert_eq!((&heard["id"], heard["error"].is_object()), (&json!(1), true), "{heard}");
    line.say(br#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await;
    assert_eq!(line.hear().await.unwrap()["result"], json!({}));
    line.say(HELLO.as_bytes()).await;
    assert_eq!(line.hear().await.unwrap()["result"]["serverInfo"]["name"], "trial");
}

#[tokio::test]
async fn every_known_version_is_spoken_and_an_unknown_one_is_answered_with_ours() {
    for (asked, expected) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("3000-01-01", "2025-11-25"),
    ] {
        let (mut line, _serving) = Line::open(Tools::new());
        line.say(HELLO.replace("2025-06-18", asked).as_bytes()).await;
        let heard = line.hear().await.unwrap();
        assert_eq!(heard["result"]["protocolVersion"], expected, "{asked}: {heard}");
    }
}

#[tokio::test]
async fn a_message_that_is_too_long_is_refused_and_the_connection_ends() {
    let (mut line, serving) = Line::open(Tools::new());
    line.say(HELLO.as_bytes()).await;
    line.hear().await.unwrap();
    let Line { mut to, from } = line;
    let sending = tokio::spawn(async move { to.write_all(&vec![b'x'; LONGEST_MESSAGE + 1]).await });
    let mut from = from;
    let mut told = String::new();
    from.read_line(&mut told).await.unwrap();
    assert!(told.contains("-32600") && told.contains("longer than 16777216 bytes"), "{told}");
    let cause = serving.await.unwrap().unwrap_err();
    assert_eq!(cause.kind(), std::io::ErrorKind::InvalidData);
    assert!(sending.await.unwrap().is_err() || from.read_line(&mut told).await.unwrap() == 0);
}

#[tokio::test]
async fn an_id_that_is_in_use_is_refused() {
    let tools = Tools::new();
    let (mut line, _serving) = Line::open(Arc::clone(&tools));
    line.say(HELLO.as_bytes()).await;
    line.hear().await.unwrap();
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}"#;
    line.say(call).await;
    tools.until(&tools.begun, 1).await;
    line.say(call).await;
    assert_eq!(line.hear().await.unwrap()["error"]["code"], -32600);
    tools.go.notify_waiters();
    assert_eq!(line.hear().await.unwrap()["result"]["content"][0]["text"], "waited");
}
