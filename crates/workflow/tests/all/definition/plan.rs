//! Every kind of step is read with its keys.

use std::time::Duration;

use quipu_workflow::definition::{Items, IterationLimit, StepKind, TerminalStatus};

use super::valid;

#[test]
fn every_kind_of_step_is_read_with_its_keys() {
    let workflow = valid(include_str!("everything.yaml"));
    let kind = |name: &str| workflow.steps[name].kind.clone();
    assert_eq!(workflow.inputs.len(), 3);
    assert_eq!(workflow.outputs[0].0, "report");
    assert_eq!((workflow.hooks.start.len(), workflow.hooks.cancel.len()), (1, 1));
    let build = &workflow.steps["build"];
    assert_eq!(build.timeout, Some(Duration::from_millis(90_500)));
    let retry = build.retry.clone().unwrap();
    assert_eq!((retry.max_attempts, retry.jitter), (3, 0.25));
    assert_eq!(retry.initial_delay, Duration::from_millis(200));
    assert_eq!(retry.retryable_exit_codes, [1, 2]);
    assert_eq!(build.env.len(), 1);
    let StepKind::Command(command) = &build.kind else { panic!("{build:?}") };
    assert_eq!(command.capture.as_ref().unwrap().max_size, Some(10_000_000));
    let StepKind::ForEach(each) = kind("each") else { panic!() };
    assert!(matches!(each.items, Items::List(ref items) if items.len() == 3));
    assert!(matches!(each.each.max_iterations, IterationLimit::Template(_)));
    let StepKind::While(turn) = kind("turn") else { panic!() };
    assert_eq!(turn.each.max_iterations, IterationLimit::Count(100));
    let StepKind::Agent(agent) = kind("ask") else { panic!() };
    assert_eq!((agent.skills.len(), agent.command.unwrap().len()), (2, 2));
    let StepKind::Custom(custom) = kind("special") else { panic!() };
    assert_eq!(custom.step_type, "database.query");
    let StepKind::Terminal(end) = kind("broken") else { panic!() };
    assert_eq!((end.status, end.exit_status), (TerminalStatus::Failure, Some(3)));
}
