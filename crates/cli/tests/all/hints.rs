//! Commands that are suggested: copied, they do what was promised.

use std::fs;

use crate::session::{Outcome, Session};
use crate::transcripts::{HOSTILE, put};

/// A storage whose name a shell would take apart.
const STORAGE: &str = "my runs";

/// Returns the commands that stand in backticks in what was told, as a shell reads them.
fn suggested(outcome: &Outcome) -> Vec<String> {
    let told = format!("{}{}", outcome.stdout, outcome.stderr);
    let quoted = told.split('`').skip(1).step_by(2);
    quoted.filter(|text| text.starts_with("quipu ")).map(str::to_owned).collect()
}

/// A session with a damaged run in [`STORAGE`].
fn damaged() -> Session {
    let session = Session::new();
    put(&session, "r", HOSTILE);
    fs::rename(session.dir().join("storage"), session.dir().join(STORAGE)).unwrap();
    session
}

#[test]
fn a_suggested_command_repeats_the_storage_that_was_given_as_a_flag() {
    let session = damaged();
    let cases: [(&[&str], &[&str]); 7] = [
        (&["show", "r"], &["quipu verify r --storage 'my runs'"]),
        (&["stats"], &["quipu verify r --storage 'my runs'"]),
        (&["cost"], &["quipu verify --all --storage 'my runs'"]),
        (&["verify"], &["quipu repair RUN --storage 'my runs'"]),
        (&["show", "nonesuch"], &["quipu ls --storage 'my runs'"]),
        (&["record", "--append", "--id", "nonesuch"], &["quipu ls --storage 'my runs'"]),
        (&["status", "r"], &["quipu repair r --storage 'my runs'"]),
    ];
    for (arguments, expected) in cases {
        let outcome = session.quipu(&[arguments, &["--storage", STORAGE]].concat());
        assert_eq!(suggested(&outcome), expected, "{arguments:?}: {outcome:?}");
    }
    let outcome = session.quipu(&["ls", "--storage", "it's new"]);
    assert_eq!(suggested(&outcome), [r"quipu demo --storage 'it'\''s new'"], "{outcome:?}");
    let outcome = session.quipu(&["show", "nonesuch", "--json", "--storage", STORAGE]);
    assert!(outcome.stderr.contains("`quipu ls --storage 'my runs'`"), "{outcome:?}");
}

#[test]
fn a_suggested_command_says_nothing_of_a_storage_that_it_finds_itself() {
    let session = damaged().with_variable("QUIPU_STORAGE", STORAGE);
    assert_eq!(suggested(&session.quipu(&["show", "r"])), ["quipu verify r"]);
    assert_eq!(suggested(&session.quipu(&["show", "nonesuch"])), ["quipu ls"]);
}

#[test]
fn a_suggested_command_can_be_copied_into_a_shell() {
    let session = damaged();
    let outcome = session.quipu(&["tail", "r", "--storage", STORAGE]);
    let [verify] = suggested(&outcome).try_into().expect("one command is suggested");
    let program = crate::session::QUIPU;
    let script = verify.replacen("quipu", &format!("'{program}'"), 1);
    let output = session.command("sh").args(["-c", &script]).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains("my runs/transcripts/r.jsonl"), "{told}");
}
