//! What a tree makes of steps, loops, attempts and the work inside them.

use quipu_event::payload::Status;
use quipu_view::tree::{Node, Part, RenderOptions, render};
use quipu_view::{RunTree, TreeBuilder};

use super::transcript::{events, tree};

/// Draws a run as text, one row a line, without folding.
fn drawing(run: &RunTree) -> Vec<String> {
    let rows = render(run, &RenderOptions { fold_above: usize::MAX });
    rows.iter().map(ToString::to_string).collect()
}

const RUN_WITH_EVERYTHING: &str = r#"
    {"type":"run.started","payload":{"name":"review","kind":"workflow","agent":{"provider":"claude"}}}
    {"type":"step.started","path":"each_file","payload":{"name":"each_file","kind":"for_each","attempt":1}}
    {"type":"step.started","path":"each_file[0].check","payload":{"name":"check","kind":"agent","attempt":1,"agent":{"provider":"codex"}}}
    {"type":"message.user","path":"each_file[0].check","payload":{"role":"user","blocks":[]}}
    {"type":"tool.call","path":"each_file[0].check","payload":{"name":"Read","call_id":"1"}}
    {"type":"tool.result","path":"each_file[0].check","payload":{"name":"Read","call_id":"1","status":"failed"}}
    {"type":"usage","path":"each_file[0].check","payload":{"model":"m","input_tokens":5,"output_tokens":2}}
    {"type":"step.completed","path":"each_file[0].check","payload":{"attempt":1,"status":"succeeded","duration_ms":40}}
    {"type":"step.started","path":"each_file[1].check","payload":{"name":"check","kind":"agent","attempt":1}}
    {"type":"step.completed","path":"each_file[1].check","payload":{"attempt":1,"status":"failed","error":"no","duration_ms":2}}
    {"type":"step.completed","path":"each_file","payload":{"attempt":1,"status":"failed","duration_ms":50}}
    {"type":"step.started","path":"fan_out","payload":{"kind":"parallel"}}
    {"type":"step.started","path":"fan_out.lint","payload":{"kind":"command"}}
    {"type":"step.started","path":"fan_out.test","payload":{"kind":"command"}}
    {"type":"step.completed","path":"fan_out.test","payload":{"status":"succeeded"}}
    {"type":"run.completed","payload":{"name":"review","status":"failed","error":"check failed","duration_ms":99000}}
"#;

#[test]
fn steps_iterations_and_branches_stand_where_their_paths_say() {
    assert_eq!(
        drawing(&tree(RUN_WITH_EVERYTHING)),
        [
            "review (workflow): failed, 99000 ms, 1 tool calls (1 failed), 7 tokens: check failed",
            "├─ each_file (for_each): failed, 50 ms, 1 tool calls (1 failed), 7 tokens",
            "│  ├─ [0]: succeeded, 40 ms, 1 tool calls (1 failed), 7 tokens",
            "│  │  └─ check (agent): succeeded, 40 ms, 1 tool calls (1 failed), 7 tokens",
            "│  └─ [1]: failed, 2 ms",
            "│     └─ check (agent): failed, 2 ms: no",
            "└─ fan_out (parallel): open",
            "   ├─ lint (command): open",
            "   └─ test (command): succeeded, 1000 ms",
        ]
    );
}

#[test]
fn a_live_fold_and_a_replay_give_the_same_tree() {
    let events = events(RUN_WITH_EVERYTHING);
    let mut live = TreeBuilder::default();
    assert_eq!(live.snapshot(), None);
    for (n, event) in events.iter().enumerate() {
        live.add(event);
        let mut replay = TreeBuilder::default();
        events[..=n].iter().for_each(|event| replay.add(event));
        assert_eq!(live.snapshot(), replay.finish());
    }
}

#[test]
fn work_is_kept_where_it_was_done_and_asked_for_from_above() {
    let run = tree(
        r#"
        {"type":"tool.call","path":"","payload":{"name":"A","call_id":"0"}}
        {"type":"step.started","path":"a","payload":{}}
        {"type":"tool.call","path":"a","payload":{"name":"A","call_id":"1"}}
        {"type":"step.started","path":"a.b","payload":{}}
        {"type":"tool.call","path":"a.b","payload":{"name":"A","call_id":"2"}}
        {"type":"message.assistant","path":"a.b.never_started[3].x","payload":null}
        {"type":"error","path":"nowhere","payload":{"message":"m"}}
    "#,
    );
    let a = &run.steps[0];
    let b = &a.children[0];
    assert_eq!((run.work.tool_calls, run.work.errors), (1, 1));
    assert_eq!((a.work.tool_calls, b.work.tool_calls, b.work.messages), (1, 1, 1));
    assert_eq!(run.total_work().tool_calls, 3);
    assert_eq!(a.total_work().tool_calls, 2);
    assert_eq!(run.steps.len(), 1, "only steps make nodes");
}

#[test]
fn the_last_attempt_decides_how_a_step_ended() {
    let cases = [
        (["failed", "succeeded"], Status::Succeeded),
        (["succeeded", "failed"], Status::Failed),
        (["failed", "canceled"], Status::Canceled),
    ];
    for ([first, second], expected) in cases {
        let lines = format!(
            r#"
            {{"type":"step.started","path":"a","payload":{{"attempt":1}}}}
            {{"type":"step.completed","path":"a","payload":{{"attempt":1,"status":"{first}"}}}}
            {{"type":"step.started","path":"a","payload":{{"attempt":2}}}}
            {{"type":"step.completed","path":"a","payload":{{"attempt":2,"status":"{second}"}}}}
        "#
        );
        let step = &tree(&lines).steps[0];
        assert_eq!(step.status(), Some(expected));
        assert_eq!(step.attempts.len(), 2);
        assert_eq!(step.duration_ms(), Some(2000));
    }
}

#[test]
fn a_step_that_is_tried_again_is_open_again() {
    let run = tree(
        r#"
        {"type":"step.started","path":"a","payload":{"attempt":1}}
        {"type":"step.completed","path":"a","payload":{"attempt":1,"status":"failed","error":"no"}}
        {"type":"step.started","path":"a","payload":{"attempt":2}}
    "#,
    );
    assert_eq!((run.steps[0].status(), run.steps[0].error()), (None, None));
    assert_eq!(run.steps[0].attempts[0].error.as_deref(), Some("no"));
}

#[test]
fn a_step_whose_parent_was_never_started_still_appears() {
    let run = tree(r#"{"type":"step.started","path":"each[3].deep.check","payload":{}}"#);
    let mut parts = Vec::new();
    let mut level: &[Node] = &run.steps;
    while let [node] = level {
        parts.push((node.part.clone(), node.path.as_str().to_owned()));
        level = &node.children;
    }
    let step = |name: &str| Part::Step(name.to_owned());
    let expected = [
        (step("each"), "each".to_owned()),
        (Part::Iteration(3), "each[3]".to_owned()),
        (step("deep"), "each[3].deep".to_owned()),
        (step("check"), "each[3].deep.check".to_owned()),
    ];
    assert_eq!(parts, expected);
}

#[test]
fn an_end_without_a_beginning_is_an_attempt_of_its_own() {
    let run =
        tree(r#"{"type":"step.completed","path":"a","payload":{"attempt":2,"status":"aborted"}}"#);
    let attempt = &run.steps[0].attempts[0];
    assert_eq!((attempt.number, attempt.started), (2, None));
    assert_eq!(run.steps[0].status(), Some(Status::Aborted));
}

#[test]
fn an_iteration_follows_from_what_is_inside() {
    let cases = [
        ("succeeded", "succeeded", Some(Status::Succeeded)),
        ("skipped", "succeeded", Some(Status::Succeeded)),
        ("succeeded", "", None),
        ("failed", "", Some(Status::Failed)),
        ("aborted", "succeeded", Some(Status::Failed)),
    ];
    for (first, second, expected) in cases {
        let mut lines = String::new();
        for (step, status) in [("a", first), ("b", second)] {
            let path = format!("each[0].{step}");
            lines += &format!("{{\"type\":\"step.started\",\"path\":\"{path}\"}}\n");
            if !status.is_empty() {
                let payload = format!("{{\"status\":\"{status}\"}}");
                lines += &format!(
                    "{{\"type\":\"step.completed\",\"path\":\"{path}\",\"payload\":{payload}}}\n"
                );
            }
        }
        let run = tree(&lines);
        assert_eq!(run.steps[0].children[0].status(), expected, "{first} {second}");
    }
}

#[test]
fn a_call_told_as_a_step_and_as_a_call_is_one_attempt() {
    let run = tree(
        r#"
        {"type":"step.started","path":"call","payload":{"kind":"call_workflow","attempt":1}}
        {"type":"step.call_workflow.started","child_run_id":"child","path":"call","payload":{"kind":"call_workflow"}}
        {"type":"step.call_workflow.completed","child_run_id":"child","path":"call","payload":{"status":"failed","error":"no","duration_ms":7}}
        {"type":"step.completed","path":"call","payload":{"attempt":1,"status":"failed"}}
    "#,
    );
    let [attempt] = run.steps[0].attempts.as_slice() else { panic!("one attempt: {run:?}") };
    assert_eq!(attempt.child_run_id.as_ref().map(|id| id.as_str()), Some("child"));
    assert_eq!((attempt.error.as_deref(), attempt.duration_ms), (Some("no"), Some(7)));
}

#[test]
fn a_run_that_does_not_say_how_long_it_took_lasted_until_its_last_event() {
    let run = tree(
        r#"
        {"type":"run.started","payload":{"name":"r","kind":"exec"}}
        {"type":"system","payload":{"subtype":"x"}}
        {"type":"system","payload":{"subtype":"x"}}
    "#,
    );
    assert_eq!((run.status.clone(), run.duration_ms, run.events), (None, 2000, 3));
}

#[test]
fn the_json_of_a_tree_says_what_the_tree_says() {
    let json = tree(RUN_WITH_EVERYTHING).to_json();
    assert_eq!(json["status"], "failed");
    assert_eq!(json["total_work"]["usage"]["input_tokens"], 5);
    let iteration = &json["steps"][0]["children"][0];
    assert_eq!(iteration["iteration"], 0);
    assert_eq!(iteration["name"], "[0]");
    let check = &iteration["children"][0];
    assert_eq!(check["path"], "each_file[0].check");
    assert_eq!(check["attempts"][0]["agent"], "codex");
    assert_eq!(check["work"]["tool_failures"], 1);
    assert!(json["steps"][1]["status"].is_null());
}
