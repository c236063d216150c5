//! Plugins that are programs and do badly: they crash, hang, babble, and do not come up.

use std::fs;
use std::time::Duration;

use quipu_tool::plugin::{PluginConfig, PluginTransport};
use serde_json::{Value, json};

use crate::plugin::{
    FAR_TOO_LONG, SHORT, config, echoing, eventually, impatient_run, lives, run, run_with,
};

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
async fn a_plugin_that_babbles_in_place_of_an_answer_is_quoted() {
    let babble = json!([{ "line": "this is not json" }, "hang"]);
    let run = impatient_run(&echoing(json!({ "babble": babble })));
    let expected =
        r#"timed out after 1.5s; it wrote what is no message of MCP: "this is not json""#;
    assert_eq!(run.error("babble").await, expected);
    assert_eq!(run.seen.facts("plugin_garbage").len(), 1);
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
