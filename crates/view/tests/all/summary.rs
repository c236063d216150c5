//! Counts, durations and tokens.

use quipu_event::payload::{RunKind, Status, TokenCounts};
use quipu_view::Summary;
use quipu_view::summary::{StepTotals, ToolTotals};

use super::transcript::summary;

#[test]
fn a_run_is_identified_by_its_beginning_and_its_end() {
    let summary = summary(
        r#"
        {"seq":3,"parent_run_id":"up","type":"run.started","payload":{"name":"review","kind":"session","agent":{"provider":"claude"}}}
        {"seq":4,"type":"run.completed","payload":{"status":"failed","error":"no","duration_ms":1012,"counts":{"masked":4}}}
    "#,
    );
    assert_eq!(summary.run_id.as_ref().map(|id| id.as_str()), Some("run"));
    assert_eq!(summary.parent_run_id.as_ref().map(|id| id.as_str()), Some("up"));
    assert_eq!(
        (summary.name.as_deref(), summary.kind.clone()),
        (Some("review"), Some(RunKind::Session))
    );
    assert_eq!(
        (summary.status.clone(), summary.error.as_deref()),
        (Some(Status::Failed), Some("no"))
    );
    assert_eq!((summary.duration_ms(), summary.masked), (Some(1012), 4));
    assert_eq!((summary.first_seq, summary.last_seq), (Some(3), Some(4)));
    assert!(summary.ended > summary.started);
}

#[test]
fn a_run_without_an_end_lasted_until_its_last_event() {
    let summary = summary(
        r#"
        {"type":"system","payload":{"subtype":"x"}}
        {"type":"system","payload":{"subtype":"x"}}
    "#,
    );
    assert_eq!((summary.duration_ms(), summary.ended, summary.status), (Some(1000), None, None));
    assert_eq!(Summary::default().duration_ms(), None);
}

#[test]
fn a_call_without_a_result_is_dangling() {
    let summary = summary(
        r#"
        {"type":"tool.call","payload":{"name":"Read","call_id":"1"}}
        {"type":"tool.call","payload":{"name":"Read","call_id":"2"}}
        {"type":"tool.call","payload":{"name":"Read","call_id":"3"}}
        {"type":"tool.result","payload":{"name":"Read","call_id":"1","status":"blocked","duration_ms":5}}
        {"type":"tool.result","payload":{"call_id":"3","error":"no","duration_ms":6}}
        {"type":"tool.result","payload":{"name":"Bash","call_id":"lost","status":"completed"}}
    "#,
    );
    let read =
        ToolTotals { calls: 3, results: 2, failed: 1, blocked: 1, dangling: 1, duration_ms: 11 };
    assert_eq!(summary.tools["Read"], read);
    assert_eq!(summary.tools["Bash"], ToolTotals { results: 1, ..ToolTotals::default() });
    assert_eq!(summary.tools.len(), 2);
}

#[test]
fn steps_are_added_up_over_iterations_and_attempts() {
    let summary = summary(
        r#"
        {"type":"step.started","path":"each","payload":{"kind":"for_each"}}
        {"type":"step.started","path":"each[0].check","payload":{"kind":"agent","attempt":1,"agent":{"provider":"codex"}}}
        {"type":"step.completed","path":"each[0].check","payload":{"attempt":1,"status":"failed","duration_ms":5}}
        {"type":"step.started","path":"each[0].check","payload":{"kind":"agent","attempt":2,"agent":{"provider":"codex"}}}
        {"type":"step.completed","path":"each[0].check","payload":{"attempt":2,"status":"succeeded","duration_ms":7}}
        {"type":"step.started","path":"each[9].check","payload":{"kind":"agent","attempt":1}}
        {"type":"step.completed","path":"each[9].check","payload":{"attempt":1,"status":"succeeded"}}
    "#,
    );
    let check = StepTotals {
        kind: Some("agent".to_owned()),
        occurrences: 2,
        retries: 1,
        ended: 3,
        failed: 1,
        duration_ms: 1012,
        max_duration_ms: 1000,
    };
    assert_eq!(summary.steps["each.check"], check);
    assert_eq!(summary.steps["each"].ended, 0);
    assert_eq!((summary.loops["each"], summary.agents["codex"]), (10, 2));
}

#[test]
fn a_call_told_as_a_step_and_as_a_call_is_one_occurrence() {
    let told_twice = r#"
        {"type":"step.started","path":"call","payload":{"kind":"call_workflow","attempt":1}}
        {"type":"step.call_workflow.started","child_run_id":"c","path":"call","payload":{"attempt":1}}
        {"type":"step.call_workflow.completed","child_run_id":"c","path":"call","payload":{"status":"failed"}}
        {"type":"step.completed","path":"call","payload":{"attempt":1,"status":"failed"}}
    "#;
    let summary = summary(&told_twice.repeat(2));
    let call = &summary.steps["call"];
    assert_eq!((call.occurrences, call.ended, call.failed, call.retries), (2, 2, 2, 0));
    assert_eq!((summary.child_runs, summary.counts().steps), (2, 2));
}

#[test]
fn nameless_loops_are_called_loop() {
    let summary = summary(r#"{"type":"step.started","path":"loop:1/loop:2/log","payload":null}"#);
    assert_eq!(summary.steps["loop.loop.log"].occurrences, 1);
    assert_eq!((summary.loops["loop"], summary.loops["loop.loop"]), (2, 3));
}

#[test]
fn messages_are_counted_by_role_and_blocks_by_type() {
    let summary = summary(
        r#"
        {"type":"message.user","payload":{"role":"user","blocks":[{"type":"text","text":"t"}]}}
        {"type":"message.assistant","payload":{"role":"assistant","blocks":[{"type":"thinking"},{"type":"text"},{"type":"novel"}]}}
        {"type":"message.assistant","payload":[{"type":"text"}]}
        {"type":"error","payload":{"message":"m"}}
        {"type":"unknown","payload":{"reason":"r"}}
    "#,
    );
    assert_eq!((summary.messages["user"], summary.messages["assistant"]), (1, 2));
    assert_eq!(
        (summary.blocks["text"], summary.blocks["thinking"], summary.blocks["novel"]),
        (3, 1, 1)
    );
    assert_eq!((summary.errors, summary.unknown, summary.undecoded), (1, 1, 0));
}

#[test]
fn tokens_are_summed_over_usage_events_only() {
    let summary = summary(
        r#"
        {"type":"step.started","path":"a"}
        {"type":"usage","path":"a","payload":{"model":"m","input_tokens":3,"output_tokens":1}}
        {"type":"usage","path":"a","payload":{"model":"m","input_tokens":4}}
        {"type":"usage","path":"a","payload":{"cache_read_tokens":9}}
        {"type":"step.completed","path":"a","payload":{"usage":{"input_tokens":7,"output_tokens":1}}}
        {"type":"run.completed","payload":{"usage":{"input_tokens":7,"output_tokens":1}}}
    "#,
    );
    let expected = TokenCounts {
        input_tokens: Some(7),
        output_tokens: Some(1),
        cache_read_tokens: Some(9),
        ..TokenCounts::default()
    };
    assert_eq!(summary.usage(), Some(expected));
    assert_eq!((summary.models["m"].events, summary.models["m"].tokens.input_tokens), (2, Some(7)));
    assert_eq!(summary.models["unknown"].tokens.cache_read_tokens, Some(9));
    assert_eq!(Summary::default().usage(), None);
}

#[test]
fn the_counts_of_a_run_include_its_last_line() {
    let before = r#"
        {"type":"run.started","payload":{"name":"r","kind":"exec"}}
        {"type":"tool.call","payload":{"name":"T","call_id":"1"}}
    "#;
    let after =
        format!("{before}{}", r#"{"type":"run.completed","payload":{"status":"succeeded"}}"#);
    assert_eq!(summary(before).counts(), summary(&after).counts());
    assert_eq!(summary(&after).counts().events, 3);
}

#[test]
fn a_summary_does_not_grow_with_the_iterations_of_a_loop() {
    let iterations = |count: usize| {
        let mut lines = String::new();
        for n in 0..count {
            lines += &format!(
                r#"
                {{"type":"step.started","path":"each[{n}].check"}}
                {{"type":"tool.call","path":"each[{n}].check","payload":{{"name":"T","call_id":"{n}"}}}}
                {{"type":"tool.result","path":"each[{n}].check","payload":{{"name":"T","call_id":"{n}"}}}}
                {{"type":"step.completed","path":"each[{n}].check"}}
            "#
            );
        }
        // What is open is not public, but it is printed.
        format!("{:?}", summary(&lines)).len()
    };
    let digits_only = 100;
    assert!(iterations(5000) < iterations(10) + digits_only);
}

#[test]
fn summaries_of_several_runs_add_up() {
    let run = |id: &str, status: &str, tokens: u64| {
        summary(&format!(
            r#"
            {{"run_id":"{id}","type":"run.started","payload":{{"name":"same","kind":"exec"}}}}
            {{"run_id":"{id}","type":"step.started","path":"a","payload":{{"kind":"command"}}}}
            {{"run_id":"{id}","type":"tool.call","payload":{{"name":"T","call_id":"1"}}}}
            {{"run_id":"{id}","type":"usage","payload":{{"model":"m","input_tokens":{tokens}}}}}
            {{"run_id":"{id}","type":"step.completed","path":"a","payload":{{"duration_ms":{tokens}}}}}
            {{"run_id":"{id}","type":"run.completed","payload":{{"status":"{status}","duration_ms":10000}}}}
        "#
        ))
    };
    let mut total = Summary::default();
    total.merge(&Summary::default());
    assert_eq!(total, Summary::default());
    total.merge(&run("one", "failed", 3));
    assert_eq!(total, run("one", "failed", 3));
    total.merge(&run("two", "succeeded", 4));

    assert_eq!((total.runs, total.events, total.duration_ms()), (2, 12, Some(20_000)));
    assert_eq!((total.run_id.as_ref(), total.status.as_ref()), (None, None));
    assert_eq!(total.name.as_deref(), Some("same"));
    assert_eq!((total.types["tool.call"], total.tools["T"].dangling), (2, 2));
    assert_eq!((total.steps["a"].duration_ms, total.steps["a"].max_duration_ms), (7, 4));
    assert_eq!(total.usage().and_then(|usage| usage.input_tokens), Some(7));
}

#[test]
fn the_json_of_a_summary_says_what_the_summary_says() {
    let json = summary(
        r#"
        {"type":"run.started","payload":{"name":"r","kind":"exec"}}
        {"type":"usage","payload":{"model":"m","input_tokens":3}}
        {"type":"tool.call","payload":{"name":"T","call_id":"1"}}
        {"type":"step.started","path":"a[4].b","payload":{"kind":"command"}}
    "#,
    )
    .to_json();
    assert_eq!((&json["name"], &json["kind"]), (&"r".into(), &"exec".into()));
    assert_eq!(
        (&json["usage"]["input_tokens"], &json["models"]["m"]["events"]),
        (&3.into(), &1.into())
    );
    assert_eq!((&json["tools"]["T"]["dangling"], &json["loops"]["a"]), (&1.into(), &5.into()));
    assert_eq!(
        (&json["steps"]["a.b"]["kind"], &json["duration_ms"]),
        (&"command".into(), &3000.into())
    );
}
