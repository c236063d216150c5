//! `quipu mcp` and `quipu mcp-serve`, through a real client on their standard streams.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use quipu_tool::mcp::{Answering, Asked, Gateway, Introduction, ToolSet};
use quipu_tool::{Answer, ToolSpec};
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock};
use rmcp::service::{RoleClient, RunningService};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use super::session::{QUIPU, Session};

/// A client that is connected to a `quipu` that it started.
struct Client {
    service: RunningService<RoleClient, ()>,
    child: Child,
}

impl Client {
    async fn of(session: &Session, arguments: &[&str]) -> Client {
        let mut command = Command::from(session.command(QUIPU));
        command.args(arguments).kill_on_drop(true);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let streams = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        Client { service: ().serve(streams).await.unwrap(), child }
    }

    async fn call(&self, name: &str, arguments: Value) -> CallToolResult {
        let arguments = arguments.as_object().cloned().unwrap();
        let asked = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        self.service.call_tool(asked).await.unwrap()
    }

    async fn text(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await;
        assert_eq!(result.is_error, Some(false), "{result:?}");
        text_of(&result)
    }

    async fn error(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await;
        assert_eq!(result.is_error, Some(true), "{result:?}");
        text_of(&result)
    }

    /// Closes the streams, after which it must end well.
    async fn leave(mut self) {
        self.service.cancel().await.unwrap();
        assert_eq!(self.child.wait().await.unwrap().code(), Some(0));
    }
}

fn text_of(result: &CallToolResult) -> String {
    let text = |block: &ContentBlock| block.as_text().map(|text| text.text.clone());
    result.content.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

/// Records a run with a long text, and one with a message and a step.
fn recorded() -> Session {
    let session = Session::new();
    let message = |text: &str| {
        let content = json!([{"type": "text", "fidelity": "agent_emitted", "text": text}]);
        json!({"type": "message.assistant", "path": "build", "payload": {"role": "assistant", "blocks": content}})
            .to_string()
    };
    let step = |kind: &str, status: Value| {
        let payload = json!({"name": "build", "kind": "command", "attempt": 1, "status": status});
        json!({"type": kind, "path": "build", "payload": payload}).to_string()
    };
    let lines = [
        step("step.started", Value::Null),
        message("The Quick brown fox"),
        message(&"long ".repeat(60_000)),
        message("the end"),
        step("step.completed", json!("succeeded")),
    ];
    let input = lines.join("\n") + "\n";
    let arguments = ["record", "--name", "first", "--id", "aaaa1111"];
    assert_eq!(session.quipu_with_input(&arguments, &input).code, Some(0));
    let many: Vec<String> =
        (0..200).map(|n| message(&format!("line {n} {}", "x".repeat(900)))).collect();
    let arguments = ["record", "--name", "second", "--id", "bbbb2222"];
    assert_eq!(session.quipu_with_input(&arguments, many.join("\n") + "\n").code, Some(0));
    session
}

#[tokio::test]
async fn an_agent_finds_reads_and_searches_runs() {
    let session = recorded();
    let client = Client::of(&session, &["mcp"]).await;
    let server = client.service.peer_info().unwrap();
    assert!(server.instructions.as_ref().unwrap().contains("list_runs"), "{server:?}");
    let tools = client.service.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["list_runs", "read_run", "run_tree", "search", "run_stats"]);

    let listed = client.call("list_runs", json!({})).await;
    let runs = listed.structured_content.unwrap();
    assert_eq!((&runs["runs"][0]["run_id"], &runs["total"]), (&json!("bbbb2222"), &json!(2)));
    let listed =
        client.call("list_runs", json!({"name": "FIRST", "since": "1d", "limit": 1})).await;
    assert_eq!(listed.structured_content.unwrap()["runs"][0]["name"], "first");
    let wrong = client.error("list_runs", json!({"status": "done"})).await;
    assert!(wrong.contains("expected one of running, interrupted, succeeded"), "{wrong}");
    let newest = client.text("list_runs", json!({"limit": 1})).await;
    assert!(newest.contains("bbbb2222") && newest.contains("continue with offset 1"), "{newest}");
    let older = client.call("list_runs", json!({"offset": 1})).await.structured_content.unwrap();
    assert_eq!(
        (&older["runs"][0]["run_id"], &older["next_offset"]),
        (&json!("aaaa1111"), &Value::Null)
    );

    let text = client.text("read_run", json!({"run": "aaaa", "types": ["message"]})).await;
    assert!(text.contains("The Quick brown fox") && text.contains("the end"), "{text}");
    assert!(
        text.contains("bytes left out]") && text.contains("with limit 1 shows all of it"),
        "{text}"
    );
    let tree = client.text("run_tree", json!({"run": "aaaa"})).await;
    assert!(tree.contains("build (command)") && !tree.contains('\u{1b}'), "{tree}");
    let stats = client.call("run_stats", json!({"run": "aaaa"})).await.structured_content.unwrap();
    assert_eq!(stats["types"]["message.assistant"], 3, "{stats}");

    let found = client.call("search", json!({"query": "quick BROWN"})).await;
    let found = found.structured_content.unwrap();
    assert_eq!(
        (&found["matches"][0]["run_id"], &found["matches"][0]["seq"]),
        (&json!("aaaa1111"), &json!(3))
    );
    let exact = client.text("search", json!({"query": "quick", "case_insensitive": false})).await;
    assert!(exact.contains("nothing matches"), "{exact}");
    let regex =
        client.text("search", json!({"query": "line 19[0-4]", "regex": true, "run": "bbbb"})).await;
    assert_eq!(regex.lines().count(), 6, "{regex}");
    client.leave().await;
}

#[tokio::test]
async fn every_answer_is_bounded_and_says_how_to_go_on() {
    let session = recorded();
    let client = Client::of(&session, &["mcp"]).await;
    for format in ["text", "events"] {
        let (mut from, mut seen) = (1, 0);
        loop {
            let asked = json!({"run": "last", "from_seq": from, "limit": 1000, "format": format});
            let text = client.text("read_run", asked).await;
            assert!(text.len() < 70_000, "{}", text.len());
            seen += text.matches("line ").count();
            let next = text.rsplit_once("continue with from_seq ").map(|(_, next)| next.to_owned());
            let Some(next) = next else { break };
            from = next.trim_end_matches(']').parse().unwrap();
        }
        assert_eq!(seen, 200, "{format}");
    }
    let asked = json!({"run": "last", "limit": 1000, "format": "events"});
    let page = client.call("read_run", asked).await;
    let structured = page.structured_content.clone().unwrap();
    assert!(text_of(&page).len() + structured.to_string().len() < 70_000);
    assert_eq!(structured["events"][0]["seq"], 1);
    let one = json!({"run": "aaaa", "from_seq": 3, "limit": 1, "format": "events"});
    let one = client.call("read_run", one).await.structured_content.unwrap();
    assert_eq!((&one["events"][0]["seq"], &one["next_from_seq"]), (&json!(3), &json!(4)));
    let first = client.call("search", json!({"query": "line", "limit": 100})).await;
    assert_eq!(first.structured_content.unwrap()["next_offset"], 100);
    let rest = client.call("search", json!({"query": "line", "limit": 100, "offset": 150})).await;
    let rest = rest.structured_content.unwrap();
    assert_eq!(
        (rest["matches"].as_array().unwrap().len(), &rest["next_offset"]),
        (50, &Value::Null)
    );
    client.leave().await;
}

#[tokio::test]
async fn a_long_event_is_read_to_its_end_piece_by_piece() {
    let session = recorded();
    let client = Client::of(&session, &["mcp"]).await;
    for format in ["text", "events"] {
        let (mut offset, mut whole, mut pieces) = (0, String::new(), 0);
        loop {
            let asked = json!({"run": "aaaa", "from_seq": 4, "limit": 1, "format": format, "text_offset": offset});
            let result = client.call("read_run", asked).await;
            assert_eq!(result.structured_content, None);
            let text = text_of(&result);
            assert!(text.len() < 70_000, "{}", text.len());
            let (piece, note) = text.rsplit_once("\n[").unwrap();
            whole.push_str(piece.strip_prefix("run aaaa1111\n").unwrap());
            pieces += 1;
            let Some((_, next)) = note.rsplit_once("from_seq 4 and text_offset ") else {
                assert_eq!(note, "there is more: continue with from_seq 5]");
                break;
            };
            offset = next.trim_end_matches(']').parse().unwrap();
        }
        assert_eq!((whole.matches("long ").count(), pieces), (60_000, 5), "{format}");
        if format == "events" {
            let event: Value = serde_json::from_str(&whole).unwrap();
            assert_eq!(event["payload"]["blocks"][0]["text"], "long ".repeat(60_000));
        }
    }
    let beyond = json!({"run": "aaaa", "from_seq": 4, "text_offset": 99_999_999});
    let beyond = client.text("read_run", beyond).await;
    assert_eq!(beyond, "run aaaa1111\n[there is more: continue with from_seq 5]");
    client.leave().await;
}

#[tokio::test]
async fn what_this_version_does_not_know_is_shown_and_found() {
    let session = Session::new();
    let block = json!({"type": "hologram", "fidelity": "router", "depth": 7, "caption": "a \"blue\" whale"});
    let lines = [
        json!({"type": "message.assistant", "payload": {"role": "assistant", "blocks": [block], "mood": "curious"}}),
        json!({"type": "tool.call", "payload": {"name": "Read", "call_id": "call-17", "input": {}, "urgency": ["high"]}}),
    ];
    let input = lines.map(|line| line.to_string() + "\n").concat();
    let recorded =
        session.quipu_with_input(&["record", "--name", "third", "--id", "cccc3333"], input);
    assert_eq!(recorded.code, Some(0));
    let client = Client::of(&session, &["mcp"]).await;
    let text = client.text("read_run", json!({"run": "cccc"})).await;
    for shown in [
        "mood:\n    curious",
        "blocks[0].caption:\n    a \"blue\" whale",
        "blocks[0].depth:\n    7",
        "urgency:\n    [\"high\"]",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    for query in ["curious", "a \"blue\" whale", "\"depth\":7", "urgency", "call-17"] {
        let found = client.call("search", json!({"query": query})).await;
        let found = found.structured_content.unwrap();
        assert_eq!(found["matches"].as_array().unwrap().len(), 1, "{query}: {found}");
    }
    client.leave().await;
}

#[tokio::test]
async fn what_cannot_be_found_or_read_is_said_with_what_there_is() {
    let session = recorded();
    let client = Client::of(&session, &["mcp"]).await;
    let unknown = client.error("read_run", json!({"run": "second"})).await;
    assert!(unknown.contains("did you mean bbbb2222 (\"second\")?"), "{unknown}");
    let unknown = client.error("run_tree", json!({"run": "../../etc/passwd"})).await;
    assert!(unknown.contains("the newest are bbbb2222"), "{unknown}");
    for (tool, asked, told) in [
        ("read_run", json!({}), "missing field `run`"),
        ("read_run", json!({"run": "last", "form": 1}), "unknown field `form`"),
        ("list_runs", json!({"since": "yesterday"}), "expected a time such as"),
        ("search", json!({"query": ""}), "query is empty"),
        ("search", json!({"query": "(", "regex": true}), "no regular expression"),
        ("delete_run", json!({}), "there are list_runs"),
    ] {
        let error = client.error(tool, asked).await;
        assert!(error.contains(told), "{tool}: {error}");
    }
    let past = client.text("read_run", json!({"run": "last", "from_seq": 100_000})).await;
    assert!(past.contains("there is no event from there on"), "{past}");
    client.leave().await;
}

#[tokio::test]
async fn an_empty_storage_is_told_and_stays_empty() {
    let session = Session::new();
    let client = Client::of(&session, &["mcp", "--storage", "elsewhere"]).await;
    let text = client.text("list_runs", json!({})).await;
    assert!(text.contains("There are no runs in /") && text.contains("elsewhere"), "{text}");
    assert!(client.text("search", json!({"query": "x"})).await.contains("There are no runs"));
    assert!(client.error("read_run", json!({"run": "last"})).await.contains("There are no runs"));
    client.leave().await;
    assert!(!session.dir().join("elsewhere").exists(), "a reader makes nothing");
}

#[tokio::test]
async fn a_run_is_read_while_it_is_written_and_left_as_it_is() {
    let session = recorded();
    let path = session.transcript("aaaa1111");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(b"{\"seq\":99,\"type\":\"mess");
    fs::write(&path, &bytes).unwrap();
    let client = Client::of(&session, &["mcp"]).await;
    let text = client.text("read_run", json!({"run": "aaaa", "from_seq": 5})).await;
    assert!(text.contains("the end") && text.contains("1 damaged"), "{text}");
    client.text("run_tree", json!({"run": "aaaa"})).await;
    client.text("run_stats", json!({"run": "aaaa"})).await;
    client.leave().await;
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
}

struct Echo;

impl ToolSet for Echo {
    fn introduction(&self) -> Introduction {
        Introduction { name: "echo".to_owned(), instructions: None }
    }

    fn specs(&self) -> Vec<ToolSpec> {
        Vec::new()
    }

    fn call(&self, asked: Asked) -> Answering<'_> {
        Box::pin(async move { Answer::completed(asked.input) })
    }
}

#[tokio::test]
async fn calls_of_an_agent_reach_the_run_over_its_socket() {
    let session = Session::new();
    // Settings that cannot be read would stop any other command.
    fs::write(session.dir().join("quipu.toml"), "not = [toml").unwrap();
    let gateway = Gateway::open(Arc::new(Echo)).await.unwrap();
    let socket = gateway.socket().to_str().unwrap().to_owned();
    let client = Client::of(&session, &["mcp-serve", "--socket", &socket]).await;
    assert_eq!(client.text("any", json!({"n": 1})).await, r#"{"n":1}"#);
    client.leave().await;
    drop(gateway);
    let outcome = session.quipu(&["mcp-serve", "--socket", &socket]);
    assert_eq!(outcome.code, Some(4));
    assert!(outcome.stderr.contains("the run that offered these tools is over"), "{outcome:?}");
}
