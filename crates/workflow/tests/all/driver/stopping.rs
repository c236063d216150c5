//! Runs that take too long, or that somebody stops.

use std::time::Duration;

use quipu_event::Kind;
use quipu_event::payload::Status;
use quipu_workflow::definition::{Hook, WorkflowHooks};
use quipu_workflow::process::StopReason;

use super::fixture::{Bench, call, command, parallel, template, workflow};

/// Waits until a process is gone; a zombie counts as gone.
async fn assert_dies(pid: &str) {
    let lives = || {
        std::fs::read_to_string(format!("/proc/{pid}/stat"))
            .is_ok_and(|stat| !stat.contains(") Z "))
    };
    let death = async {
        while lives() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(super::fixture::FAR_TOO_LONG, death).await.expect("it lives on");
}

#[tokio::test]
async fn a_timeout_kills_what_a_command_started() {
    let mut bench = Bench::new();
    let mut slow = command("slow", "sleep 1000 & echo $!; wait", None);
    slow.timeout = Some(Duration::from_millis(300));
    let report = bench.run(workflow("demo", [slow])).await;
    assert_eq!((report.status, report.exit_code), (Status::Failed, 3));
    let ended = bench.payload("main", Kind::StepCompleted, "slow");
    assert_eq!(ended["error"], "timed out after 300ms");
    assert_dies(ended["result"]["stdout"].as_str().unwrap().trim()).await;
    bench.assert_verifies("main");
}

#[tokio::test]
async fn what_was_said_before_a_run_is_canceled_is_kept() {
    let mut bench = Bench::new();
    let flow = workflow("demo", [command("slow", "echo said; echo more >&2; sleep 1000", None)]);
    let stops: &[(&[&str], _)] = &[(&["said", "more"], StopReason::Canceled)];
    let report = bench.run_and_stop(flow, stops).await;
    assert_eq!((report.status, report.exit_code), (Status::Canceled, 3));
    let ended = bench.payload("main", Kind::StepCompleted, "slow");
    assert_eq!(ended["status"], "canceled");
    assert_eq!(ended["result"]["stdout"], "said\n");
    assert_eq!(ended["result"]["stderr"], "more\n");
    let audit = bench.audit();
    assert_eq!(audit.len(), 2);
    assert_eq!((&audit[1]["status"], &audit[1]["exit_code"]), (&"failure".into(), &3.into()));
    bench.assert_verifies("main");
}

#[tokio::test]
async fn every_step_that_began_ends_when_a_run_is_canceled() {
    let mut bench =
        Bench::new().with(workflow("sub", [command("deep", "echo three; sleep 1000", None)]));
    let flow = workflow(
        "demo",
        [
            parallel("fan", &["one", "two", "three"], None),
            command("one", "echo one; sleep 1000", None),
            command("two", "echo two; exec sleep 1000", None),
            call("three", "sub", &[], None),
        ],
    );
    let stops: &[(&[&str], _)] = &[(&["one", "two", "three"], StopReason::Canceled)];
    let report = bench.run_and_stop(flow, stops).await;
    assert_eq!(report.status, Status::Canceled);
    let course = bench.course("main");
    for path in ["fan", "fan.one", "fan.two"] {
        assert!(course.contains(&format!("step.completed {path} canceled")), "{path}: {course:?}");
    }
    assert!(course.contains(&"step.call_workflow.completed fan.three canceled".to_owned()));
    assert_eq!(course.last().map(String::as_str), Some("run.completed canceled"));
    assert!(bench.course("child-0").contains(&"step.completed deep canceled".to_owned()));
    assert_eq!(bench.audit().len(), 4);
    bench.assert_verifies("main");
    bench.assert_verifies("child-0");
}

#[tokio::test]
async fn a_second_stop_ends_what_will_not() {
    let mut bench = Bench::new();
    let stubborn = "trap 'echo no' TERM; echo ready; while :; do sleep 0.01; done";
    let stops: &[(&[&str], _)] = &[(&["ready"], StopReason::Canceled), (&["no"], StopReason::Now)];
    let report =
        bench.run_and_stop(workflow("demo", [command("stubborn", stubborn, None)]), stops).await;
    assert_eq!(report.status, Status::Canceled);
    let ended = bench.payload("main", Kind::StepCompleted, "stubborn");
    assert_eq!(ended["result"]["exit_code"], 137);
    bench.assert_verifies("main");
}

#[tokio::test]
async fn a_run_can_be_canceled_in_its_first_hook() {
    let mut bench = Bench::new();
    let mut flow = workflow("demo", [command("never", "true", None)]);
    flow.hooks = WorkflowHooks {
        start: vec![Hook::Command(template("echo hook; sleep 1000"))],
        cancel: vec![Hook::Command(template("echo bye"))],
        ..WorkflowHooks::default()
    };
    let stops: &[(&[&str], _)] = &[(&["hook"], StopReason::Canceled)];
    let report = bench.run_and_stop(flow, stops).await;
    assert_eq!(report.status, Status::Canceled);
    assert!(!bench.course("main").iter().any(|line| line.contains("never")));
}

#[tokio::test]
async fn a_run_that_is_stopped_before_it_begins_begins_nothing() {
    let mut bench = Bench::new();
    let flow = workflow("demo", [command("never", "true", None)]);
    let report = bench.run_and_stop(flow, &[(&[], StopReason::Canceled)]).await;
    assert_eq!(report.status, Status::Canceled);
    bench.assert_verifies("main");
}
