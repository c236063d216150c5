//! `quipu ls`: the runs there are, newest first.

use std::fs;

use serde_json::{Value, json};

use crate::session::Session;
use crate::transcripts::{self, AWF_ID, AWF_RESUMED, HOSTILE_ID, LINT_ID, REVIEW, REVIEW_ID, put};

fn rows(session: &Session, arguments: &[&str]) -> Vec<Value> {
    let all = [&["ls", "--json"], arguments].concat();
    let text = session.ok(&all);
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

fn ids(session: &Session, arguments: &[&str]) -> Vec<String> {
    let rows = rows(session, arguments);
    rows.iter().map(|row| row["run_id"].as_str().expect("each has an id").to_owned()).collect()
}

#[test]
fn runs_are_listed_newest_first() {
    assert_eq!(
        transcripts::session().ok(&["ls"]),
        "\
ID        NAME                  STATUS       AGE  DURATION  EVENTS  TOKENS  AGENTS
22222222  ↳ lint (of 11111111)  failed        9m     900ms       4       -  -
11111111  review                failed       10m     1m05s      13   1.23k  claude
550e8400  -                     succeeded     1h      4.8s       7       -  -
33333333  wipe␛[2J              interrupted  10h      3.0s       4       5  -
"
    );
}

#[test]
fn a_script_gets_every_fact_and_null_for_what_is_not_known() {
    let session = transcripts::session();
    let rows = rows(&session, &[]);
    assert_eq!(
        rows[1],
        json!({
            "run_id": REVIEW_ID, "path": format!("storage/transcripts/{REVIEW_ID}.jsonl"),
            "parent_run_id": null, "name": "review", "kind": "workflow", "status": "failed",
            "started": "2026-06-08T10:00:00.000000Z", "ended": "2026-06-08T10:01:05.000000Z",
            "duration_ms": 65000, "events": 13, "agents": ["claude"],
            "bytes": fs::metadata(session.transcript(REVIEW_ID)).unwrap().len(),
            "tokens": {
                "total": 1234, "input_tokens": 1200, "output_tokens": 34, "cache_read_tokens": null,
                "cache_write_tokens": null, "reasoning_tokens": null, "cost_usd": null,
            },
        })
    );
    assert_eq!(rows[0]["parent_run_id"], REVIEW_ID);
    assert_eq!(rows[0]["tokens"], Value::Null);
    assert_eq!(rows[2]["name"], Value::Null);
    assert_eq!(rows[3]["status"], "interrupted");
    assert_eq!(rows[3]["ended"], Value::Null);
}

#[test]
fn tokens_of_a_run_that_did_not_end_are_summed_up_over_its_lines() {
    let rows = rows(&transcripts::session(), &["--status", "interrupted"]);
    assert_eq!(rows[0]["tokens"]["total"], 5);
    assert_eq!(rows[0]["tokens"]["input_tokens"], Value::Null);
}

#[test]
fn a_status_that_no_run_can_have_is_refused_with_those_there_are() {
    let outcome = transcripts::session().quipu(&["ls", "--status", "bogus"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""), "{outcome:?}");
    assert!(outcome.stderr.contains("running, interrupted, succeeded, failed"), "{outcome:?}");
}

#[test]
fn filters_combine() {
    let session = transcripts::session();
    let cases: [(&[&str], &[&str]); 6] = [
        (&["-n", "2"], &[LINT_ID, REVIEW_ID]),
        (&["--no-children"], &[REVIEW_ID, AWF_ID, HOSTILE_ID]),
        (&["--status", "FAILED"], &[LINT_ID, REVIEW_ID]),
        (&["--name", "REV"], &[REVIEW_ID]),
        (&["--status", "failed", "--no-children", "-n", "1"], &[REVIEW_ID]),
        (&["--status", "running"], &[]),
    ];
    for (arguments, expected) in cases {
        assert_eq!(ids(&session, arguments), expected, "{arguments:?}");
    }
}

#[test]
fn an_id_is_cut_no_shorter_than_it_stays_unique() {
    let session = Session::new();
    for id in ["aaaaaaaa-1111", "aaaaaaaa-1122", "bbbbbbbbbbbb", "c"] {
        put(&session, id, REVIEW);
    }
    let table = session.ok(&["ls"]);
    let shown: Vec<_> = table.lines().skip(1).filter_map(|row| row.split(' ').next()).collect();
    assert_eq!(shown, ["aaaaaaaa-111", "aaaaaaaa-112", "bbbbbbbb", "c"]);
    for id in shown {
        session.ok(&["tail", id]);
    }
}

#[test]
fn a_run_of_a_writer_that_marks_no_end_ended_with_its_last_step() {
    let session = Session::new();
    put(&session, "good", &AWF_RESUMED.replace("ERROR", ""));
    put(&session, "bad", &AWF_RESUMED.replace("ERROR", "exit code 1"));
    let lines: Vec<_> = AWF_RESUMED.trim_start().split_inclusive('\n').collect();
    put(&session, "open", &lines[..5].concat());
    for (id, status, events) in
        [("good", "succeeded", 6), ("bad", "failed", 6), ("open", "interrupted", 5)]
    {
        let rows = rows(&session, &[]);
        let row = rows.iter().find(|row| row["run_id"] == id).unwrap();
        assert_eq!((&row["status"], &row["events"]), (&json!(status), &json!(events)), "{id}");
        let tree = session.ok(&["tree", id]);
        let head = tree.lines().next().unwrap();
        let word = if status == "succeeded" { "✓ " } else { status };
        assert!(head.contains(word) && head.contains(id), "{tree}");
        assert!(!tree.contains("theirs"), "a run goes by the name of its file: {tree}");
        assert!(session.ok(&["stats", id]).contains(&format!("run       {id}\n")), "{id}");
    }
}

#[test]
fn a_resumed_run_took_as_long_as_from_its_first_line_to_its_end() {
    let line = |n: u64, time: &str, kind: &str, payload: &str| {
        format!(
            r#"{{"seq":{n},"run_id":"r","type":"run.{kind}","path":"","iteration":0,"timestamp":"2026-06-08T{time}Z","payload":{{"name":"w","kind":"workflow",{payload}}}}}"#
        ) + "\n"
    };
    let lines = [
        line(1, "10:00:00", "started", r#""format":1"#),
        line(2, "10:00:10", "completed", r#""status":"failed","duration_ms":10000"#),
        line(3, "12:00:00", "started", r#""format":1"#),
        line(4, "12:00:01", "completed", r#""status":"succeeded","duration_ms":500"#),
    ];
    let session = Session::new();
    put(&session, "r", &lines.concat());
    assert_eq!(rows(&session, &[])[0]["duration_ms"], 7_201_000);
    assert!(session.ok(&["ls"]).contains(" 2h00m "), "{}", session.ok(&["ls"]));
    assert!(session.ok(&["tree", "r"]).contains("2h00m"), "{}", session.ok(&["tree", "r"]));
    for command in ["stats", "status", "receipt", "tree"] {
        let told = session.quipu(&[command, "r", "--json"]).json();
        assert_eq!(told["duration_ms"], 7_201_000, "{command}: {told}");
    }
    assert!(session.ok(&["replay", "r", "--speed", "max"]).contains("2h00m"));
}

#[test]
fn a_run_that_is_being_written_is_running() {
    let session = Session::new();
    let mut recording = session.spawn(&["record", "--name", "busy", "--ack"]);
    // The first acknowledgement means that the run is on disk and its writer holds it.
    let mut stdin = recording.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, b"{\"type\":\"system\",\"payload\":{}}\n").unwrap();
    let mut acknowledged = String::new();
    let stdout = recording.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut acknowledged).unwrap();
    assert_eq!(rows(&session, &[])[0]["status"], "running", "{acknowledged}");
    drop(stdin);
    recording.wait().unwrap();
    assert_eq!(rows(&session, &[])[0]["status"], "succeeded");
}

#[test]
fn an_empty_storage_says_what_to_do_and_is_no_failure() {
    for arguments in [&["ls"][..], &["ls", "--json"]] {
        let outcome = Session::new().quipu(arguments);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""));
        assert_eq!(
            outcome.stderr,
            "note: there are no runs in storage yet\n\
             hint: `quipu demo` records one; --storage looks elsewhere\n"
        );
    }
}
