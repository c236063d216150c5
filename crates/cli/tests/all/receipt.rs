//! `quipu receipt`: what a run cost, step by step.

use std::fs;

use serde_json::json;

use crate::run::{wait_for, with_workflow};
use crate::session::{Session, finish};
use crate::transcripts::{self, HOSTILE_ID, LINT_ID};

const UP: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const DOWN: &str = "bbbbbbbb-0000-4000-8000-000000000002";

/// A run with a loop, two models in one step, a reported cost, and a called run.
const BUILD: &str = r#"
{"seq":1,"run_id":"RUN","type":"run.started","path":"","iteration":0,"timestamp":"2026-06-08T23:59:59.500000Z","payload":{"name":"build","kind":"workflow","format":1,"cwd":"/src/app"}}
{"seq":2,"run_id":"RUN","type":"step.started","path":"each","iteration":0,"timestamp":"2026-06-08T23:59:59.600000Z","payload":{"name":"each","kind":"for_each","attempt":1}}
{"seq":3,"run_id":"RUN","type":"step.started","path":"each[0].ask","iteration":0,"timestamp":"2026-06-08T23:59:59.700000Z","payload":{"name":"ask","kind":"agent","attempt":1,"agent":{"provider":"codex","model":"gpt-5-codex"}}}
{"seq":4,"run_id":"RUN","type":"usage","path":"each[0].ask","iteration":0,"timestamp":"2026-06-08T23:59:59.800000Z","payload":{"input_tokens":1000,"output_tokens":100,"cache_read_tokens":0,"scope":"turn"}}
{"seq":5,"run_id":"RUN","type":"step.completed","path":"each[0].ask","iteration":0,"timestamp":"2026-06-08T23:59:59.900000Z","payload":{"name":"ask","kind":"agent","attempt":1,"status":"succeeded","duration_ms":2000}}
{"seq":6,"run_id":"RUN","type":"step.started","path":"each[1].ask","iteration":1,"timestamp":"2026-06-08T23:59:59.900000Z","payload":{"name":"ask","kind":"agent","attempt":1,"agent":{"provider":"codex","model":"gpt-5-codex"}}}
{"seq":7,"run_id":"RUN","type":"usage","path":"each[1].ask","iteration":1,"timestamp":"2026-06-09T00:00:03.000000Z","payload":{"input_tokens":2000,"output_tokens":200,"scope":"turn"}}
{"seq":8,"run_id":"RUN","type":"step.completed","path":"each[1].ask","iteration":1,"timestamp":"2026-06-09T00:00:04.200000Z","payload":{"name":"ask","kind":"agent","attempt":1,"status":"failed","error":"no","duration_ms":1000}}
{"seq":9,"run_id":"RUN","type":"step.completed","path":"each","iteration":0,"timestamp":"2026-06-09T00:00:05.000000Z","payload":{"name":"each","kind":"for_each","attempt":1,"status":"succeeded","duration_ms":4000}}
{"seq":10,"run_id":"RUN","type":"step.started","path":"sum","iteration":0,"timestamp":"2026-06-09T00:00:05.000000Z","payload":{"name":"sum","kind":"agent","attempt":1,"agent":{"provider":"claude"}}}
{"seq":11,"run_id":"RUN","type":"usage","path":"sum","iteration":0,"timestamp":"2026-06-09T00:00:06.000000Z","payload":{"model":"claude-opus-4-5-20251101","input_tokens":10,"output_tokens":20,"cache_read_tokens":30,"cache_write_tokens":40,"reasoning_tokens":5,"scope":"session","cost_usd":0.25}}
{"seq":12,"run_id":"RUN","type":"usage","path":"sum","iteration":0,"timestamp":"2026-06-09T00:00:06.000000Z","payload":{"model":"house-model","input_tokens":7,"output_tokens":8,"scope":"message"},"source":"subagent:x"}
{"seq":13,"run_id":"RUN","type":"step.completed","path":"sum","iteration":0,"timestamp":"2026-06-09T00:00:07.000000Z","payload":{"name":"sum","kind":"agent","attempt":1,"status":"succeeded","duration_ms":2000}}
{"seq":14,"run_id":"RUN","child_run_id":"bbbbbbbb-0000-4000-8000-000000000002","type":"step.call_workflow.started","path":"call","iteration":0,"timestamp":"2026-06-09T00:00:07.000000Z","payload":{"name":"call","kind":"call_workflow","attempt":1}}
{"seq":15,"run_id":"RUN","child_run_id":"bbbbbbbb-0000-4000-8000-000000000002","type":"step.call_workflow.completed","path":"call","iteration":0,"timestamp":"2026-06-09T00:00:08.000000Z","payload":{"name":"call","kind":"call_workflow","attempt":1,"status":"succeeded","duration_ms":1000}}
{"seq":16,"run_id":"RUN","type":"run.completed","path":"","iteration":0,"timestamp":"2026-06-09T00:00:08.500000Z","payload":{"name":"build","kind":"workflow","status":"succeeded","duration_ms":9000}}
"#;

/// The run that it called: an agent's session without steps.
const CHILD: &str = r#"
{"seq":1,"run_id":"RUN","parent_run_id":"aaaaaaaa-0000-4000-8000-000000000001","type":"run.started","path":"","iteration":0,"timestamp":"2026-06-09T00:00:07.000000Z","payload":{"name":"helper","kind":"session","format":1,"cwd":"/src/lib","agent":{"provider":"gemini","model":"gemini-2.5-flash"}}}
{"seq":2,"run_id":"RUN","parent_run_id":"aaaaaaaa-0000-4000-8000-000000000001","type":"usage","path":"","iteration":0,"timestamp":"2026-06-09T00:00:07.500000Z","payload":{"model":"gemini-2.5-flash","input_tokens":1000000,"output_tokens":0,"scope":"message"}}
{"seq":3,"run_id":"RUN","parent_run_id":"aaaaaaaa-0000-4000-8000-000000000001","type":"message.assistant","path":"","iteration":0,"timestamp":"2026-06-09T00:00:08.000000Z","payload":{"role":"assistant","blocks":[]}}
"#;

/// A session in which both runs are.
pub(crate) fn session() -> Session {
    let session = Session::new();
    transcripts::put(&session, UP, BUILD);
    transcripts::put(&session, DOWN, CHILD);
    session
}

#[test]
fn a_receipt_has_a_row_per_step_totals_and_what_the_words_mean() {
    assert_eq!(
        session().ok(&["receipt", "last"]),
        "\
run       aaaaaaaa-0000-4000-8000-000000000001
name      build
status    succeeded
started   2026-06-08T23:59:59.500000Z
duration  9.0s

STEP                           KIND           ENGINE  MODEL                     STATUS                 TIMES  TIME         IN  OUT  CACHE READ  CACHE WRITTEN  REASONING       COST  OBTAINED
each                           for_each       -       -                         succeeded                  -  4.0s          -    -           -              -          -          -  -
each[*].ask                    agent          codex   gpt-5-codex               1 succeeded, 1 failed      2  3.0s      3,000  300           0              -          -    $0.0068  priced
sum                            agent          claude  2 models                  succeeded                  -  2.0s         17   28          30             40          5  ≥ $0.2500  reported + unknown
└ main                         -              -       claude-opus-4-5-20251101  -                          -     -         10   20          30             40          5    $0.2500  reported
└ subagents                    -              -       house-model               -                          -     -          7    8           -              -          -    unknown  unknown
call                           call_workflow  -       -                         succeeded                  -  1.0s          -    -           -              -          -          -  -
total                          -              -       -                         -                          -  9.0s      3,017  328          30             40          5  ≥ $0.2568  reported + priced + unknown
→ helper bbbbbbbb              -              gemini  gemini-2.5-flash          -                          -  1.0s  1,000,000    0           -              -          -    $0.3000  priced
total with the runs it called  -              -       -                         -                          -     -  1,003,017  328          30             40          5  ≥ $0.5568  reported + priced + unknown

reported: named by the provider
priced: tokens times the list prices of 2026-11-16
unknown: no price is known, or not all tokens are; such a sum is a least sum
"
    );
}

#[test]
fn json_has_exact_sums_and_how_they_were_obtained() {
    let receipt = session().quipu(&["receipt", UP, "--json"]).json();
    let ask = &receipt["steps"][1];
    assert_eq!((&ask["path"], &ask["times"]), (&json!("each[*].ask"), &json!(2)));
    assert_eq!(ask["ended"], json!({ "failed": 1, "succeeded": 1 }));
    assert_eq!(ask["cost"]["usd"], json!(0.00675));
    assert_eq!(ask["cost"]["how"], json!(["priced"]));
    assert_eq!(ask["tokens"].get("reasoning_tokens"), None, "nobody gave it");
    assert_eq!(receipt["steps"][0]["with_steps_inside"]["cost"]["usd"], json!(0.00675));
    assert_eq!(receipt["steps"][0]["cost"], json!(null));
    let total = &receipt["total"]["cost"];
    assert_eq!((&total["usd"], &total["is_complete"]), (&json!(0.25675), &json!(false)));
    assert_eq!((&total["reported_usd"], &total["priced_usd"]), (&json!(0.25), &json!(0.00675)));
    assert_eq!(receipt["total_with_called_runs"]["cost"]["usd"], json!(0.55675));
    assert_eq!(receipt["called_runs"][0]["name"], json!("helper"));
    assert_eq!(receipt["price_lists"], json!(["2026-11-16"]));
}

#[test]
fn each_iteration_and_each_subagent_can_be_asked_for() {
    let full = session().ok(&["receipt", UP, "--full", "--no-children"]);
    for part in ["\neach[0].ask ", "\neach[1].ask ", "\n└ subagent:x "] {
        assert!(full.contains(part), "{part} in {full}");
    }
    assert!(!full.contains("helper") && !full.contains("with the runs"), "{full}");
}

#[test]
fn a_run_without_steps_has_a_row_per_model() {
    let receipt = session().ok(&["receipt", DOWN]);
    assert!(receipt.contains("status    interrupted\n"), "{receipt}");
    assert!(receipt.contains("\nduration  1.0s\n"), "until its last event: {receipt}");
    assert!(receipt.contains("\nsession  gemini  gemini-2.5-flash "), "{receipt}");
}

#[test]
fn a_called_run_that_is_lost_makes_the_total_a_least_sum() {
    let session = Session::new();
    transcripts::put(&session, UP, BUILD);
    let receipt = session.ok(&["receipt", UP]);
    assert!(receipt.contains("→ run bbbbbbbb is not in this storage"), "{receipt}");
    let json = session.quipu(&["receipt", UP, "--json"]).json();
    assert_eq!(json["called_runs"][0]["found"], json!(false));
    assert_eq!(json["total_with_called_runs"]["cost"]["unknown"], json!(2));
}

#[test]
fn runs_that_call_each_other_come_to_an_end() {
    let session = Session::new();
    let call = r#"
{"seq":1,"run_id":"RUN","child_run_id":"OTHER","type":"step.call_workflow.started","path":"call","iteration":0,"timestamp":"2026-06-09T10:00:07.000000Z","payload":{"name":"call","kind":"call_workflow"}}
{"seq":2,"run_id":"RUN","type":"usage","path":"","iteration":0,"timestamp":"2026-06-09T10:00:07.000000Z","payload":{"model":"gpt-5","input_tokens":1000000,"output_tokens":0}}
"#;
    transcripts::put(&session, "one", &call.replace("OTHER", "two"));
    transcripts::put(&session, "two", &call.replace("OTHER", "one"));
    let json = session.quipu(&["receipt", "one", "--json"]).json();
    assert_eq!(json["total_with_called_runs"]["cost"]["usd"], json!(2.5));
}

#[test]
fn markdown_can_be_pasted() {
    let session = session();
    let receipt = session.ok(&["receipt", UP, "--md"]);
    assert!(receipt.starts_with("## Receipt of build\n\n- run: aaaaaaaa"), "{receipt}");
    assert!(receipt.contains("\n| each\\[\\*\\].ask | agent | codex |"), "{receipt}");
    assert_eq!(session.quipu(&["receipt", UP, "--md", "--json"]).code, Some(1));
}

#[test]
fn the_users_prices_win_from_flag_variable_and_settings() {
    let list = |price: &str| {
        format!(
            r#"{{"version": "ours-{price}", "prices": [{{"models": ["house-*"], "input": {price}, "output": 0}}]}}"#
        )
    };
    let cost = |session: &Session, arguments: &[&str]| {
        let json = session.quipu(&[&["receipt", UP, "--json"], arguments].concat()).json();
        (json["steps"][2]["models"][1]["cost"]["usd"].clone(), json["price_lists"].clone())
    };
    let session = session().with_variable("QUIPU_PRICES", "variable.json");
    for (file, price) in [("flag.json", "1"), ("variable.json", "2"), ("file.json", "3")] {
        fs::write(session.dir().join(file), list(price)).unwrap();
    }
    assert_eq!(
        cost(&session, &["--prices", "flag.json"]),
        (json!(0.000007), json!(["2026-11-16", "ours-1"]))
    );
    assert_eq!(cost(&session, &[]).0, json!(0.000014));
    let session = self::session();
    fs::write(session.dir().join("file.json"), list("3")).unwrap();
    fs::write(session.dir().join("quipu.toml"), "prices = \"file.json\"\n").unwrap();
    assert_eq!(cost(&session, &[]).0, json!(0.000021));
    let config = session.quipu(&["config", "--json"]).json();
    assert!(config["settings"]["prices"]["value"].as_str().unwrap().ends_with("file.json"));
}

#[test]
fn a_bad_price_list_is_named_with_its_line() {
    let session = session();
    fs::write(
        session.dir().join("bad.json"),
        "{\n\"version\": \"x\",\n\"prices\": [{\"modles\": []}]}",
    )
    .unwrap();
    let outcome = session.quipu(&["receipt", UP, "--prices", "bad.json"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""));
    assert!(outcome.stderr.contains("bad.json, line 3: unknown field `modles`"), "{outcome:?}");
    let outcome = session.quipu(&["cost", "--prices", "none.json"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("none.json (from --prices)"), "{outcome:?}");
}

#[test]
fn damage_is_told_and_the_rest_is_shown() {
    let outcome = transcripts::session().quipu(&["receipt", HOSTILE_ID]);
    assert_eq!(outcome.code, Some(3));
    assert!(outcome.stdout.contains("≥ ") || outcome.stdout.contains("unknown"), "{outcome:?}");
    assert!(!transcripts::drives_a_terminal(&outcome.stdout), "{outcome:?}");
    assert!(outcome.stderr.starts_with("note: 3 lines damaged\n"), "{outcome:?}");
}

#[test]
fn a_run_that_used_nothing_has_no_cost_rather_than_none() {
    let session = transcripts::session();
    let json = session.quipu(&["receipt", LINT_ID, "--json"]).json();
    assert_eq!((&json["total"]["cost"], &json["total"]["tokens"]), (&json!(null), &json!({})));
    assert_eq!(session.quipu(&["receipt", "nosuch"]).code, Some(1));
}

/// A session's agents that tell no tokens: one replied, one did not.
const UNTOLD: &str = r#"
{"seq":1,"run_id":"RUN","type":"run.started","path":"","iteration":0,"timestamp":"2026-06-08T10:00:00.000000Z","payload":{"name":"quiet","kind":"workflow","format":1}}
{"seq":2,"run_id":"RUN","type":"step.started","path":"ask","iteration":0,"timestamp":"2026-06-08T10:00:00.100000Z","payload":{"name":"ask","kind":"agent","attempt":1,"agent":{"provider":"copilot","model":"gpt-4.1"}}}
{"seq":3,"run_id":"RUN","type":"message.assistant","path":"ask","iteration":0,"timestamp":"2026-06-08T10:00:01.000000Z","payload":{"role":"assistant","blocks":[]}}
{"seq":4,"run_id":"RUN","type":"step.completed","path":"ask","iteration":0,"timestamp":"2026-06-08T10:00:02.000000Z","payload":{"name":"ask","kind":"agent","attempt":1,"status":"succeeded"}}
{"seq":5,"run_id":"RUN","type":"step.started","path":"mute","iteration":0,"timestamp":"2026-06-08T10:00:02.000000Z","payload":{"name":"mute","kind":"agent","attempt":1,"agent":{"provider":"copilot","model":"gpt-5"}}}
{"seq":6,"run_id":"RUN","type":"step.completed","path":"mute","iteration":0,"timestamp":"2026-06-08T10:00:03.000000Z","payload":{"name":"mute","kind":"agent","attempt":1,"status":"failed","error":"no"}}
{"seq":7,"run_id":"RUN","type":"run.completed","path":"","iteration":0,"timestamp":"2026-06-08T10:00:03.000000Z","payload":{"name":"quiet","kind":"workflow","status":"failed","duration_ms":3000}}
"#;

#[test]
fn a_step_that_tells_no_tokens_has_its_model_and_an_unknown_cost_if_it_replied() {
    let session = Session::new();
    transcripts::put(&session, UP, UNTOLD);
    let receipt = session.ok(&["receipt", UP]);
    let row = |step: &str| {
        let line = receipt.lines().find(|line| line.starts_with(step)).expect(step);
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    let (ask, mute) = (row("ask "), row("mute "));
    assert!(ask.starts_with("ask agent copilot gpt-4.1 succeeded 1.9s "), "{receipt}");
    assert!(ask.ends_with(" unknown unknown"), "{receipt}");
    assert!(mute.starts_with("mute agent copilot gpt-5 failed 1.0s "), "{receipt}");
    assert!(mute.ends_with(" - -"), "nothing was used: {receipt}");
    let cost = session.quipu(&["cost", "--by", "agent", "--json"]).json();
    assert_eq!(cost["total"]["cost"]["is_complete"], json!(false), "{cost}");
}

#[test]
fn a_run_under_way_has_a_duration_to_its_last_event_alone() {
    let session = with_workflow(
        "name: w\nstates:\n  initial: a\n  a: {type: step, command: 'echo stuck; for i in $(seq 600); do test -e go && break; sleep 0.05; done', on_success: done}\n  done: {type: terminal}\n",
    );
    let mut child = session.spawn(&["run", "w.yaml", "--id", "r"]);
    wait_for(&mut child, "│ stuck");
    let receipt = session.ok(&["receipt", "r"]);
    fs::write(session.dir().join("go"), "").unwrap();
    finish(child, b"");
    assert!(receipt.contains("\nstatus    running\n"), "{receipt}");
    let duration = receipt.lines().find(|line| line.starts_with("duration ")).unwrap();
    assert!(duration.ends_with(" to its last event"), "{receipt}");
    let ended = session.ok(&["receipt", "r"]);
    assert!(!ended.contains("to its last event"), "{ended}");
}
