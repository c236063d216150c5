//! `quipu stats`: runs in numbers.

use serde_json::json;

use crate::session::Session;
use crate::transcripts::{self, AWF_ID, HOSTILE_ID, LINT_ID, REVIEW_ID};

#[test]
fn a_run_is_summed_up_in_facts_and_tables() {
    assert_eq!(
        transcripts::session().ok(&["stats", "last"]),
        "\
run       11111111-aaaa-4000-8000-000000000001
name      review
status    failed
error     lint failed
started   2026-06-08T10:00:00.000000Z
ended     2026-06-08T10:01:05.000000Z
duration  1m05s
events    13 in 3.75 kB
tokens    1.23k: 1.2k in, 34 out
messages  1 assistant, 1 user
agents    1 claude
children  1 run

TYPE                          EVENTS
step.completed                     2
step.started                       2
message.assistant                  1
message.user                       1
run.completed                      1
run.started                        1
step.call_workflow.completed       1
step.call_workflow.started         1
tool.call                          1
tool.result                        1
usage                              1

TOOL  CALLS  FAILED  BLOCKED  DANGLING  TIME
Read      1       0        0         0   7ms

STEP        KIND           TIMES  RETRIES  FAILED  TIME  LONGEST
each        for_each           1        0       0  2.2s     2.2s
each.check  agent              1        0       0  2.0s     2.0s
lint        call_workflow      1        0       1  1.0s     1.0s

MODEL  EVENTS    IN  OUT  CACHE READ  CACHE WRITTEN  REASONING  COST
opus        1  1.2k   34           -              -          -     -
"
    );
}

#[test]
fn one_table_can_be_asked_for_alone() {
    let session = transcripts::session();
    assert_eq!(
        session.ok(&["stats", LINT_ID, "--by", "step", "--by", "type"]),
        "\
TYPE            EVENTS
run.completed        1
run.started          1
step.completed       1
step.started         1

STEP    KIND     TIMES  RETRIES  FAILED   TIME  LONGEST
clippy  command      1        0       1  700ms    700ms
"
    );
}

#[test]
fn every_table_alone_says_what_it_says_among_the_others() {
    let session = transcripts::session();
    let whole = session.quipu(&["stats", "last", "--json"]).json();
    for (by, key) in [("type", "types"), ("tool", "tools"), ("step", "steps"), ("model", "models")]
    {
        let alone = session.quipu(&["stats", "last", "--json", "--by", by]).json();
        assert_eq!(alone[key], whole[key], "{by}");
        assert_eq!(alone["events"], 13);
        assert_eq!(alone.as_object().unwrap().len(), 4, "{alone}");
    }
}

#[test]
fn all_runs_are_added_up_when_none_is_named() {
    let session = transcripts::session();
    let all = session.quipu(&["stats", "--json"]);
    assert_eq!(all.code, Some(3), "one of the runs is damaged");
    let all = all.json();
    assert_eq!((&all["runs"], &all["events"]), (&json!(4), &json!(13 + 4 + 4 + 7)));
    assert_eq!(all["usage"], json!({ "input_tokens": 1200, "output_tokens": 39 }));
    let some = session.quipu(&["stats", "--json", REVIEW_ID, LINT_ID, "1111"]).json();
    assert_eq!((&some["runs"], &some["events"]), (&json!(2), &json!(17)));
}

#[test]
fn lines_that_do_not_begin_as_ours_are_counted_too() {
    let session = Session::new();
    let odd = r#"{"type":"usage","run_id":"RUN","seq":1,"timestamp":"2026-06-08T10:00:00Z","payload":{"output_tokens":3}}"#;
    transcripts::put(&session, "odd", &format!("{odd}\n"));
    let by_type = session.quipu(&["stats", "odd", "--by", "type", "--json"]).json();
    assert_eq!(by_type["types"], json!({ "usage": 1 }));
    let by_model = session.quipu(&["stats", "odd", "--by", "model", "--json"]).json();
    assert_eq!(by_model["models"]["unknown"]["tokens"], json!({ "output_tokens": 3 }));
}

#[test]
fn damage_is_counted_but_not_as_events() {
    let outcome = transcripts::session().quipu(&["stats", HOSTILE_ID, "--by", "type", "--json"]);
    assert_eq!(outcome.json()["events"], 4);
    assert_eq!(outcome.code, Some(3));
    assert!(outcome.stderr.starts_with("note: 3 lines damaged\n"), "{outcome:?}");
}

#[test]
fn a_file_of_another_writer_is_counted_like_our_own() {
    let stats = transcripts::session().quipu(&["stats", AWF_ID, "--json"]).json();
    assert_eq!(stats["tools"]["Read"]["calls"], 1);
    assert_eq!(stats["steps"]["loop.log_inner"]["failed"], 1);
}

#[test]
fn an_empty_storage_says_what_to_do_and_is_no_failure() {
    let outcome = Session::new().quipu(&["stats"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""));
    assert!(outcome.stderr.starts_with("note: there are no runs in storage yet\n"), "{outcome:?}");
}
