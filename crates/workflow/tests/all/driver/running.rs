//! Runs that nobody stops.

use std::time::Duration;

use quipu_event::Kind;
use quipu_event::payload::Status;
use quipu_workflow::definition::{Hook, TerminalStatus, TerminalStep};
use quipu_workflow::definition::{StepKind, WorkflowHooks};
use serde_json::json;

use super::fixture::{Bench, command, done, operation, parallel, step, template, workflow};

#[tokio::test]
async fn a_run_leaves_a_whole_transcript() {
    let mut bench = Bench::new();
    bench.inputs = json!({"env": "staging", "api_key": "hunter22"}).as_object().unwrap().clone();
    let flow =
        workflow("demo", [command("say", "echo hello; echo hunter22", Some("done")), done()]);
    let report = bench.run(flow).await;
    assert_eq!((report.status, report.exit_code), (Status::Succeeded, 0));
    assert_eq!(report.message.as_deref(), Some("all done"));
    assert_eq!(
        bench.course("main"),
        [
            "run.started",
            "step.started say",
            "step.completed say succeeded",
            "step.started done",
            "step.completed done succeeded",
            "run.completed succeeded",
        ]
    );
    let started = bench.payload("main", Kind::RunStarted, "");
    assert_eq!(started["inputs"], json!({"env": "staging", "api_key": "***"}));
    assert_eq!(started["definition"]["path"], "/flows/demo.yaml");
    assert_eq!(started["format"], 1);
    let said = bench.payload("main", Kind::StepCompleted, "say");
    assert_eq!(said["result"]["stdout"], "hello\n***secret:api_key***\n");
    assert_eq!(said["result"]["exit_code"], 0);
    assert_eq!(said["next"], json!({"goto": "done", "because": "on_success"}));
    let ended = bench.payload("main", Kind::RunCompleted, "");
    assert_eq!(ended["counts"]["events"], 6);
    assert_eq!(ended["counts"]["masked"], 2);
    assert_eq!(ended["result"]["message"], "all done");
    bench.assert_verifies("main");
}

#[tokio::test]
async fn a_run_has_one_pair_of_lines_in_the_audit_trail() {
    let cases = [
        ("true", "success", 0, None),
        ("echo secret-value >&2; exit 9", "failure", 3, Some("exit code 9")),
    ];
    for (text, status, exit_code, error) in cases {
        let mut bench = Bench::new();
        bench.inputs = json!({"token": "secret-value"}).as_object().unwrap().clone();
        let report = bench.run(workflow("demo", [command("only", text, None)])).await;
        assert_eq!(i64::from(report.exit_code), exit_code);
        let audit = bench.audit();
        assert_eq!(audit.len(), 2);
        assert_eq!(audit[0]["event"], "workflow.started");
        assert_eq!(audit[0]["inputs"], json!({"token": "***"}));
        assert_eq!(audit[1]["event"], "workflow.completed");
        assert_eq!(audit[1]["status"], status);
        assert_eq!(audit[1]["exit_code"], exit_code);
        let told = audit[1]["error"].as_str().unwrap_or_default();
        assert!(told.contains(error.unwrap_or_default()), "{told}");
        assert!(audit.iter().all(|line| line["execution_id"] == "main"));
    }
}

#[tokio::test]
async fn the_exit_status_of_a_terminal_step_is_that_of_the_run() {
    for (status, asked, code) in [
        (TerminalStatus::Success, None, 0),
        (TerminalStatus::Failure, None, 3),
        (TerminalStatus::Failure, Some(42), 42),
    ] {
        let terminal = TerminalStep { status, message: None, exit_status: asked };
        let flow = workflow("demo", [step("end", StepKind::Terminal(terminal), None)]);
        assert_eq!(Bench::new().run(flow).await.exit_code, code);
    }
}

#[tokio::test]
async fn work_that_panics_fails_its_step_and_nothing_else() {
    let mut bench = Bench::new();
    let mut broken = operation("broken", "test.panic", Some("done"));
    broken.continue_on_error = true;
    let report = bench.run(workflow("demo", [broken, done()])).await;
    assert_eq!(report.status, Status::Succeeded);
    let ended = bench.payload("main", Kind::StepCompleted, "broken");
    assert_eq!(ended["status"], "failed");
    assert!(ended["error"].as_str().unwrap().contains("on purpose"), "{ended}");
    bench.assert_verifies("main");
}

#[tokio::test]
async fn work_that_does_not_stop_is_left_behind() {
    let mut bench = Bench::new();
    let mut hanging = operation("hanging", "test.hang", None);
    hanging.timeout = Some(Duration::from_millis(50));
    let report = bench.run(workflow("demo", [hanging])).await;
    assert_eq!(report.status, Status::Failed);
    let ended = bench.payload("main", Kind::StepCompleted, "hanging");
    assert_eq!(ended["error"], "timed out after 50ms");
    assert_eq!(ended["result"]["ended"], "timed_out");
}

#[tokio::test]
async fn hundreds_of_branches_run_side_by_side() {
    let mut bench = Bench::new();
    let names: Vec<String> = (0..300).map(|n| format!("b{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut steps = vec![parallel("all", &names, Some("done")), done()];
    steps.extend(names.iter().map(|name| command(name, &format!("echo {name}"), None)));
    let report = bench.run(workflow("demo", steps)).await;
    assert_eq!(report.status, Status::Succeeded, "{:?}", report.error);
    for name in names {
        let ended = bench.payload("main", Kind::StepCompleted, &format!("all.{name}"));
        assert_eq!(ended["result"]["stdout"], format!("{name}\n"));
    }
    bench.assert_verifies("main");
}

#[tokio::test]
async fn hooks_of_a_run_are_in_the_transcript() {
    let mut bench = Bench::new();
    let mut flow = workflow("demo", [command("only", "true", None)]);
    flow.hooks = WorkflowHooks {
        start: vec![Hook::Log(template("here we go")), Hook::Command(template("echo started"))],
        end: vec![Hook::Command(template("exit 5"))],
        ..WorkflowHooks::default()
    };
    assert_eq!(bench.run(flow).await.status, Status::Succeeded);
    let events = bench.events("main");
    let notes: Vec<_> = events
        .iter()
        .filter(|event| event.kind == Kind::System)
        .map(|event| event.payload.decode::<serde_json::Value>().unwrap())
        .map(|note| (note["subtype"].clone(), note["message"].clone(), note["exit_code"].clone()))
        .collect();
    assert_eq!(
        notes,
        [
            (json!("log"), json!("here we go"), json!(null)),
            (json!("hook"), json!(null), json!(0)),
            (json!("hook_failed"), json!(null), json!(5)),
        ]
    );
}
