//! Commands, their output and their end.

use std::time::Duration;

use quipu_event::payload::ToolStatus;
use quipu_process::StopReason;
use quipu_tool::LONGEST_RECORDED;
use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn a_command_answers_what_it_wrote() {
    let stage = Stage::new();
    stage.put("sub/file", "text");
    let cases = [
        (json!({ "command": "echo hello; cat sub/file" }), "hello\ntext"),
        (json!({ "command": "echo out; echo err >&2" }), "out\n[stderr]\nerr\n"),
        (json!({ "command": "printf out; printf err >&2" }), "out\n[stderr]\nerr"),
        (json!({ "command": "ls", "cwd": "sub" }), "file\n"),
        (json!({ "command": "cat" }), ""),
        (json!({ "command": "-x 2>/dev/null || echo no option" }), "no option\n"),
    ];
    for (input, expected) in cases {
        assert_eq!(stage.done("Bash", input.clone()).await, expected, "{input}");
    }
    let sub = stage.root().join("sub").canonicalize().unwrap();
    let there = stage.done("Bash", json!({ "command": "pwd; echo $PWD", "cwd": sub })).await;
    assert_eq!(there, format!("{0}\n{0}\n", sub.display()));
}

#[tokio::test]
async fn a_command_that_fails_keeps_both_of_its_streams() {
    let stage = Stage::new();
    let answer = stage.call("Bash", json!({ "command": "echo out; echo err >&2; exit 3" })).await;
    assert_eq!(answer.status, ToolStatus::Failed);
    assert_eq!(answer.error.as_deref(), Some("exit code 3"));
    assert_eq!(answer.text(), "exit code 3\n[stdout]\nout\n[stderr]\nerr\n");
    let killed = stage.fails("Bash", json!({ "command": "kill -SEGV $$" })).await;
    assert!(killed.starts_with("killed by SIGSEGV\n"), "{killed}");
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_stopped_and_what_it_wrote_is_kept() {
    let stage = Stage::new();
    let input = json!({ "command": "echo begun; sleep 1000", "timeout_seconds": 1 });
    let answer = stage.call("Bash", input).await;
    assert_eq!(answer.error.as_deref(), Some("timed out after 1 s"));
    assert!(answer.text().contains("[stdout]\nbegun\n"), "{}", answer.text());
}

#[tokio::test]
async fn a_command_that_is_given_up_dies_with_all_that_it_started() {
    let stage = Stage::new();
    let script = "sleep 1000 & echo $! > pid.new; mv pid.new pid; wait";
    let running = stage.call("Bash", json!({ "command": script }));
    let stopping = async {
        while !stage.root().join("pid").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stage.stop.send_replace(Some(StopReason::Canceled));
    };
    let (answer, ()) = tokio::join!(running, stopping);
    assert_eq!(answer.error.as_deref(), Some("canceled"));
    let stat = format!("/proc/{}/stat", stage.text("pid").trim());
    let is_there = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    while is_there() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn endless_output_is_kept_at_both_ends() {
    let stage = Stage::new();
    let command = "echo first; head -c 40000000 /dev/zero | tr '\\0' x; echo; echo last";
    let answer = stage.call("Bash", json!({ "command": command })).await;
    let output = answer.output.as_str().unwrap();
    assert!(output.len() <= LONGEST_RECORDED, "{}", output.len());
    assert!(output.starts_with("first\nxxx") && output.ends_with("xxx\nlast\n"));
    assert!(output.contains(" bytes left out …]"));
    assert!(answer.text().len() < 70_000);
}

#[tokio::test]
async fn a_command_has_a_scratch_directory_while_it_lasts() {
    let stage = Stage::new();
    let command = "echo x > $TMPDIR/x && cat $TMPDIR/x && stat -c %a $TMPDIR && echo $TMPDIR";
    let text = stage.done("Bash", json!({ "command": command })).await;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["x", "700"]);
    assert!(!std::path::Path::new(lines[2]).exists(), "{}", lines[2]);
}

#[tokio::test]
async fn what_a_canceled_command_wrote_is_not_lost() {
    let stage = Stage::new();
    let started = stage.root().join("started");
    let calling = stage
        .call("Bash", json!({ "command": "echo half of it; touch started; sleep 600 & wait" }));
    let cancel_when_started = async {
        while !started.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stage.stop.send_replace(Some(StopReason::Canceled));
    };
    let (answer, ()) = tokio::join!(calling, cancel_when_started);
    assert_eq!(answer.error.as_deref(), Some("canceled"));
    assert!(answer.text().contains("half of it"), "{}", answer.text());
}
