//! `quipu record`: how a run begins, ends, is called and is gone on with.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::record::{assert_sound, record, system, types};
use crate::session::{QUIPU, Session, finish};

fn send_signal(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn a_run_completed_among_the_drafts_takes_the_place_of_our_own() {
    let cases = [("succeeded", 0), ("skipped", 0), ("failed", 2), ("canceled", 2), ("blocked", 2)];
    for (status, code) in cases {
        for flags in [&[][..], &["--strict"]] {
            let session = Session::new();
            let end =
                json!({ "type": "run.completed", "payload": { "name": "mine", "status": status } });
            let outcome = record(&session, flags, end.to_string());
            assert_eq!(outcome.code, Some(code), "{status}: {outcome:?}");
            let lines = session.lines("r1");
            assert_eq!(types(&lines), ["run.started", "run.completed"]);
            assert_eq!(lines[1]["payload"], end["payload"]);
            assert_sound(&session);
        }
    }
}

#[test]
fn without_lifecycle_start_and_end_are_the_producers() {
    let input = concat!(
        r#"{"type":"run.started","payload":{"name":"mine","kind":"session"}}"#,
        "\n",
        r#"{"type":"run.completed","payload":{"name":"mine","status":"succeeded"}}"#,
        "\n",
    );
    let session = Session::new();
    let outcome = record(&session, &["--no-lifecycle"], input);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let lines = session.lines("r1");
    assert_eq!(types(&lines), ["run.started", "run.completed"]);
    assert_eq!(lines[0]["payload"]["name"], "mine");
    assert_sound(&session);

    let session = Session::new();
    let outcome = record(&session, &[], input);
    let lines = session.lines("r1");
    assert_eq!(types(&lines), ["run.started", "unknown", "run.completed"]);
    assert_eq!(lines[1]["payload"]["native_type"], "run.started");
    assert!(outcome.stderr.contains("stdin line 1: ") && outcome.stderr.contains("--no-lifecycle"));
}

#[test]
fn what_the_producer_left_open_is_closed_as_aborted_and_so_is_the_run() {
    let session = Session::new();
    let input = concat!(
        r#"{"type":"step.started","path":"a","payload":{"name":"a","kind":"parallel"}}"#,
        "\n",
        r#"{"type":"step.started","path":"a.b","payload":{"name":"b","kind":"agent","attempt":2}}"#,
        "\n",
    );
    let outcome = record(&session, &[], input);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    let lines = session.lines("r1");
    let expected = [
        "run.started",
        "step.started",
        "step.started",
        "step.completed",
        "step.completed",
        "run.completed",
    ];
    assert_eq!(types(&lines), expected);
    assert_eq!((&lines[3]["path"], &lines[3]["payload"]["attempt"]), (&json!("a.b"), &json!(2)));
    for line in &lines[3..] {
        assert_eq!(line["payload"]["status"], "aborted", "{line}");
    }
    for (line, open) in lines[3..].iter().zip(["a.b", "a", "a.b"]) {
        let expected = format!("the input ended while step.started at {open:?} was still open");
        assert_eq!(line["payload"]["error"], expected, "{line}");
    }
    assert!(
        outcome.stderr.contains("step.started at \"a.b\" was still open"),
        "{}",
        outcome.stderr
    );
    assert_sound(&session);
}

fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 != 0
}

#[test]
fn a_signal_cancels_the_run_and_what_is_open_in_it() {
    let signals = [("-INT", "SIGINT"), ("-TERM", "SIGTERM"), ("-HUP", "SIGHUP")];
    // Under `nohup` the last one is not for us, nor for what we start.
    let heard = if is_hangup_ignored() { &signals[..2] } else { &signals };
    for (signal, name) in heard {
        let session = Session::new();
        let mut child = session.spawn(&["record", "--name", "test", "--id", "r1", "--ack"]);
        let mut stdin = child.stdin.take().unwrap();
        let step = r#"{"type":"step.started","path":"a","payload":{"name":"a","kind":"agent"}}"#;
        writeln!(stdin, "{step}").unwrap();
        let mut ack = [0; 10];
        child.stdout.as_mut().unwrap().read_exact(&mut ack).unwrap();
        send_signal(&child, signal);
        let outcome = finish(child, b"");
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        let lines = session.lines("r1");
        assert_eq!(
            types(&lines),
            ["run.started", "step.started", "step.completed", "run.completed"]
        );
        for line in &lines[2..] {
            assert_eq!(line["payload"]["status"], "canceled");
            assert_eq!(line["payload"]["error"], format!("stopped by {name}"));
        }
        assert_sound(&session);
        drop(stdin);
    }
}

#[test]
fn a_child_run_names_its_parent_on_every_line() {
    let session = Session::new();
    let call = r#"{"type":"step.call_workflow.started","path":"c","child_run_id":"kid","payload":{"name":"c","kind":"call_workflow"}}"#;
    let done = call.replace("started", "completed");
    session.quipu_with_input(
        &["record", "--name", "p", "--id", "parent-run"],
        format!("{call}\n{done}\n"),
    );
    let arguments = ["record", "--name", "c", "--id", "kid", "--parent", "parent"];
    let outcome = session.quipu_with_input(&arguments, system("a"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(session.lines("kid").iter().all(|line| line["parent_run_id"] == "parent-run"));
    assert_sound(&session);
    let outcome = session.quipu(&["record", "--name", "c", "--parent", "nobody"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("no run \"nobody\""), "{}", outcome.stderr);
}

#[test]
fn a_run_is_gone_on_with_after_a_crash_and_after_its_end() {
    let session = Session::new();
    record(&session, &["--kind", "workflow"], system("a"));
    let path = session.transcript("r1");
    let whole = std::fs::read(&path).unwrap();
    let cut = whole.len() - 20;
    std::fs::write(&path, &whole[..cut]).unwrap();
    let outcome =
        session.quipu_with_input(&["record", "--id", "r", "--append", "--ack"], system("b"));
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "{\"seq\":6}\n"), "{outcome:?}");
    assert!(outcome.stderr.contains("going on after event 2; moved "), "{}", outcome.stderr);
    let lines = session.lines("r1");
    let expected = [
        "run.started",
        "system",
        "system",
        "run.completed",
        "run.started",
        "system",
        "run.completed",
    ];
    assert_eq!(types(&lines), expected);
    assert_eq!(lines[3]["payload"]["status"], "aborted");
    assert_eq!(
        (&lines[4]["payload"]["name"], &lines[4]["payload"]["kind"]),
        (&json!("test"), &json!("workflow"))
    );
    assert_eq!(lines[6]["payload"]["counts"]["events"], 7);
    session.quipu_with_input(&["record", "--id", "r1", "--append"], system("c"));
    let numbers: Vec<_> = session.lines("r1").iter().map(|line| line["seq"].clone()).collect();
    assert_eq!(numbers, (1..=10).map(Value::from).collect::<Vec<_>>());
    assert_sound(&session);
}

#[test]
fn a_second_writer_is_told_who_the_first_is() {
    let session = Session::new();
    let mut first = session.spawn(&["record", "--name", "test", "--id", "r1"]);
    let mut id = [0; 3];
    first.stdout.as_mut().unwrap().read_exact(&mut id).unwrap();
    let outcome = session.quipu(&["record", "--id", "r1", "--append"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let holder = format!("run r1 is being written by pid {}", first.id());
    assert!(outcome.stderr.contains(&holder), "{}", outcome.stderr);
    assert_eq!(finish(first, b"").code, Some(0));
}

#[test]
fn what_cannot_be_begun_is_the_users_to_mend() {
    let session = Session::new();
    record(&session, &[], "");
    let cases: &[(&[&str], &str)] = &[
        (&["record"], "--name"),
        (&["record", "--name", "x", "--id", "r1"], "run r1 exists already"),
        (&["record", "--name", "x", "--id", "../r1"], "is not a run id"),
        (&["record", "--name", "x", "--label", "nonsense"], "expected KEY=VALUE"),
        (&["record", "--name", "x", "--durability", "sometimes"], "never, always"),
        (
            &["record", "--name", "x", "--kind", "dance"],
            "[possible values: workflow, session, exec]",
        ),
        (&["record", "--append", "--id", "zz"], "no run \"zz\""),
        (&["record", "--append", "--name", "x"], "--id"),
    ];
    for (arguments, told) in cases {
        let outcome = session.quipu(arguments);
        assert_eq!(outcome.code, Some(1), "{arguments:?}: {outcome:?}");
        assert!(outcome.stderr.contains(told), "{arguments:?}: {}", outcome.stderr);
    }
}

#[test]
fn an_input_that_cannot_be_read_fails_the_run() {
    let session = Session::new();
    let directory = std::fs::File::open(session.dir()).unwrap();
    let mut command = session.command(QUIPU);
    command.args(["record", "--name", "test", "--id", "r1"]).stdin(directory);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let outcome = finish(child, b"");
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
    assert!(outcome.stderr.contains("error: cannot read standard input"), "{outcome:?}");
    let end = &session.lines("r1")[1]["payload"];
    assert_eq!(end["status"], "failed");
    assert!(end["error"].as_str().unwrap().starts_with("cannot read standard input"), "{end}");
    assert_sound(&session);
}
