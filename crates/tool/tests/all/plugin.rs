//! Plugins that are programs and do well: real processes that play a script.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use quipu_testkit::fake_plugin;
use quipu_tool::plugin::{PluginConfig, PluginError, PluginTransport, Plugins};
use quipu_tool::{Answer, Call, CallContext, Router};
use serde_json::{Value, json};

use crate::witness::{Seen, step};

/// Longer than anything here takes on a slow machine; a test that gets here has failed.
pub(crate) const FAR_TOO_LONG: Duration = Duration::from_secs(120);
/// How long a call of a plugin that does not answer is waited for.
pub(crate) const SHORT: Duration = Duration::from_millis(1500);

/// A run with one plugin, `fake`.
pub(crate) struct Run {
    pub(crate) plugins: Plugins,
    pub(crate) context: CallContext,
    pub(crate) seen: Arc<Seen>,
}

pub(crate) fn config(script: &Value) -> PluginConfig {
    let program = fake_plugin::program().to_str().unwrap().to_owned();
    let command = vec![program, script.to_string()];
    let env = [("API_TOKEN".to_owned(), "s3cr3t-value".to_owned())].into();
    PluginConfig::new("fake", PluginTransport::Stdio { command, env, dir: None })
}

pub(crate) fn run_with(config: PluginConfig) -> Run {
    let (context, seen) = step();
    Run { plugins: Plugins::new(vec![config]), context, seen }
}

pub(crate) fn run(script: &Value) -> Run {
    run_with(PluginConfig { timeout: FAR_TOO_LONG, ..config(script) })
}

pub(crate) fn impatient_run(script: &Value) -> Run {
    run_with(PluginConfig { timeout: SHORT, ..config(script) })
}

impl Run {
    pub(crate) async fn call(&self, tool: &str, input: Value) -> Answer {
        let tool = self.plugins.tool("fake", tool, &self.context).await.unwrap();
        tool.call(input, &self.context).await
    }

    pub(crate) async fn error(&self, tool: &str) -> String {
        let answer = self.call(tool, json!({})).await;
        assert!(!answer.is_completed(), "{answer:?}");
        answer.error.unwrap()
    }

    pub(crate) async fn echoes(&self) {
        let answer = self.call("echo", json!({ "a": 1 })).await;
        assert_eq!(answer, self.echo(r#"{"a":1}"#), "{:?}", self.seen.subtypes());
    }

    pub(crate) fn echo(&self, text: &str) -> Answer {
        let shown = quipu_tool::Shown::text_only(text);
        Answer { shown: Some(shown), ..Answer::completed(text) }
    }
}

pub(crate) async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(FAR_TOO_LONG, waiting).await.expect(what);
}

pub(crate) fn lives(pid_file: &Path) -> bool {
    let pid = fs::read_to_string(pid_file).unwrap();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

pub(crate) fn echoing(tools: Value) -> Value {
    let mut script = json!({ "tools": { "echo": ["echo"] } });
    for (name, steps) in tools.as_object().unwrap() {
        script["tools"][name] = steps.clone();
    }
    script
}

#[tokio::test]
async fn all_pages_of_tools_are_listed_as_the_plugin_tells_of_them() {
    let schema = json!({
        "type": "object",
        "properties": { "list": { "type": "array", "items": { "type": "object" } } },
        "required": ["list"],
        "$defs": { "x": { "enum": [1, null] } },
    });
    let run = run(&json!({ "pages": [
        [{ "name": "one", "description": "First.", "inputSchema": schema }],
        [{ "name": "two", "title": "Two", "inputSchema": { "type": "object" },
           "annotations": { "readOnlyHint": true } }, { "description": "has no name" }],
        [{ "name": "three" }, { "name": "one", "description": "Twice." }],
    ] }));
    let tools = run.plugins.tools("fake", &run.context).await.unwrap();
    let specs: Vec<_> = tools.iter().map(|tool| tool.spec().clone()).collect();
    let told: Vec<_> = specs
        .iter()
        .map(|spec| (spec.name.as_str(), spec.description.as_str(), spec.is_read_only))
        .collect();
    let expected =
        [("fake_one", "First.", false), ("fake_two", "Two", true), ("fake_three", "", false)];
    assert_eq!(told, expected);
    assert_eq!(specs[0].input_schema, schema);
    assert_eq!(specs[2].input_schema, json!({ "type": "object" }));
    assert!(specs.iter().all(|spec| spec.provider == "mcp:fake"));
    let started = &run.seen.facts("plugin_started")[0];
    assert_eq!(started["server"], "fake");
    assert_eq!(started["version"], "1.2.3");
    assert_eq!(started["tools"], 3);
    assert_eq!(started["plugin"], "fake");
    assert!(started["protocol"].is_string() && started["duration_ms"].is_u64());
}

#[tokio::test]
async fn answers_are_told_as_they_came() {
    let whole = json!({
        "content": [{ "type": "image", "data": "AA==", "mimeType": "image/png", "unheard_of": 1 }],
        "structuredContent": { "n": 1 },
        "_meta": { "x": [1] },
    });
    let failed =
        json!({ "content": [{ "type": "text", "text": "no such file" }], "isError": true });
    let run = run(&echoing(json!({
        "whole": [{ "answer": whole }],
        "fails": [{ "answer": failed }],
        "refuses": [{ "error": { "code": -32602, "message": "bad arguments" } }],
    })));
    run.echoes().await;
    assert_eq!(run.call("echo", Value::Null).await, run.echo("{}"));
    let answer = run.call("whole", json!({})).await;
    assert!(answer.is_completed());
    assert_eq!(answer.output, whole);
    assert_eq!(answer.shown().structured, Some(json!({ "n": 1 })));
    assert_eq!(run.error("fails").await, "no such file");
    assert_eq!(run.error("refuses").await, "bad arguments (-32602)");
    let answer = run.call("echo", json!([1])).await;
    assert_eq!(answer.error.as_deref(), Some("a tool takes an object, not a list"));
    assert_eq!(run.seen.subtypes(), ["plugin_started"], "none of this is the plugin's failure");
}

#[tokio::test]
async fn a_plugin_tool_called_through_the_router_leaves_one_pair() {
    let run = run(&echoing(json!({})));
    let mut router = Router::default();
    for tool in run.plugins.tools("fake", &run.context).await.unwrap() {
        router.register(tool).unwrap();
    }
    let (name, input) = ("fake_echo".to_owned(), json!({ "a": 1 }));
    let call = Call { name, input, call_id: Some("c1".to_owned()), timeout: None };
    let answer = router.call(call, &run.context).await;
    assert_eq!(answer.output, r#"{"a":1}"#);
    let events = run.seen.all();
    let of = |kind: &str| {
        let found: Vec<_> = events.iter().filter(|(other, _, _)| other == kind).collect();
        assert_eq!(found.len(), 1, "{kind}: {events:?}");
        found[0].clone()
    };
    let ((_, path, call), (_, _, result)) = (of("tool.call"), of("tool.result"));
    assert_eq!((path.as_str(), &call["provider"]), ("step", &json!("mcp:fake")));
    assert_eq!((&call["fidelity"], &call["call_id"]), (&json!("router"), &json!("c1")));
    assert_eq!((&result["status"], &result["output"]), (&json!("completed"), &json!(r#"{"a":1}"#)));
}

#[tokio::test]
async fn calls_of_parallel_steps_share_one_connection() {
    let run = run(&echoing(json!({ "slow": [{ "later_ms": 50 }, "echo"] })));
    let calls = (0..20).map(|n| {
        let (plugins, context) = (run.plugins.clone(), run.context.clone());
        tokio::spawn(async move {
            let tool = plugins.tool("fake", "slow", &context).await.unwrap();
            (n, tool.call(json!({ "n": n }), &context).await)
        })
    });
    for call in calls.collect::<Vec<_>>() {
        let (n, answer) = call.await.unwrap();
        assert_eq!(answer.output, json!({ "n": n }).to_string());
    }
    assert_eq!(run.seen.subtypes(), ["plugin_started"]);
}

#[tokio::test]
async fn a_call_that_is_stopped_has_a_result_and_the_plugin_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let mut script = echoing(json!({ "slow": [{ "later_ms": 100_000 }, "echo"] }));
    script["log"] = json!(log);
    let run = run(&script);
    let mut router = Router::default();
    router.register(run.plugins.tool("fake", "slow", &run.context).await.unwrap()).unwrap();
    let (stop, stopped) = tokio::sync::watch::channel(None);
    let context = CallContext { stop: stopped, ..run.context.clone() };
    let (name, input) = ("fake_slow".to_owned(), json!({}));
    let call = Call { name, input, call_id: None, timeout: None };
    let read = || fs::read_to_string(&log).unwrap_or_default();
    let stopping = async {
        eventually("it is asked", || read().contains("tools/call")).await;
        stop.send(Some(quipu_process::StopReason::Canceled)).unwrap();
    };
    let (answer, ()) = tokio::join!(router.call(call, &context), stopping);
    assert_eq!(answer.error.as_deref(), Some("canceled"));
    eventually("it is told", || read().contains("notifications/cancelled")).await;
    run.echoes().await;
    assert_eq!(run.seen.subtypes(), ["plugin_started"]);
}

#[tokio::test]
async fn a_call_that_is_dropped_is_canceled() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let mut script = echoing(json!({ "slow": [{ "later_ms": 100_000 }, "echo"] }));
    script["log"] = json!(log);
    let run = run(&script);
    let read = || fs::read_to_string(&log).unwrap_or_default();
    {
        let call = run.call("slow", json!({}));
        let asked = eventually("it is asked", || read().contains("tools/call"));
        tokio::select! {
            answer = call => panic!("{answer:?}"),
            () = asked => {}
        }
    }
    eventually("it is told", || read().contains("notifications/cancelled")).await;
    run.echoes().await;
    assert_eq!(run.seen.subtypes(), ["plugin_started"]);
}

#[tokio::test]
async fn a_tool_list_that_changes_is_picked_up() {
    let run = run(&json!({
        "pages": [[{ "name": "echo" }, { "name": "change" }]],
        "tools": {
            "echo": ["echo"],
            "new": ["echo"],
            "change": [{ "tools": [{ "name": "new", "description": "New." }] }, "echo"],
        },
    }));
    let no_new = run.plugins.tool("fake", "new", &run.context).await.err().unwrap();
    assert_eq!(no_new.to_string(), "the plugin `fake` has no tool `new`; there are echo, change");
    run.call("change", json!({})).await;
    let names = async || {
        let tools = run.plugins.tools("fake", &run.context).await.unwrap();
        tools.iter().map(|tool| tool.spec().name.clone()).collect::<Vec<_>>()
    };
    // The notification and the answer are taken by two tasks.
    let waiting = async {
        while names().await != ["fake_new"] {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(FAR_TOO_LONG, waiting).await.expect("the list changes");
    assert_eq!(run.call("new", json!({})).await, run.echo("{}"));
}

#[tokio::test]
async fn what_a_plugin_asks_of_us_is_answered_or_refused() {
    let sampling = json!({ "method": "sampling/createMessage", "params": {
        "messages": [{ "role": "user", "content": { "type": "text", "text": "hi" } }], "maxTokens": 1,
    } });
    let cases = [
        (json!({ "method": "ping" }), "/result", json!({})),
        (json!({ "method": "roots/list" }), "/result/roots", json!([])),
        (sampling, "/error/code", json!(-32601)),
        (json!({ "method": "unheard/of" }), "/error/code", json!(-32601)),
    ];
    for (question, place, expected) in cases {
        let run = run(&json!({ "tools": { "ask": [{ "ask": question }] } }));
        let answer = run.call("ask", json!({})).await;
        let reply: Value = serde_json::from_str(answer.output.as_str().unwrap()).unwrap();
        assert_eq!(reply.pointer(place), Some(&expected), "{question}: {reply}");
    }
}

#[tokio::test]
async fn a_plugin_that_is_closed_leaves_no_process_behind() {
    let dir = tempfile::tempdir().unwrap();
    let pid = dir.path().join("pid");
    let run = run(&echoing(json!({ "child": [{ "child": pid }, "echo"] })));
    run.call("child", json!({})).await;
    assert!(lives(&pid));
    run.plugins.close().await;
    eventually("it dies", || !lives(&pid)).await;
    let events = run.seen.all();
    let (_, path, last) = events.last().unwrap();
    assert_eq!((path.as_str(), &last["subtype"]), ("", &json!("plugin_stopped")));
    let error = run.error("echo").await;
    assert!(error.contains("it was stopped with the run"), "{error}");
}

#[tokio::test]
async fn plugins_that_are_dropped_leave_no_process_behind() {
    let dir = tempfile::tempdir().unwrap();
    let pid = dir.path().join("pid");
    let run = run(&echoing(json!({ "child": [{ "child": pid }, "echo"] })));
    run.call("child", json!({})).await;
    drop(run.plugins);
    eventually("it dies", || !lives(&pid)).await;
}

#[tokio::test]
async fn a_plugin_that_nobody_has_configured_is_told_with_those_there_are() {
    let run = run(&echoing(json!({})));
    let error = run.plugins.tools("other", &run.context).await.err().unwrap();
    assert!(matches!(error, PluginError::Unknown { .. }));
    assert_eq!(error.to_string(), "there is no plugin `other`; there are fake");
    assert_eq!(run.plugins.names().collect::<Vec<_>>(), ["fake"]);
    assert!(run.seen.all().is_empty(), "nothing is started before it is needed");
}
