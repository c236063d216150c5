//! Arbitrary bytes against the MCP server, as a client would send them.
//!
//! Whatever comes, the server ends when the client does, and every line that it answered with is JSON.

#![no_main]

use std::sync::Arc;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use quipu_tool::mcp::{Answering, Asked, Introduction, ToolSet, serve};
use quipu_tool::{Answer, ToolSpec};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

struct Echo;

impl ToolSet for Echo {
    fn introduction(&self) -> Introduction {
        Introduction { name: "echo".to_owned(), instructions: None }
    }

    fn specs(&self) -> Vec<ToolSpec> {
        Vec::new()
    }

    fn call(&self, asked: Asked) -> Answering<'_> {
        Box::pin(async move {
            match asked.name.as_str() {
                "echo" => Answer::completed(asked.input),
                _ => Answer::failed("there is no such tool"),
            }
        })
    }
}

async fn feed(input: &[u8]) {
    let (near, far) = tokio::io::duplex(4096);
    let (reader, writer) = tokio::io::split(far);
    let serving = tokio::spawn(serve(Arc::new(Echo), reader, writer));
    let (mut from, mut to) = tokio::io::split(near);
    let input = input.to_vec();
    let sending = tokio::spawn(async move {
        // A server that has hung up needs no more.
        let _ = to.write_all(&input).await;
        let _ = to.shutdown().await;
    });
    let mut said = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(30), async {
        from.read_to_end(&mut said).await.expect("a duplex stream can be read");
        sending.await.expect("the client does not panic");
        let _ = serving.await.expect("the server does not panic");
    });
    ended.await.expect("the server ends with its client");
    let said = String::from_utf8(said).expect("answers are text");
    assert!(said.lines().all(|line| line.starts_with("{\"jsonrpc\":\"2.0\"")), "{said}");
}

fuzz_target!(|input: &[u8]| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime can be made").block_on(feed(input));
});
