//! Plugins that others have written: the reference servers of the protocol, where they are installed.
//!
//! `QUIPU_MCP_SERVERS_DIR` names the directory they were installed into (`node agents/plugins.mjs`).
//! Without it nothing is tested here, which is said loudly.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use quipu_tool::plugin::{PluginConfig, PluginTransport, Plugins};
use quipu_tool::{Answer, Call, CallContext, Router};
use serde_json::{Value, json};

use crate::witness::{Seen, step};

/// Longer than a server takes to come up on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Returns where a server's program is, unless none are installed.
fn server(name: &str) -> Option<String> {
    let Some(dir) = std::env::var_os("QUIPU_MCP_SERVERS_DIR").map(PathBuf::from) else {
        // Past the capture of the test's output: nobody reads that of a test that passes.
        let _ = writeln!(
            std::io::stderr(),
            "!! {name} is not tested: QUIPU_MCP_SERVERS_DIR does not say where it is installed"
        );
        return None;
    };
    let program = dir.join("node_modules/.bin").join(name);
    assert!(program.exists(), "{} is not there", program.display());
    Some(program.to_str().unwrap().to_owned())
}

struct Run {
    plugins: Plugins,
    router: Router,
    context: CallContext,
    seen: Arc<Seen>,
}

impl Run {
    async fn new(transport: PluginTransport) -> Run {
        let config = PluginConfig::new("theirs", transport);
        let config = PluginConfig { timeout: PATIENCE, start_timeout: PATIENCE, ..config };
        let (context, seen) = step();
        let plugins = Plugins::new(vec![config]);
        let mut router = Router::default();
        for tool in plugins.tools("theirs", &context).await.unwrap() {
            router.register(tool).unwrap();
        }
        Run { plugins, router, context, seen }
    }

    async fn call(&self, name: &str, input: Value) -> Answer {
        let call = Call { name: name.to_owned(), input, call_id: None, timeout: None };
        self.router.call(call, &self.context).await
    }

    fn events(&self, kind: &str) -> usize {
        self.seen.all().iter().filter(|(other, _, _)| other == kind).count()
    }
}

fn stdio(command: Vec<String>) -> PluginTransport {
    PluginTransport::Stdio { command, env: Default::default(), dir: None }
}

#[tokio::test]
async fn the_server_for_everything_is_a_plugin() {
    let Some(program) = server("mcp-server-everything") else { return };
    let run = Run::new(stdio(vec![program, "stdio".to_owned()])).await;
    let answer = run.call("theirs_echo", json!({ "message": "hello" })).await;
    assert_eq!(answer.output, "Echo: hello", "{answer:?}");
    let answer = run.call("theirs_echo", json!({})).await;
    assert!(!answer.is_completed(), "{answer:?}");
    let answer = run.call("theirs_get-structured-content", json!({ "location": "New York" })).await;
    assert!(answer.is_completed() && answer.shown().structured.is_some(), "{answer:?}");
    let answer = run.call("theirs_get-tiny-image", json!({})).await;
    let kinds: Vec<_> = answer.shown().content.iter().map(|block| block["type"].clone()).collect();
    assert!(kinds.contains(&json!("image")), "{kinds:?}");
    let slow = json!({ "duration": 1, "steps": 4 });
    let answer = run.call("theirs_trigger-long-running-operation", slow).await;
    assert!(answer.is_completed(), "{answer:?}");
    assert_eq!((run.events("tool.call"), run.events("tool.result")), (5, 5));
    run.plugins.close().await;
    assert!(run.seen.facts("plugin_failed").is_empty(), "{:?}", run.seen.all());
}

#[tokio::test]
async fn the_server_for_files_is_a_plugin() {
    let Some(program) = server("mcp-server-filesystem") else { return };
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::fs::write(root.join("a.txt"), "what is in it\n").unwrap();
    let run = Run::new(stdio(vec![program, root.to_str().unwrap().to_owned()])).await;
    let answer = run.call("theirs_read_text_file", json!({ "path": root.join("a.txt") })).await;
    assert!(answer.text().contains("what is in it"), "{answer:?}");
    let answer = run.call("theirs_read_text_file", json!({ "path": "/etc/passwd" })).await;
    assert!(!answer.is_completed() && answer.error.is_some(), "{answer:?}");
    let spec = run.router.specs().find(|spec| spec.name == "theirs_read_text_file").unwrap();
    assert!(spec.is_read_only && spec.provider == "mcp:theirs");
    run.plugins.close().await;
}

#[tokio::test]
async fn the_server_for_everything_is_a_plugin_over_http_and_may_be_started_anew() {
    let Some(program) = server("mcp-server-everything") else { return };
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let serve = async || {
        let mut command = tokio::process::Command::new(&program);
        command.arg("streamableHttp").env("PORT", port.to_string()).kill_on_drop(true);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let served = command.spawn().unwrap();
        let up = async {
            while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(PATIENCE, up).await.unwrap();
        served
    };
    let mut served = serve().await;
    let url = format!("http://127.0.0.1:{port}/mcp");
    let run = Run::new(PluginTransport::Http { url, headers: Default::default() }).await;
    let hello = json!({ "message": "hello" });
    assert_eq!(run.call("theirs_echo", hello.clone()).await.output, "Echo: hello");
    served.kill().await.unwrap();
    let answer = run.call("theirs_echo", hello.clone()).await;
    assert!(answer.error.as_deref().is_some_and(|error| error.contains("reached")), "{answer:?}");
    let mut served = serve().await;
    assert_eq!(run.call("theirs_echo", hello.clone()).await.output, "Echo: hello");
    // Nobody asks while it is away this time, so nobody knows that the session is lost.
    served.kill().await.unwrap();
    let _served = serve().await;
    assert_eq!(run.call("theirs_echo", hello).await.output, "Echo: hello");
    run.plugins.close().await;
}
