//! `quipu verify`: sound runs are called sound, and each kind of damage is found and placed.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::session::Session;

/// A sound run of six lines, and a session to break it in.
fn six_lines() -> Session {
    let session = Session::new();
    let input = concat!(
        r#"{"type":"step.started","path":"a","payload":{"name":"a","kind":"agent"}}"#,
        "\n",
        r#"{"type":"tool.call","path":"a","payload":{"name":"t","call_id":"c1"}}"#,
        "\n",
        r#"{"type":"tool.result","path":"a","payload":{"name":"t","call_id":"c1"}}"#,
        "\n",
        r#"{"type":"step.completed","path":"a","payload":{"name":"a","kind":"agent"}}"#,
        "\n",
    );
    let outcome = session.quipu_with_input(&["record", "--name", "six", "--id", "six"], input);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    session
}

#[test]
fn a_sound_run_is_called_ok_with_its_number_of_events() {
    let session = six_lines();
    for arguments in [&["verify"][..], &["verify", "--all"], &["verify", "six", "last"]] {
        let outcome = session.quipu(arguments);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert!(outcome.stdout.starts_with("ok six 6 events\n"), "{outcome:?}");
    }
    let told = session.quipu(&["verify", "--json"]).json();
    assert_eq!(told["runs"][0]["events"], 6);
    assert_eq!(
        (&told["checked"], &told["sound"], &told["findings"]),
        (&json!(1), &json!(1), &json!(0))
    );
}

#[test]
fn one_event_is_not_told_as_many() {
    let session = Session::new();
    let input = "{\"type\":\"system\",\"payload\":{\"subtype\":\"x\"}}\n";
    let record = ["record", "--name", "one", "--id", "one", "--no-lifecycle"];
    assert_eq!(session.quipu_with_input(&record, input).code, Some(0));
    assert_eq!(session.ok(&["verify"]), "ok one 1 event\n");
}

#[test]
fn a_repair_is_advised_where_there_is_something_for_it_to_mend() {
    let session = six_lines();
    let path = session.transcript("six");
    let text = fs::read_to_string(&path).unwrap();
    let cases = [
        (text.replacen("\"seq\":4,", "\"seq\":", 1), ""),
        (format!("{text}{{\"seq\""), "; `quipu repair RUN` mends what a crash left behind"),
    ];
    for (text, hint) in cases {
        fs::write(&path, text).unwrap();
        let outcome = session.quipu(&["verify"]);
        assert_eq!(outcome.stderr, format!("1 checked, 0 sound, 1 finding{hint}\n"), "{outcome:?}");
    }
}

#[test]
fn each_kind_of_damage_is_found_where_it_is() {
    type Break = fn(&mut Vec<String>);
    let cases: &[(&str, Break, &str)] = &[
        (
            "damaged",
            |lines| lines[2] = "{\"seq\":3".to_owned(),
            ":3: not an event: EOF while parsing",
        ),
        ("damaged", |lines| lines[1].clear(), ":2: the line is empty (byte "),
        (
            "damaged",
            |lines| lines.push("{\"seq\":7,".to_owned()),
            ":7: the last line is torn: 9 bytes without a line feed",
        ),
        ("number", |lines| drop(lines.remove(2)), ":3: seq is 4, expected 3"),
        (
            "foreign_run",
            |lines| lines[1] = lines[1].replace("\"six\"", "\"seven\""),
            ":2: run_id is seven, not that of the file",
        ),
        (
            "payload",
            |lines| lines[2] = lines[2].replace("\"t\"", "5"),
            ":3: payload does not have the shape of tool.call",
        ),
        ("unfinished", |lines| lines.truncate(4), ":2: step.started at \"a\" never completed"),
        (
            "call_twice",
            |lines| lines[3] = lines[3].replace("result", "call"),
            ":4: tool call \"c1\" stands twice",
        ),
        (
            "result_without_call",
            |lines| lines[2] = lines[2].replace("call_id\":\"c1", "call_id\":\"c2"),
            ":4: tool result \"c1\" answers no open call",
        ),
        (
            "unstarted",
            |lines| lines[4] = lines[4].replace("\"path\":\"a\"", "\"path\":\"b\""),
            ":5: step.completed at \"b\" without its step.started",
        ),
        (
            "started_again",
            |lines| {
                lines.splice(5..5, [lines[1].clone(), lines[4].clone()]);
                for (seq, line) in (1..).zip(lines.iter_mut()) {
                    let rest = line.split_once(',').unwrap().1;
                    *line = format!("{{\"seq\":{seq},{rest}");
                }
            },
            ":6: step.started (seq 6) at \"a\" is attempt 1 once more: it started on line 2 (seq 2) and has ended (byte ",
        ),
        (
            "parent_missing",
            |lines| {
                lines.iter_mut().for_each(|line| {
                    *line = line.replace(
                        "\"run_id\":\"six\"",
                        "\"run_id\":\"six\",\"parent_run_id\":\"gone\"",
                    )
                })
            },
            ": parent run gone has no transcript",
        ),
        (
            "child_missing",
            |lines| {
                lines.iter_mut().for_each(|line| {
                    *line = line.replace(
                        ",\"type\":\"step.",
                        ",\"child_run_id\":\"kid\",\"type\":\"step.call_workflow.",
                    )
                })
            },
            ":2: called run kid has no transcript",
        ),
    ];
    for (kind, damage, told) in cases {
        let session = six_lines();
        let path = session.transcript("six");
        let text = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        damage(&mut lines);
        let torn = lines.len() > 6;
        fs::write(&path, lines.join("\n") + if torn { "" } else { "\n" }).unwrap();
        let outcome = session.quipu(&["verify"]);
        assert_eq!(outcome.code, Some(3), "{kind}: {outcome:?}");
        let found = format!("storage/transcripts/six.jsonl{told}");
        assert!(
            outcome.stdout.lines().any(|line| line.starts_with(&found)),
            "{found}: {outcome:?}"
        );
        assert!(!outcome.stdout.contains("ok six"));
        let findings = session.quipu(&["verify", "--json"]).json()["runs"][0]["findings"].clone();
        assert!(
            findings.as_array().unwrap().iter().any(|f| f["kind"] == *kind),
            "{kind}: {findings}"
        );
    }
}

#[test]
fn a_run_that_was_recorded_as_part_of_another_is_sound_and_noted() {
    let session = six_lines();
    session.ok(&["record", "--name", "part", "--id", "part", "--parent", "six"]);
    let outcome = session.quipu(&["verify", "--all"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let told = "note: part: parent run six never calls this run\n";
    assert!(outcome.stderr.contains(told), "{outcome:?}");
    let notes = session.quipu(&["verify", "part", "--json"]).json()["runs"][0]["notes"].clone();
    assert_eq!(notes[0]["kind"], "parent_silent");
}

#[test]
fn files_and_directories_that_others_may_read_are_found() {
    let session = six_lines();
    let path = session.transcript("six");
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(path.parent().unwrap(), Permissions::from_mode(0o755)).unwrap();
    let outcome = session.quipu(&["verify"]);
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    assert!(outcome.stdout.contains("six.jsonl has mode 0644, wider than 0600"), "{outcome:?}");
    assert!(outcome.stdout.contains("transcripts has mode 0755, wider than 0700"), "{outcome:?}");
}

#[test]
fn one_damaged_run_does_not_hide_the_others() {
    let session = six_lines();
    session.ok(&["demo"]);
    let path = session.transcript("six");
    let text = fs::read(&path).unwrap();
    fs::write(&path, &text[..text.len() - 1]).unwrap();
    let outcome = session.quipu(&["verify", "--all"]);
    assert_eq!(outcome.code, Some(3));
    assert_eq!(outcome.stdout.lines().filter(|line| line.starts_with("ok ")).count(), 2);
    assert!(outcome.stderr.contains("3 checked, 2 sound"), "{}", outcome.stderr);
}

#[test]
fn a_run_that_is_being_written_is_not_damaged() {
    let session = Session::new();
    let mut child = session.spawn(&["record", "--name", "live", "--id", "live"]);
    let mut id = [0; 5];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut id).unwrap();
    let outcome = session.quipu(&["verify", "live"]);
    assert_eq!(crate::session::finish(child, b"").code, Some(0));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

#[test]
fn verifying_nothing_is_told_and_a_run_that_is_not_there_is_the_users_mistake() {
    let session = Session::new();
    let outcome = session.quipu(&["verify"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""));
    assert!(outcome.stderr.contains("there are no runs in storage"), "{outcome:?}");
    let outcome = session.quipu(&["verify", "abc"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("hint"), "{outcome:?}");
}
