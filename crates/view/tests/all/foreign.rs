//! Transcripts of other writers: no run events, no status, nameless loops.

use quipu_event::payload::Status;
use quipu_view::tree::{Node, Part};

use super::transcript::tree;

fn paths(nodes: &[Node]) -> Vec<String> {
    let mut paths = Vec::new();
    for node in nodes {
        paths.push(node.path.as_str().to_owned());
        paths.extend(self::paths(&node.children));
    }
    paths
}

#[test]
fn nameless_iterations_stand_by_themselves_when_no_loop_is_known() {
    let run = tree(
        r#"
        {"type":"step.started","path":"loop:1/loop:2/log_inner","iteration":2,"payload":{"name":"log_inner","kind":"command"}}
        {"type":"step.completed","path":"loop:1/loop:2/log_inner","iteration":2,"payload":{"name":"log_inner","kind":"command","error":"exit code 1","result":false}}
    "#,
    );
    let outer = &run.steps[0];
    let inner = &outer.children[0];
    assert_eq!((&outer.part, &inner.part), (&Part::Iteration(1), &Part::Iteration(2)));
    assert_eq!(inner.children[0].part, Part::Step("log_inner".to_owned()));
    assert_eq!(outer.status(), Some(Status::Failed));
}

#[test]
fn nameless_iterations_belong_to_the_loop_that_is_open() {
    let run = tree(
        r#"
        {"type":"step.started","path":"first","payload":{"name":"first","kind":"for_each"}}
        {"type":"step.started","path":"loop:0/inner","payload":{"name":"inner","kind":"while"}}
        {"type":"step.started","path":"loop:0/loop:5/body","payload":{"name":"body","kind":"command"}}
        {"type":"tool.call","path":"loop:0/loop:5/body","payload":{"name":"Bash","call_id":"1"}}
        {"type":"step.completed","path":"loop:0/loop:5/body","payload":{"name":"body","kind":"command"}}
        {"type":"step.completed","path":"loop:0/inner","payload":{"name":"inner","kind":"while"}}
        {"type":"step.completed","path":"first","payload":{"name":"first","kind":"for_each"}}
        {"type":"step.started","path":"second","payload":{"name":"second","kind":"for_each"}}
        {"type":"step.started","path":"loop:0/body","payload":{"name":"body","kind":"command"}}
        {"type":"step.completed","path":"loop:0/body","payload":{"name":"body","kind":"command"}}
        {"type":"step.completed","path":"second","payload":{"name":"second","kind":"for_each"}}
        {"type":"step.started","path":"loop:0/late","payload":{"name":"late","kind":"command"}}
    "#,
    );
    assert_eq!(
        paths(&run.steps),
        [
            "first",
            "first[0]",
            "first[0].inner",
            "first[0].inner[5]",
            "first[0].inner[5].body",
            "second",
            "second[0]",
            "second[0].body",
            "[0]",
            "[0].late",
        ]
    );
    assert_eq!(run.steps[0].total_work().tool_calls, 1);
    assert_eq!(run.work.tool_calls, 0);
}

#[test]
fn an_end_without_a_status_is_a_failure_only_with_an_error() {
    let cases = [
        (r#"{"name":"a","result":true}"#, Status::Succeeded),
        (r#"{"name":"a","result":false,"error":"exit code 1"}"#, Status::Failed),
        ("null", Status::Succeeded),
        (r#"{"error":""}"#, Status::Succeeded),
    ];
    for (payload, expected) in cases {
        let line = format!(r#"{{"type":"step.completed","path":"a","payload":{payload}}}"#);
        let step = &tree(&line).steps[0];
        assert_eq!((step.status(), step.attempts[0].number), (Some(expected), 1), "{payload}");
    }
}

#[test]
fn a_step_visited_again_without_numbers_is_another_attempt() {
    let visit = r#"
        {"type":"step.started","path":"a","payload":{"name":"a"}}
        {"type":"step.completed","path":"a","payload":{"name":"a"}}
    "#;
    let run = tree(&visit.repeat(3));
    let numbers: Vec<_> = run.steps[0].attempts.iter().map(|attempt| attempt.number).collect();
    assert_eq!(numbers, [1, 2, 3]);
}

#[test]
fn a_step_without_a_path_is_known_by_its_name() {
    let run = tree(r#"{"type":"step.started","payload":{"name":"build"}}"#);
    assert_eq!(paths(&run.steps), ["build"]);
}

#[test]
fn a_tool_result_may_say_in_its_output_that_it_failed() {
    let run = tree(
        r#"
        {"type":"tool.result","payload":{"name":"Read","call_id":"1","output":{"Content":[],"IsError":true}}}
        {"type":"tool.result","payload":{"name":"Read","call_id":"2","output":{"Content":[],"IsError":false}}}
        {"type":"tool.result","payload":{"name":"Read","call_id":"3","output":null,"error":"missing"}}
    "#,
    );
    assert_eq!(run.work.tool_failures, 2);
}

#[test]
fn the_events_of_a_child_run_among_its_callers_become_a_tree_below_the_call() {
    let run = tree(
        r#"
        {"type":"step.call_workflow.started","path":"call","child_run_id":"child","payload":{"name":"call"}}
        {"run_id":"child","parent_run_id":"run","type":"step.started","path":"work","payload":{"name":"work"}}
        {"run_id":"lost","type":"step.started","path":"alone","payload":{"name":"alone"}}
        {"type":"step.call_workflow.completed","path":"call","child_run_id":"child","payload":{"name":"call"}}
    "#,
    );
    assert_eq!((run.steps.len(), run.events), (1, 2));
    let child = run.steps[0].child_runs().next().expect("the child run is joined");
    assert_eq!(paths(&child.steps), ["work"]);
    assert_eq!(child.parent_run_id.as_ref(), Some(&run.run_id));
    let strays: Vec<_> = run.strays.iter().map(|stray| stray.run_id.as_str()).collect();
    assert_eq!(strays, ["lost"]);
}
