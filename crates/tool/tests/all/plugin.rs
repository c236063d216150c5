//! Plugins that are programs: real processes that play good and hostile scripts.

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
const FAR_TOO_LONG: Duration = Duration::from_secs(120);
/// How long a call of a plugin that does not answer is waited for.
const SHORT: Duration = Duration::from_millis(1500);

/// A run with one plugin, `fake`.
struct Run {
    plugins: Plugins,
    context: CallContext,
    seen: Arc<Seen>,
}

fn config(script: &Value) -> PluginConfig {
    let program = fake_plugin::program().to_str().unwrap().to_owned();
    let command = vec![program, script.to_string()];
    let env = [("API_TOKEN".to_owned(), "s3cr3t-value".to_owned())].into();
    PluginConfig::new("fake", PluginTransport::Stdio { command, env, dir: None })
}

fn run_with(config: PluginConfig) -> Run {
    let (context, seen) = step();
    Run { plugins: Plugins::new(vec![config]), context, seen }
}

fn run(script: &Value) -> Run {
    run_with(PluginConfig { timeout: FAR_TOO_LONG, ..config(script) })
}

fn impatient_run(script: &Value) -> Run {
    run_with(PluginConfig { timeout: SHORT, ..config(script) })
}

impl Run {
    async fn call(&self, tool: &str, input: Value) -> Answer {
        let tool = self.plugins.tool("fake", tool, &self.context).await.unwrap();
        tool.call(input, &self.context).await
    }

    async fn error(&self, tool: &str) -> String {
        let answer = self.call(tool, json!({})).await;
        assert!(!answer.is_completed(), "{answer:?}");
        answer.error.unwrap()
    }

    async fn echoes(&self) {
        let answer = self.call("echo", json!({ "a": 1 })).await;
        assert_eq!(answer, self.echo(r#"{"a":1}"#), "{:?}", self.seen.subtypes());
    }

    fn echo(&self, text: &str) -> Answer {
        let shown = quipu_tool::Shown::text_only(text);
        Answer { shown: Some(shown), ..Answer::completed(text) }
    }
}

async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(FAR_TOO_LONG, waiting).await.expect(what);
}

fn lives(pid_file: &Path) -> bool {
    let pid = fs::read_to_string(pid_file).unwrap();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

fn echoing(tools: Value) -> Value {
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
async fn a_plugin_that_crashes_fails_its_call_only_and_is_started_again() {
    let crash = json!([{ "stderr": "out of cheese, s3cr3t-value" }, { "exit": 3 }]);
    let run = run(&echoing(json!({ "crash": crash })));
    run.echoes().await;
    let error = run.error("crash").await;
    let said = "the plugin `fake` failed: its program has ended: exit code 3; it said last: \
                out of cheese, ***";
    assert_eq!(error, said);
    run.echoes().await;
    let expected = ["plugin_started", "plugin_failed", "plugin_restarting", "plugin_started"];
    assert_eq!(run.seen.subtypes(), expected);
    let failed = &run.seen.facts("plugin_failed")[0];
    assert_eq!(failed["reason"], "its program has ended: exit code 3");
    assert_eq!(failed["stderr"], "out of cheese, ***");
    let restarting = &run.seen.facts("plugin_restarting")[0];
    assert_eq!(restarting["attempt"], 1);
    assert!(restarting["delay_ms"].as_u64().unwrap() <= 100);
    let told = format!("{:?}", run.seen.all());
    assert!(!told.contains("s3cr3t-value"), "{told}");
}

#[tokio::test]
async fn a_plugin_that_hangs_fails_its_call_only_and_is_started_again() {
    let run = impatient_run(&echoing(json!({ "hang": ["hang"] })));
    assert_eq!(run.error("hang").await, "timed out after 1.5s");
    run.echoes().await;
    let expected = ["plugin_started", "plugin_failed", "plugin_restarting", "plugin_started"];
    assert_eq!(run.seen.subtypes(), expected);
    assert_eq!(run.seen.facts("plugin_failed")[0]["reason"], "it does not answer any more");
}

#[tokio::test]
async fn a_plugin_that_does_not_even_read_fails_its_call_and_leaves_no_process_behind() {
    let dir = tempfile::tempdir().unwrap();
    let pid = dir.path().join("pid");
    let run = impatient_run(&echoing(json!({ "hang": [{ "child": pid }, "hang"] })));
    assert_eq!(run.error("hang").await, "timed out after 1.5s");
    // More than a pipe holds, to somebody who does not read: none of it may hold us up.
    let hang = run.plugins.tool("fake", "echo", &run.context).await.unwrap();
    let answer = hang.call(json!({ "a": "x".repeat(1 << 20) }), &run.context).await;
    assert!(answer.is_completed(), "the plugin was started anew for it: {:?}", answer.error);
    eventually("it dies", || !lives(&pid)).await;

    let run = impatient_run(&json!({ "tools": { "deaf": [{ "sleep_ms": 100_000 }] } }));
    let deaf = run.plugins.tool("fake", "deaf", &run.context).await.unwrap();
    let large = json!({ "a": "x".repeat(1 << 20) });
    let (one, two) =
        tokio::join!(deaf.call(large.clone(), &run.context), deaf.call(large, &run.context));
    for answer in [one, two] {
        assert_eq!(answer.error.as_deref(), Some("timed out after 1.5s"));
    }
    run.plugins.close().await;
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
async fn a_plugin_that_answers_garbage_fails_its_call_only_and_is_started_again() {
    let cases: Vec<(&str, Value)> = vec![
        ("cut off", json!({ "line": r#"{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"#})),
        ("no result", json!({ "line": r#"{"jsonrpc":"2.0","id":$ID}"# })),
        ("error is text", json!({ "line": r#"{"jsonrpc":"2.0","id":$ID,"error":"no"}"# })),
        ("not 2.0", json!({ "line": r#"{"jsonrpc":"1.0","id":$ID,"result":{}}"# })),
        ("NUL bytes", json!({ "line": "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":\"\u{0}\"}" })),
        ("empty result", json!({ "answer": {} })),
        ("result is text", json!({ "answer": "done" })),
        ("content is text", json!({ "answer": { "content": "done" } })),
    ];
    for (case, garbage) in cases {
        let run = run(&echoing(json!({ "garbage": [garbage] })));
        let error = run.error("garbage").await;
        assert!(error.starts_with("the plugin `fake` failed: its answer "), "{case}: {error}");
        run.echoes().await;
        let subtypes = run.seen.subtypes();
        let lives = subtypes.iter().filter(|subtype| *subtype != "plugin_garbage");
        let expected = ["plugin_started", "plugin_failed", "plugin_restarting", "plugin_started"];
        assert_eq!(lives.collect::<Vec<_>>(), expected, "{case}");
    }
}

#[tokio::test]
async fn garbage_between_messages_is_skipped_and_recorded() {
    let run = run(&json!({
        "start": [{ "line": "Listening on stdio..." }],
        "tools": { "echo": [
            { "bytes": [0, 0, 255, 254] },
            { "line": "" },
            { "line": r#"{"jsonrpc":"2.0","id":4711,"result":{"content":[]}}"# },
            { "line": "x".repeat(1000) },
            { "line": r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hi"}}"# },
            { "line": r#"{"jsonrpc":"2.0","method":"notifications/unheard_of"}"# },
            "echo",
            { "line": r#"{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}"# },
        ] },
    }));
    run.echoes().await;
    run.echoes().await;
    let garbage = run.seen.facts("plugin_garbage");
    let lines: Vec<_> = garbage.iter().map(|facts| facts["line"].as_str().unwrap()).collect();
    assert_eq!(lines[0], "Listening on stdio...");
    assert_eq!(lines[1], "\0\0\u{fffd}\u{fffd}");
    assert!(lines[2].contains("4711"));
    assert_eq!((lines[3], garbage[3]["bytes"].as_u64()), (&*"x".repeat(200), Some(1000)));
    assert!(run.seen.facts("plugin_failed").is_empty());
}

#[tokio::test]
async fn endless_garbage_is_recorded_in_bounds() {
    let mut noisy = vec![json!({ "line": "noise" }); 100];
    noisy.push(json!("echo"));
    let run = run(&echoing(json!({ "noisy": noisy })));
    run.call("noisy", json!({})).await;
    let garbage = run.seen.facts("plugin_garbage");
    assert_eq!(garbage.len(), 5);
    assert_eq!(garbage[4]["more"], 95);
}

#[tokio::test]
async fn an_answer_may_be_large_and_one_that_is_too_large_fails_its_call_only() {
    let (large, too_large) = (5 * 1024 * 1024, 65 * 1024 * 1024);
    let run = run(&echoing(json!({
        "large": [{ "huge": large }],
        "too_large": [{ "huge": too_large }],
        "slow": [{ "later_ms": 500 }, "echo"],
    })));
    assert_eq!(run.call("large", json!({})).await.output.as_str().unwrap().len(), large);
    let slow = run.call("slow", json!({}));
    let (slow, error) = tokio::join!(slow, run.error("too_large"));
    assert_eq!(slow, run.echo("{}"), "a call beside it ends well");
    assert!(
        error.contains("its answer cannot be read: it is longer than 67108864 bytes"),
        "{error}"
    );
    run.echoes().await;
}

#[tokio::test]
async fn a_slow_plugin_that_still_answers_stays_and_is_told_that_nobody_waits() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let mut script = echoing(json!({ "slow": [{ "later_ms": 100_000 }, "echo"] }));
    script["log"] = json!(log);
    let run = impatient_run(&script);
    assert_eq!(run.error("slow").await, "timed out after 1.5s");
    run.echoes().await;
    assert_eq!(run.seen.subtypes(), ["plugin_started"]);
    let log = fs::read_to_string(&log).unwrap();
    assert!(log.contains("notifications/cancelled"), "{log}");
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
async fn a_plugin_that_does_not_come_up_says_why_and_fails_the_call() {
    let exits = json!({ "start": [{ "stderr": "no database" }, { "exit": 7 }] });
    let why = "its program has ended: exit code 7; it said last: no database";
    let hangs = json!({ "start": [{ "stderr": "waiting" }, "hang"] });
    let missing = PluginTransport::Stdio {
        command: vec!["/nowhere/at-all".to_owned()],
        env: Default::default(),
        dir: None,
    };
    let late = "it did not come up within 1.5s; it said last: waiting";
    let cases = [
        (PluginConfig { start_timeout: FAR_TOO_LONG, ..config(&exits) }, why),
        (PluginConfig { start_timeout: SHORT, ..config(&hangs) }, late),
        (PluginConfig::new("fake", missing), "/nowhere/at-all: no such program"),
    ];
    for (config, why) in cases {
        let run = run_with(config);
        let error = run.plugins.tools("fake", &run.context).await.err().unwrap();
        let prefix = format!("the plugin `fake` cannot be used: {why}");
        assert!(error.to_string().starts_with(&prefix), "{error}");
        let error = run.error("anything").await;
        assert!(error.starts_with("the plugin `fake` failed: "), "{error}");
        let failures = run.seen.facts("plugin_failed");
        // One for the list, one for the lookup of the tool, one for its call.
        assert_eq!(failures.len(), 3, "{failures:?}");
        let attempts: Vec<_> = run
            .seen
            .facts("plugin_restarting")
            .iter()
            .map(|facts| facts["attempt"].clone())
            .collect();
        assert_eq!(attempts, [1, 2]);
    }
}

#[tokio::test]
async fn a_plugin_that_crashes_at_its_first_start_is_well_at_the_second() {
    let dir = tempfile::tempdir().unwrap();
    let once = dir.path().join("once");
    let mut script = echoing(json!({}));
    script["start"] = json!([{ "once": once }, { "exit": 1 }]);
    let run = run(&script);
    run.plugins.tools("fake", &run.context).await.err().unwrap();
    run.echoes().await;
    let expected = ["plugin_failed", "plugin_restarting", "plugin_started"];
    assert_eq!(run.seen.subtypes(), expected);
}

#[tokio::test]
async fn a_plugin_that_crashes_between_calls_fails_none() {
    let dir = tempfile::tempdir().unwrap();
    let pid = dir.path().join("pid");
    let bomb = json!([{ "child": pid }, "echo", { "later_ms": 50 }, { "exit": 9 }]);
    let run = run(&echoing(json!({ "bomb": bomb })));
    assert!(run.call("bomb", json!({})).await.is_completed());
    // What it has started goes with it.
    eventually("it dies", || !lives(&pid)).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    run.echoes().await;
    let expected = ["plugin_started", "plugin_failed", "plugin_restarting", "plugin_started"];
    assert_eq!(run.seen.subtypes(), expected);
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
