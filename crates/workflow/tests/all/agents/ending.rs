//! How agents end when they do not end well: everything they said is kept, nothing of them stays.

use std::time::Duration;

use quipu_event::Kind;
use quipu_workflow::display::DisplayEvent;
use quipu_workflow::engine::WorkStatus;
use quipu_workflow::process::StopReason;
use serde_json::json;

use super::asking::{AGENTS, Asking};

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_hangs_is_stopped_and_what_it_said_is_kept() {
    let script = json!({ "steps": [{ "text": "Let me look." }, { "mark": "said" }, "hang"] });
    for (provider, language) in AGENTS {
        for (reason, status) in [
            (StopReason::TimedOut, WorkStatus::TimedOut),
            (StopReason::Canceled, WorkStatus::Canceled),
            (StopReason::Now, WorkStatus::Canceled),
        ] {
            let asking = Asking::of_fake(provider, language, "Go.", &script);
            let mark = asking.folder.path().join("said");
            let stop = asking.stop.clone();
            tokio::spawn(async move {
                while !mark.exists() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                stop.send_replace(Some(reason));
            });
            let asked = asking.ask().await;
            assert_eq!(asked.outcome.status, status, "{provider}");
            assert_eq!(asked.texts(), ["Let me look."], "{provider}");
            assert_eq!(asked.facts("session_completed").len(), 1, "{provider}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_told_while_its_tool_is_still_at_work() {
    let script = json!({ "steps": [
        { "text": "Let me look." },
        { "tool": { "name": "shell", "input": { "command": "sleep 60" } } }, "hang",
    ] });
    // OpenCode tells of a tool when it is done, so there is nothing to wait for.
    for (provider, language) in AGENTS.into_iter().filter(|(provider, _)| *provider != "opencode") {
        let asking = Asking::of_fake(provider, language, "Go.", &script);
        let asked = asking
            .ask_and_stop(StopReason::Canceled, |collected| collected.has(&Kind::ToolCall))
            .await;
        assert_eq!(asked.outcome.status, WorkStatus::Canceled, "{provider}");
        assert_eq!(asked.of(&Kind::ToolCall).len(), 1, "{provider}");
        assert_eq!(asked.of(&Kind::ToolResult).len(), 0, "{provider}");
        assert_eq!(asked.texts(), ["Let me look."], "{provider}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_is_printed_in_pieces_is_shown_in_pieces() {
    let script = json!({ "steps": [{ "text": "Let me look." }, "hang"] });
    for (provider, language) in [("gemini", "gemini"), ("github_copilot", "copilot")] {
        let asking = Asking::of_fake(provider, language, "Go.", &script);
        let asked = asking
            .ask_and_stop(StopReason::Canceled, |seen| {
                shown(&seen.shown.lock().unwrap()) == "Let me look."
            })
            .await;
        assert_eq!(asked.texts(), ["Let me look."], "{provider}");
    }
}

fn shown(events: &[DisplayEvent]) -> String {
    let pieces = events.iter().map(|event| match event {
        DisplayEvent::Text { text, delta: true, .. } => text.as_str(),
        other => panic!("{other:?}"),
    });
    pieces.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_says_why() {
    let script = json!({ "steps": [
        { "text": "Let me look." }, { "stderr": "out of memory" }, { "crash": 3 },
    ] });
    for (provider, language) in AGENTS {
        let asked = Asking::of_fake(provider, language, "Go.", &script).ask().await;
        let error = asked.outcome.error.clone().unwrap();
        assert_eq!(error, format!("{provider}: out of memory (exit code 3)"));
        assert_eq!(asked.outcome.exit_code, Some(3));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_api_said_is_the_reason_of_a_failure() {
    let script = json!({ "steps": [{ "stderr": "noise" }, { "fail": "the server is down" }] });
    for (provider, language) in AGENTS {
        let asked = Asking::of_fake(provider, language, "Go.", &script).ask().await;
        let error = asked.outcome.error.clone().unwrap();
        assert!(error.contains("the server is down"), "{provider}: {error}");
        assert!(!asked.of(&Kind::Error).is_empty(), "{provider}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_says_it_was_interrupted_has_failed_whatever_its_exit_code() {
    let result = json!({
        "type": "result", "subtype": "error_during_execution", "is_error": true,
        "terminal_reason": "aborted_tools", "errors": ["Request was aborted."],
        "session_id": "fake-session",
    });
    let script = json!({ "steps": [
        { "text": "Let me look." }, { "raw": result.to_string() }, { "crash": 0 },
    ] });
    let asked = Asking::of_fake("claude", "claude", "Go.", &script).ask().await;
    assert_eq!(asked.outcome.status, WorkStatus::Failed);
    assert_eq!(asked.outcome.error.as_deref(), Some("claude: Request was aborted."));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_holds_the_pipes_holds_nobody_up() {
    let script = json!({ "steps": [{ "child": 600 }, { "text": "Done." }] });
    let asking = Asking::of_fake("claude", "claude", "Go.", &script);
    let asked = tokio::time::timeout(Duration::from_secs(60), asking.ask()).await.unwrap();
    assert_eq!(asked.outcome.status, WorkStatus::Succeeded);
    assert_eq!(asked.outcome.output, "Done.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_not_there_is_named() {
    let mut asking = Asking::new("claude", "Go.");
    asking.job.command = Some(vec!["/nowhere/claude".to_owned()]);
    let asked = asking.ask().await;
    assert_eq!(asked.outcome.status, WorkStatus::Failed);
    let error = asked.outcome.error.clone().unwrap();
    assert!(error.starts_with("/nowhere/claude: no such program"), "{error}");
    assert_eq!(asked.of(&Kind::MessageUser).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_speaks_plainly_is_heard_too() {
    for (provider, _) in AGENTS {
        let mut asking = Asking::new(provider, "Go.");
        let words = ["sh", "-c", "echo Plain; echo words"];
        asking.job.command = Some(words.map(str::to_owned).to_vec());
        let asked = asking.ask().await;
        assert_eq!(asked.outcome.status, WorkStatus::Succeeded, "{provider}");
        assert_eq!(asked.outcome.output, "Plain\nwords", "{provider}");
        assert_eq!(asked.texts(), ["Plain\nwords"], "{provider}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_says_nothing_has_failed() {
    for (provider, _) in AGENTS {
        let mut asking = Asking::new(provider, "Go.");
        asking.job.command = Some(vec!["true".to_owned()]);
        let asked = asking.ask().await;
        assert_eq!(asked.outcome.status, WorkStatus::Failed, "{provider}");
        let error = asked.outcome.error.clone().unwrap();
        assert_eq!(error, format!("{provider}: it ended without an answer"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_error_is_kept_to_its_end() {
    let mut asking = Asking::new("claude", "Go.");
    let noise = "head -c 200000 /dev/zero | tr '\\0' x >&2; echo END >&2; echo ok";
    asking.job.command = Some(["sh", "-c", noise].map(str::to_owned).to_vec());
    let asked = asking.ask().await;
    let facts = asked.facts("stderr");
    assert_eq!(facts[0]["bytes"], 200_004);
    assert_eq!(facts[0]["truncated"], true);
    let text = facts[0]["text"].as_str().unwrap();
    assert!(text.ends_with("xEND\n") && text.len() <= 64 * 1024);
}
