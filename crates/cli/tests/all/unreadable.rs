//! A transcript that cannot be read: commands over all runs tell of it and go on with the others.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::session::{Outcome, Session};

/// Two runs, and `unreadable` names that look like transcripts and are none, even for root.
fn session(unreadable: usize) -> Session {
    let session = Session::new();
    for id in ["first", "second"] {
        session.ok(&["record", "--name", id, "--id", id]);
    }
    for n in 0..unreadable {
        let path = session.transcript(&format!("broken-{n}"));
        match n {
            0 => symlink("nowhere", path).unwrap(),
            _ => fs::create_dir(path).unwrap(),
        }
    }
    session
}

fn warnings(outcome: &Outcome) -> Vec<&str> {
    outcome.stderr.lines().filter(|line| line.starts_with("warning: ")).collect()
}

#[test]
fn ls_and_stats_go_on_without_it_and_say_so() {
    let session = session(2);
    let told = [
        "warning: storage/transcripts/broken-0.jsonl cannot be read: No such file or directory \
         (os error 2)",
        "warning: storage/transcripts/broken-1.jsonl cannot be read: Is a directory (os error 21)",
    ];
    let commands: [&[&str]; 4] =
        [&["ls"], &["ls", "--name", "nobody"], &["stats"], &["stats", "--by", "type"]];
    for command in commands {
        let outcome = session.quipu(command);
        assert_eq!(outcome.code, Some(4), "{command:?}: {outcome:?}");
        assert_eq!(warnings(&outcome), told, "{command:?}: {outcome:?}");
    }
    let listed = session.quipu(&["ls", "--json"]);
    let runs: Vec<Value> =
        listed.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((listed.code, runs.len(), warnings(&listed).len()), (Some(4), 2, 2));
    let counted = session.quipu(&["stats", "--json"]);
    assert_eq!((counted.code, &counted.json()["runs"]), (Some(4), &2.into()), "{counted:?}");
}

#[test]
fn a_run_that_was_asked_for_by_name_is_not_left_out() {
    let outcome = session(2).quipu(&["stats", "first", "broken-1"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(4), ""), "{outcome:?}");
}

#[test]
fn only_a_few_are_told_one_by_one() {
    let outcome = session(8).quipu(&["ls"]);
    let told = warnings(&outcome);
    assert_eq!(told.len(), 6, "{outcome:?}");
    assert_eq!(told[5], "warning: 3 transcripts cannot be read either");
}

#[test]
fn verify_does_not_call_all_sound_what_it_could_not_read() {
    let outcome = session(1).quipu(&["verify", "--all"]);
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
    assert!(outcome.stderr.ends_with("2 checked, 2 sound, 1 could not be read\n"), "{outcome:?}");
}
