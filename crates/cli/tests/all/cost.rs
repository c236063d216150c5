//! `quipu cost`: what all runs cost, by one thing or another.

use serde_json::{Value, json};

use crate::receipt::session;
use crate::session::Session;
use crate::transcripts;

fn groups(by: &str, rest: &[&str]) -> Value {
    let arguments = [&["cost", "--json", "--by", by], rest].concat();
    session().quipu(&arguments).json()
}

#[test]
fn costs_are_shown_by_day_unless_asked_otherwise() {
    assert_eq!(
        session().ok(&["cost"]),
        "\
DAY (UTC)   RUNS         IN  OUT  CACHE READ  CACHE WRITTEN  REASONING       COST  OBTAINED
2026-06-08     1      1,000  100           0              -          -    $0.0023  priced
2026-06-09     2  1,002,017  228          30             40          5  ≥ $0.5545  reported + priced + unknown
total          2  1,003,017  328          30             40          5  ≥ $0.5568  reported + priced + unknown

reported: named by the provider
priced: tokens times the list prices of 2026-11-16
unknown: no price is known, or not all tokens are; such a sum is a least sum
"
    );
}

#[test]
fn costs_can_be_added_up_by_five_things() {
    let cases = [
        ("day", "day", json!(["2026-06-08", "2026-06-09"])),
        (
            "model",
            "model",
            json!(["gemini-2.5-flash", "claude-opus-4-5-20251101", "gpt-5-codex", "house-model"]),
        ),
        ("project", "project", json!(["/src/lib", "/src/app"])),
        ("agent", "agent", json!(["gemini", "claude", "codex"])),
        ("run", "name", json!(["helper", "build"])),
    ];
    for (by, key, expected) in cases {
        let told = groups(by, &[]);
        let labels: Value =
            told["groups"].as_array().unwrap().iter().map(|g| g[key].clone()).collect();
        assert_eq!(labels, expected, "{by}");
        assert_eq!(told["by"], json!(by));
        assert_eq!(told["total"]["cost"]["usd"], json!(0.55675), "a run is counted once: {by}");
        assert_eq!(told["total"]["runs"], json!(2), "{by}");
    }
    assert_eq!(
        groups("run", &[])["groups"][0]["run_id"],
        json!("bbbbbbbb-0000-4000-8000-000000000002")
    );
}

#[test]
fn a_model_without_a_price_is_unknown_and_not_free() {
    let told = groups("model", &[]);
    let house = &told["groups"][3];
    assert_eq!((&house["cost"]["usd"], &house["cost"]["how"]), (&json!(null), &json!(["unknown"])));
    assert_eq!(house["tokens"], json!({ "input_tokens": 7, "output_tokens": 8 }));
}

#[test]
fn a_stretch_of_time_can_be_asked_for() {
    let total = |rest: &[&str]| groups("day", rest)["total"]["tokens"]["input_tokens"].clone();
    assert_eq!(total(&["--until", "2026-06-09"]), json!(1000));
    assert_eq!(total(&["--since", "2026-06-09", "--until", "2026-06-09T00:00:04Z"]), json!(2000));
    assert_eq!(total(&["--since", "2026-06-10"]), json!(null));
    assert_eq!(session().quipu(&["cost", "--since", "yesterday"]).code, Some(1));
}

#[test]
fn a_run_told_twice_is_counted_once() {
    let session = Session::new();
    let usage = |run: &str| {
        format!(
            r#"{{"seq":2,"run_id":"{run}","type":"usage","path":"","iteration":0,"timestamp":"2026-06-09T10:00:07.000000Z","payload":{{"model":"gpt-5","input_tokens":1000000,"output_tokens":0}}}}"#
        )
    };
    let told = |inner: &str| {
        let start = r#"{"seq":1,"run_id":"RUN","type":"run.started","path":"","iteration":0,"timestamp":"2026-06-09T10:00:07.000000Z","payload":{"name":"x"}}"#;
        format!("{start}\n{inner}\n")
    };
    transcripts::put(&session, "caller", &told(&usage("called")));
    let cost = |session: &Session| {
        session.quipu(&["cost", "--json"]).json()["total"]["cost"]["usd"].clone()
    };
    assert_eq!(cost(&session), json!(1.25));
    transcripts::put(&session, "called", &format!("{}\n", usage("called")));
    assert_eq!(cost(&session), json!(1.25));
}

#[test]
fn damaged_runs_are_told_and_the_others_are_shown() {
    let session = transcripts::session();
    let outcome = session.quipu(&["cost", "--json"]);
    assert_eq!(outcome.code, Some(3));
    let told = outcome.json();
    assert_eq!(told["total"]["tokens"], json!({ "input_tokens": 1200, "output_tokens": 39 }));
    assert_eq!(told["damaged_lines"], json!(3));
    assert_eq!(told["total"]["cost"]["usd"], json!(null), "`opus` could be any of several models");
}

#[test]
fn an_empty_storage_costs_nothing_and_says_what_to_do() {
    let outcome = Session::new().quipu(&["cost"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""));
    assert!(outcome.stderr.starts_with("note: there are no runs in storage yet\n"), "{outcome:?}");
}
