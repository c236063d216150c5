//! Runs that go on where they stopped, from what their transcripts tell.

use std::path::Path;

use quipu_event::payload::Status;
use quipu_workflow::definition::{StepKind, Strategy, Workflow};
use quipu_workflow::driver::PastRun;
use tokio::sync::watch;

use super::fixture::{Bench, call, command, done, finish, parallel, workflow};

fn count(dir: &Path, name: &str) -> usize {
    std::fs::read_to_string(dir.join(name)).unwrap_or_default().lines().count()
}

fn counted(name: &str, next: Option<&str>) -> quipu_workflow::definition::Step {
    command(name, &format!("echo x >> {name}; echo did {name}"), next)
}

fn flow() -> Workflow {
    workflow(
        "demo",
        [
            counted("first", Some("fan")),
            parallel("fan", &["left", "right"], Some("sub")),
            counted("left", None),
            counted("right", None),
            call("sub", "sub", &[], Some("last")),
            counted("last", Some("done")),
            done(),
        ],
    )
}

fn child() -> Workflow {
    workflow("sub", [counted("inner", Some("deep")), counted("deep", None)])
}

async fn resume(bench: &mut Bench) -> quipu_workflow::driver::RunReport {
    let (_bell, stop) = watch::channel(None);
    let mut request = bench.request(flow(), stop);
    request.resume = true;
    finish(request).await
}

/// Cuts a transcript as a crash would, behind so many lines.
fn cut(path: &Path, lines: usize) {
    let text = std::fs::read_to_string(path).unwrap();
    let kept: String = text.split_inclusive('\n').take(lines).collect();
    std::fs::write(path, kept).unwrap();
}

#[tokio::test]
async fn a_run_cut_anywhere_goes_on_and_runs_no_finished_step_again() {
    let mut bench = Bench::new().with(child());
    bench.run(flow()).await;
    let whole = bench.course("main");
    for lines in 1..whole.len() {
        let mut bench = Bench::new().with(child());
        bench.run(flow()).await;
        let dir = bench.dir.path().to_owned();
        let path = bench.layout().transcript(&"main".parse().unwrap());
        cut(&path, lines);
        let finished: Vec<String> = bench.course("main");
        let report = resume(&mut bench).await;
        assert_eq!(report.status, Status::Succeeded, "{lines}: {:?}", report.error);
        for name in ["first", "left", "right", "last"] {
            let is_finished = finished.iter().any(|line| {
                line.starts_with("step.completed") && line.ends_with(&format!("{name} succeeded"))
            });
            let expected = if is_finished { 1 } else { 2 };
            assert_eq!(count(&dir, name), expected, "{name} after {lines}: {finished:?}");
        }
        // The child's own transcript was whole, so that it never runs again once it is named.
        let is_called = finished.iter().any(|line| line.starts_with("step.call_workflow.started"));
        if is_called {
            assert_eq!(count(&dir, "inner"), 1, "after {lines}");
        }
        bench.assert_verifies("main");
    }
}

#[tokio::test]
async fn a_called_run_that_was_killed_before_its_first_line_still_knows_its_parent() {
    let mut bench = Bench::new().with(child());
    bench.run(flow()).await;
    let called = |line: &String| line.starts_with("step.call_workflow.started");
    let lines = bench.course("main").iter().position(called).unwrap() + 1;
    cut(&bench.layout().transcript(&"main".parse().unwrap()), lines);
    cut(&bench.layout().transcript(&"child-0".parse().unwrap()), 0);
    let report = resume(&mut bench).await;
    assert_eq!(report.status, Status::Succeeded, "{:?}", report.error);
    let parents = bench.events("child-0").into_iter().map(|event| event.parent_run_id);
    assert!(parents.into_iter().all(|parent| parent == Some("main".parse().unwrap())));
    bench.assert_verifies("main");
    bench.assert_verifies("child-0");
}

#[tokio::test]
async fn a_transcript_tells_what_its_run_was_and_did() {
    let mut bench = Bench::new().with(child());
    bench.inputs = serde_json::json!({"who": "you", "token": "t"}).as_object().unwrap().clone();
    bench.run(flow()).await;
    let past = PastRun::read(&bench.layout().transcript(&"main".parse().unwrap())).unwrap();
    assert_eq!((past.name.as_str(), past.status), ("demo", Some(Status::Succeeded)));
    assert_eq!(past.definition.unwrap().path, "/flows/demo.yaml");
    assert_eq!(past.inputs["who"], "you");
    assert_eq!(past.inputs["token"], "***");
    assert!(!past.history.is_empty());
}

#[tokio::test]
async fn a_step_that_left_the_run_no_way_on_is_tried_again() {
    let flow = || {
        workflow(
            "demo",
            [
                counted("first", Some("picky")),
                command("picky", "echo x >> picky; test -e ready", Some("done")),
                done(),
            ],
        )
    };
    let mut bench = Bench::new();
    assert_eq!(bench.run(flow()).await.status, Status::Failed);
    std::fs::write(bench.dir.path().join("ready"), "").unwrap();
    let (_bell, stop) = watch::channel(None);
    let mut request = bench.request(flow(), stop);
    request.resume = true;
    let report = finish(request).await;
    assert_eq!(report.status, Status::Succeeded, "{:?}", report.error);
    assert_eq!(count(bench.dir.path(), "first"), 1);
    assert_eq!(count(bench.dir.path(), "picky"), 2);
    bench.assert_verifies("main");
}

#[tokio::test]
async fn failures_that_the_workflow_dealt_with_are_not_tried_again() {
    let flow = || {
        let mut fan = parallel("fan", &["bad", "good"], Some("picky"));
        if let StepKind::Parallel(parallel) = &mut fan.kind {
            parallel.strategy = Strategy::BestEffort;
        }
        let mut shaky = command("shaky", "echo x >> shaky; exit 1", Some("fan"));
        shaky.continue_on_error = true;
        workflow(
            "demo",
            [
                shaky,
                fan,
                command("bad", "echo x >> bad; exit 1", None),
                counted("good", None),
                command("picky", "echo x >> picky; test -e ready", Some("done")),
                done(),
            ],
        )
    };
    let mut bench = Bench::new();
    assert_eq!(bench.run(flow()).await.status, Status::Failed);
    std::fs::write(bench.dir.path().join("ready"), "").unwrap();
    let (_bell, stop) = watch::channel(None);
    let mut request = bench.request(flow(), stop);
    request.resume = true;
    let report = finish(request).await;
    assert_eq!(report.status, Status::Succeeded, "{:?}", report.error);
    for (name, times) in [("shaky", 1), ("bad", 1), ("good", 1), ("picky", 2)] {
        assert_eq!(count(bench.dir.path(), name), times, "{name}");
    }
}
