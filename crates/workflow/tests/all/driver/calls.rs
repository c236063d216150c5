//! Workflows that call each other.

use quipu_event::Kind;
use quipu_event::payload::Status;
use quipu_workflow::definition::{Hook, StepKind, ValueTemplate};
use quipu_workflow::process::StopReason;
use serde_json::json;

use super::fixture::{Bench, call, command, done, template, workflow};

#[tokio::test]
async fn a_called_workflow_is_a_run_of_its_own_linked_both_ways() {
    let mut child = workflow("sub", [command("build", "echo built", Some("done")), done()]);
    child.outputs = vec![("version".to_owned(), template("1.2.3"))];
    let mut bench = Bench::new().with(child);
    let outputs = [("version", "number"), ("build", "log")];
    let report = bench.run(workflow("demo", [call("sub", "sub", &outputs, None)])).await;
    assert_eq!(report.status, Status::Succeeded, "{:?}", report.error);
    assert_eq!(
        bench.course("main"),
        [
            "run.started",
            "step.call_workflow.started sub",
            "step.call_workflow.completed sub succeeded",
            "run.completed succeeded",
        ]
    );
    let links: Vec<_> = bench.events("main").into_iter().filter_map(|e| e.child_run_id).collect();
    assert_eq!(links.iter().map(|id| id.as_str()).collect::<Vec<_>>(), ["child-0", "child-0"]);
    let parents = bench.events("child-0").into_iter().map(|event| event.parent_run_id);
    assert!(parents.into_iter().all(|parent| parent.is_some_and(|id| id.as_str() == "main")));
    let ended = bench.payload("main", Kind::CallWorkflowCompleted, "sub");
    assert_eq!(ended["result"]["value"], json!({"number": "1.2.3", "log": "built"}));
    assert_eq!(ended["result"]["output"], "all done");
    bench.assert_verifies("main");
    bench.assert_verifies("child-0");
    let audit = bench.audit();
    let names: Vec<_> = audit.iter().map(|line| line["workflow_name"].as_str().unwrap()).collect();
    assert_eq!(names, ["demo", "sub", "sub", "demo"]);
}

#[tokio::test]
async fn a_call_that_cannot_be_made_says_why_and_promises_no_run() {
    let chain = |n: usize| {
        let next = format!("w{}", n + 1);
        workflow(&format!("w{n}"), [call("next", &next, &[], None)])
    };
    let circle = workflow("other", [call("back", "demo", &[], None)]);
    let mut bench = Bench::new().with(circle).with(workflow("demo", [done()]));
    for n in 0..12 {
        bench = bench.with(chain(n));
    }
    let cases = [
        ("nowhere", "there is no workflow `nowhere`"),
        ("other", "workflows call each other in a circle: demo → other → demo"),
        ("w0", "workflows call each other more than 10 deep: demo → w0 → w1"),
    ];
    for (target, problem) in cases {
        std::fs::remove_dir_all(bench.dir.path().join("storage")).ok();
        let report = bench.run(workflow("demo", [call("sub", target, &[], None)])).await;
        assert_eq!(report.status, Status::Failed);
        let error = report.error.unwrap();
        assert!(error.contains(problem), "{error}");
        bench.assert_verifies("main");
    }
}

#[tokio::test]
async fn an_output_that_is_not_there_fails_the_call() {
    let mut bench = Bench::new().with(workflow("sub", [command("build", "true", None)]));
    let report = bench.run(workflow("demo", [call("sub", "sub", &[("biuld", "x")], None)])).await;
    let error = report.error.unwrap();
    assert!(error.contains("workflow `sub` gives no output `biuld`; it gives `build`"), "{error}");
}

#[tokio::test]
async fn a_called_workflow_that_fails_fails_the_call() {
    let mut bench = Bench::new().with(workflow("sub", [command("build", "exit 7", None)]));
    let report = bench.run(workflow("demo", [call("sub", "sub", &[], None)])).await;
    assert_eq!((report.status, report.exit_code), (Status::Failed, 3));
    let ended = bench.payload("main", Kind::CallWorkflowCompleted, "sub");
    assert_eq!(ended["status"], "failed");
    assert!(ended["error"].as_str().unwrap().contains("exit code 7"), "{ended}");
    bench.assert_verifies("main");
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_stopped_with_everything_in_it() {
    let mut bench = Bench::new().with(workflow("sub", [command("slow", "sleep 1000", None)]));
    let mut slow = call("sub", "sub", &[], None);
    slow.timeout = Some(std::time::Duration::from_millis(300));
    let report = bench.run(workflow("demo", [slow])).await;
    assert_eq!(report.status, Status::Failed);
    let ended = bench.payload("main", Kind::CallWorkflowCompleted, "sub");
    assert_eq!(ended["error"], "timed out after 300ms");
    assert_eq!(bench.course("child-0").last().unwrap(), "run.completed canceled");
    bench.assert_verifies("child-0");
}

#[tokio::test]
async fn a_secret_of_either_run_is_told_by_none() {
    let child = workflow("sub", [command("tell", "echo mother-knows child-knows", None)]);
    let mut bench = Bench::new().with(child);
    bench.inputs = json!({"password": "mother-knows"}).as_object().unwrap().clone();
    let mut step = call("sub", "sub", &[("tell", "told")], None);
    if let StepKind::CallWorkflow(call) = &mut step.kind {
        let value = ValueTemplate::Text(template("child-knows"));
        call.inputs.insert("api_key".to_owned(), value);
    }
    let report = bench.run(workflow("demo", [step])).await;
    assert_eq!(report.status, Status::Succeeded, "{:?}", report.error);
    for run in ["main", "child-0"] {
        for event in bench.events(run) {
            assert!(!event.payload.as_str().contains("-knows"), "{}", event.payload.as_str());
        }
    }
    assert!(!format!("{:?}{:?}", bench.seen.events(), bench.audit()).contains("-knows"));
}

#[tokio::test]
async fn a_call_that_is_canceled_before_it_is_made_leaves_the_run_it_named() {
    let mut bench = Bench::new().with(workflow("sub", [command("never", "true", None)]));
    let mut step = call("sub", "sub", &[], None);
    step.hooks.pre = vec![Hook::Command(template("echo hook; sleep 1000"))];
    let stops: &[(&[&str], _)] = &[(&["hook"], StopReason::Canceled)];
    let report = bench.run_and_stop(workflow("demo", [step]), stops).await;
    assert_eq!(report.status, Status::Canceled);
    assert_eq!(bench.course("child-0"), ["run.started", "run.completed canceled"]);
    bench.assert_verifies("main");
    bench.assert_verifies("child-0");
}
