//! `quipu record`: drafts on standard input become lines; everything else is kept or refused.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use crate::session::{Outcome, Session, finish};

pub(crate) fn record(session: &Session, flags: &[&str], input: impl AsRef<[u8]>) -> Outcome {
    let arguments = [&["record", "--name", "test", "--id", "r1"], flags].concat();
    session.quipu_with_input(&arguments, input)
}

pub(crate) fn types(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["type"].as_str().unwrap()).collect()
}

pub(crate) fn system(word: &str) -> String {
    format!("{{\"type\":\"system\",\"payload\":{{\"subtype\":\"{word}\"}}}}\n")
}

#[track_caller]
pub(crate) fn assert_sound(session: &Session) {
    let outcome = session.quipu(&["verify", "--all"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

#[test]
fn a_number_that_no_type_can_hold_is_recorded_and_shown_as_it_is_spelled() {
    let session = Session::new();
    let payload = r#"{"subtype":"x","a":1e400,"b":123456789012345678901,"c":-0,"d":1E+2,"d":3}"#;
    let line = format!(r#"{{"type":"system","payload":{payload}}}"#) + "\n";
    let outcome = session.quipu_with_input(&["record", "--name", "n", "--id", "n"], &line);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let text = std::fs::read_to_string(session.transcript("n")).unwrap();
    assert!(text.contains(&format!(r#""payload":{payload}}}"#)), "{text}");
    assert!(session.ok(&["show", "n"]).contains("x: a 1e400, "), "{}", session.ok(&["show", "n"]));
    session.ok(&["verify", "n"]);
}

#[test]
fn drafts_become_lines_between_a_start_and_an_end_of_our_own() {
    let session = Session::new();
    let input = concat!(
        r#"{"type":"step.started","path":"build","payload":{"name":"build","kind":"command"}}"#,
        "\n",
        r#"{"type":"usage","path":"build","payload":{"model":"m","input_tokens":7}}"#,
        "\n",
        r#"{"type":"step.completed","path":"build","payload":{"name":"build","kind":"command","status":"succeeded"}}"#,
        "\n",
    );
    let outcome = record(&session, &["--label", "a=1", "--label", "b=x=y"], input);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "r1\n"), "{outcome:?}");
    assert!(outcome.stderr.contains("storage/transcripts/r1.jsonl"), "{}", outcome.stderr);
    let lines = session.lines("r1");
    let expected = ["run.started", "step.started", "usage", "step.completed", "run.completed"];
    assert_eq!(types(&lines), expected);
    let start = &lines[0]["payload"];
    assert_eq!(
        (&start["name"], &start["kind"], &start["format"]),
        (&json!("test"), &json!("exec"), &json!(1))
    );
    assert_eq!(start["labels"], json!({ "a": "1", "b": "x=y" }));
    assert!(start["cwd"].is_string());
    let end = &lines[4]["payload"];
    assert_eq!(
        (&end["status"], &end["usage"]),
        (&json!("succeeded"), &json!({ "input_tokens": 7 }))
    );
    assert_eq!((&end["counts"]["events"], &end["counts"]["steps"]), (&json!(5), &json!(1)));
    assert!(end["duration_ms"].is_u64());
    assert_sound(&session);
}

#[test]
fn everything_a_draft_says_stands_in_its_line() {
    let session = Session::new();
    let draft = json!({
        "type": "tool.call", "path": "each[2].check", "iteration": 2, "source": "subagent:7",
        "timestamp": "2026-06-08T12:14:42.5+02:00", "child_run_id": "c-1",
        "payload": { "name": "grep", "call_id": "c", "future": [1, 2.50] },
    });
    record(&session, &[], draft.to_string());
    let line = &session.lines("r1")[1];
    for key in ["type", "path", "iteration", "source", "child_run_id", "payload"] {
        assert_eq!(line[key], draft[key], "{key}");
    }
    assert_eq!(line["timestamp"], "2026-06-08T10:14:42.500000Z");
    assert_eq!(line.get("raw"), None);
}

#[test]
fn every_line_is_acknowledged_by_its_number_and_stdout_has_nothing_else() {
    let session = Session::new();
    let input = system("a") + "no draft\n" + &system("b");
    let outcome = record(&session, &["--ack", "--json"], input);
    assert_eq!(outcome.stdout, "{\"seq\":2}\n{\"seq\":3}\n{\"seq\":4}\n");
}

#[test]
fn a_blank_line_leaves_no_event_and_is_not_acknowledged() {
    let session = Session::new();
    let input = "{\"type\":\"system\"}\n\n  \n{\"type\":\"system\"}\n";
    let outcome = record(&session, &["--ack", "--strict"], input);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "{\"seq\":2}\n{\"seq\":3}\n"));
}

#[test]
fn what_the_format_does_not_allow_is_told_or_refused() {
    let bogus = r#"{"type":"run.completed","payload":{"name":"x","kind":"exec","status":"bogus"}}"#;
    let told =
        "stdin line 1: run.completed: `status` is \"bogus\", which is not a word of the format";
    let session = Session::new();
    let kept = record(&session, &[], bogus);
    assert_eq!((kept.code, kept.stderr.matches(told).count()), (Some(0), 1), "{kept:?}");
    assert_eq!(session.lines("r1")[1]["payload"]["status"], "bogus");
    let found = session.quipu(&["verify", "--json"]).json();
    assert_eq!(found["runs"][0]["findings"][0]["kind"], "breach");
    let session = Session::new();
    let refused = record(&session, &["--strict"], bogus);
    assert_eq!((refused.code, refused.stderr.matches(told).count()), (Some(1), 1), "{refused:?}");
}

#[test]
fn acknowledgements_that_get_lost_are_told_of_once() {
    let session = Session::new();
    let mut child = session.spawn(&["record", "--name", "test", "--id", "r1", "--ack"]);
    drop(child.stdout.take());
    let outcome = finish(child, b"{\"type\":\"system\"}\n{\"type\":\"system\"}\n");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let told = "event 2 is recorded, and so is what follows, but not acknowledged any more: ";
    assert_eq!(outcome.stderr.matches(told).count(), 1, "{outcome:?}");
    assert_eq!(outcome.stderr.matches("acknowledged").count(), 1, "{outcome:?}");
    assert_eq!(session.lines("r1").len(), 4);
}

#[test]
fn an_acknowledgement_comes_before_the_next_line_is_sent() {
    let session = Session::new();
    let mut child = session.spawn(&["record", "--name", "test", "--ack"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut acks = BufReader::new(child.stdout.take().unwrap()).lines();
    for seq in 2..6 {
        stdin.write_all(system("x").as_bytes()).unwrap();
        assert_eq!(acks.next().unwrap().unwrap(), format!("{{\"seq\":{seq}}}"));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn json_gives_one_object_at_the_end() {
    let session = Session::new();
    let outcome = record(&session, &["--json"], system("a") + "no draft\n");
    let told = outcome.json();
    let expected = [
        ("run_id", json!("r1")),
        ("path", json!("storage/transcripts/r1.jsonl")),
        ("status", json!("succeeded")),
        ("events", json!(4)),
        ("unknown", json!(1)),
        ("masked", json!(0)),
        ("error", Value::Null),
    ];
    for (key, value) in expected {
        assert_eq!(told[key], value, "{key}");
    }
    assert!(told["duration_ms"].is_u64());
}

#[test]
fn a_line_that_is_no_draft_is_kept_whole_and_told() {
    let deep = format!(
        "{{\"type\":\"system\",\"payload\":{}1{}}}",
        "{\"a\":".repeat(300),
        "}".repeat(300)
    );
    let cases: &[(&[u8], &str, Option<&str>)] = &[
        (b"plain words", "not JSON: expected value at byte 1", None),
        (b"{\"type\":\"system\"", "not JSON: EOF while parsing an object at byte 16", None),
        (b"[1,2]", "invalid type: sequence, expected a JSON object at byte 0", None),
        (b"{\"payload\":{}}", "there is no `type`", None),
        (b"{\"type\":\"made.up\"}", "\"made.up\" is not a type of event", Some("made.up")),
        (
            b"{\"type\":\"usage\",\"iteration\":\"two\"}",
            "`iteration` is not a whole number",
            Some("usage"),
        ),
        (
            b"{\"type\":\"usage\",\"payload\":\"text\"}",
            "`payload` is neither an object nor null",
            Some("usage"),
        ),
        (
            b"{\"type\":\"usage\",\"payload\":{\"input_tokens\":\"7\"}}",
            "payload does not have the shape of usage",
            Some("usage"),
        ),
        (b"nul \0 and \x1b[31m escape", "not JSON", None),
        (b"\"\xff\xfe\"", "not UTF-8 from byte 2 on", None),
        (deep.as_bytes(), "`payload`: value nests deeper than 120 levels", Some("system")),
    ];
    let session = Session::new();
    let input: Vec<u8> =
        cases.iter().flat_map(|(line, ..)| [line, b"\n".as_slice()].concat()).collect();
    let outcome = record(&session, &[], input);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let lines = session.lines("r1");
    assert_eq!(lines.len(), cases.len() + 2);
    for (index, (record, reason, native_type)) in cases.iter().enumerate() {
        let line = &lines[index + 1];
        assert_eq!(line["type"], "unknown", "{reason}");
        let kept = match line.get("raw") {
            Some(raw) => raw.as_str().unwrap().as_bytes(),
            None => {
                assert_eq!(line["raw_b64"], "Iv/+Ig==");
                b"\"\xff\xfe\""
            }
        };
        assert_eq!(kept, *record, "{reason}");
        assert!(line["payload"]["reason"].as_str().unwrap().starts_with(reason), "{line}");
        assert_eq!(line["payload"].get("native_type").and_then(Value::as_str), *native_type);
        let told = format!("stdin line {}: {reason}", index + 1);
        assert!(outcome.stderr.contains(&told), "{told}: {}", outcome.stderr);
    }
    assert!(!outcome.stderr.contains('\x1b') && !outcome.stderr.contains('\0'));
    assert_sound(&session);
}

#[test]
fn a_strict_recording_ends_at_the_first_line_that_is_no_draft() {
    let session = Session::new();
    let outcome = record(&session, &["--strict"], system("a") + "oops\n" + &system("b"));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let lines = session.lines("r1");
    assert_eq!(types(&lines), ["run.started", "system", "run.completed"]);
    let end = &lines[2]["payload"];
    assert_eq!(end["status"], "failed");
    assert_eq!(end["error"], "stdin line 2: not JSON: expected value at byte 1");
    assert!(outcome.stderr.contains("stdin line 2: not JSON"));
    assert_sound(&session);
}

#[test]
fn a_line_that_says_more_than_a_draft_can_is_kept_beside_its_event() {
    let session = Session::new();
    let extra = r#"{"type":"system","mood":"fine","payload":{"subtype":"a"}}"#;
    let half = r#"{"type":"system","payload":{"subtype":"half \ud800 pair"}}"#;
    let spaced = r#" { "type" : "system", "payload" : { "subtype" : "a b" } } "#;
    record(&session, &[], [extra, half, spaced].join("\n"));
    let lines = session.lines("r1");
    assert_eq!(types(&lines)[1..4], ["system", "system", "system"]);
    assert_eq!(lines[1]["raw"], extra);
    assert_eq!(lines[2]["raw"], half);
    assert_eq!(lines[2]["payload"]["subtype"], "half \u{fffd} pair");
    assert_eq!(lines[3].get("raw"), None);
}

#[test]
fn lines_end_at_line_feeds_only_and_empty_ones_are_skipped() {
    let session = Session::new();
    let text = "a\u{2028}b\u{85}c";
    let input = format!("\n{}\r\n   \n\r\n{}", system(text).trim_end(), system("last").trim_end());
    let outcome = record(&session, &[], input);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let lines = session.lines("r1");
    assert_eq!(types(&lines), ["run.started", "system", "system", "run.completed"]);
    assert_eq!(lines[1]["payload"]["subtype"], text);
    assert_eq!(lines[2]["payload"]["subtype"], "last");
}

#[test]
fn a_line_of_many_megabytes_is_recorded_like_any_other() {
    let session = Session::new();
    let text = "long ".repeat(4 << 20);
    let block = json!({ "type": "text", "fidelity": "agent_emitted", "text": text });
    let draft = json!({ "type": "message.assistant", "payload": { "blocks": [block] } });
    let junk = "x".repeat(3 << 20);
    let outcome = record(&session, &[], format!("{draft}\n{junk}\n"));
    assert_eq!(outcome.code, Some(0));
    let lines = session.lines("r1");
    assert_eq!(lines[1]["payload"], draft["payload"]);
    assert_eq!(lines[2]["raw"], junk);
}

#[test]
fn a_reader_of_stdout_that_goes_away_does_not_end_the_recording() {
    let session = Session::new();
    let mut child = session.spawn(&["record", "--name", "test", "--id", "r1", "--ack"]);
    drop(child.stdout.take());
    let outcome = finish(child, (system("a") + &system("b")).as_bytes());
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(session.lines("r1").len(), 4);
}

#[test]
fn no_run_is_called_last() {
    let session = Session::new();
    let outcome = session.quipu(&["record", "--name", "x", "--id", "last"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("hint: `last` names the newest run"), "{outcome:?}");
    assert!(!session.transcript("last").exists());
}

#[test]
fn secrets_are_hidden_and_counted_when_asked_for() {
    // Put together here, so that nobody who looks for secrets stumbles over this file.
    let key = &format!("sk-ant-{}", "q7".repeat(12));
    let input = system(&format!("key {key} and hunter2hunter2"));
    let cases: &[(&[&str], bool, bool)] = &[
        (&[], true, true),
        (&["--mask", "none"], true, true),
        (&["--mask", "secrets"], false, true),
        (&["--mask-env", "MY_PASS"], false, false),
    ];
    for (flags, shows_key, shows_value) in cases {
        let session = Session::new().with_variable("MY_PASS", "hunter2hunter2");
        let outcome = record(&session, &[&["--json"], *flags].concat(), &input);
        let text = std::fs::read_to_string(session.transcript("r1")).unwrap();
        assert_eq!(text.contains(key), *shows_key, "{flags:?}");
        assert_eq!(text.contains("hunter2hunter2"), *shows_value, "{flags:?}");
        let hidden = u64::from(!shows_key) + u64::from(!shows_value);
        assert_eq!(outcome.json()["masked"], hidden, "{flags:?}");
        assert_eq!(session.lines("r1")[2]["payload"]["counts"]["masked"], hidden, "{flags:?}");
    }
    let session = Session::new();
    let named = ["record", "--name", key, "--id", "named", "--mask", "secrets"];
    let outcome = session.quipu_with_input(&named, &input);
    assert!(outcome.stderr.contains("3 secrets masked"), "{outcome:?}");
    assert_eq!(session.lines("named")[2]["payload"]["counts"]["masked"], 3);
    let outcome = record(&session, &["--mask", "none", "--mask-env", "X"], "");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
}
