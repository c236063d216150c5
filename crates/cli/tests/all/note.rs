//! `quipu note`: words for a run that is over, that died, or that others write at the moment.

use std::fs;

use serde_json::{Value, json};

use crate::run::{signal, wait_for, with_workflow};
use crate::session::{QUIPU, Session, finish};

const NOTHING: &str = "name: w\nstates:\n  initial: a\n  \
                       a: {type: step, command: 'true', on_success: e}\n  e: {type: terminal}\n";

/// Returns number, title, content and step of every note in a run.
fn notes(session: &Session, run: &str) -> Vec<(u64, Value)> {
    let lines = session.lines(run).into_iter();
    let notes = lines.filter(|line| line["payload"]["subtype"] == "note");
    notes.map(|line| (line["seq"].as_u64().unwrap(), line["payload"].clone())).collect()
}

fn types(session: &Session, run: &str) -> Vec<String> {
    session
        .lines(run)
        .iter()
        .map(|line| match line["payload"]["title"].as_str() {
            Some(title) => format!("note {title}"),
            None => line["type"].as_str().unwrap().to_owned(),
        })
        .collect()
}

#[test]
fn a_finished_run_takes_a_note_at_once() {
    let session = with_workflow(NOTHING);
    session.ok(&["run", "w.yaml", "--id", "r"]);
    let before = session.lines("r").len() as u64;
    let said =
        session.quipu_with_input(&["note", "r", "--title", "Why"], b"First line.\nSecond.\n");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(said.stdout, format!("noted in run r as event {}\n", before + 1));
    let said =
        session.ok(&["note", "r", "--title", " More\n words ", "--text", "- item one", "--json"]);
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&said["state"], &said["seq"]), (&json!("recorded"), &json!(before + 2)));
    let notes = notes(&session, "r");
    assert_eq!(notes[0].1["content"], "First line.\nSecond.\n");
    assert_eq!(notes[1].1["title"], "More words");
    assert_eq!(notes[1].1["content"], "- item one");
    assert!(!session.dir().join("storage/notes").exists());
    session.ok(&["verify", "r"]);
    let listed: Value = serde_json::from_str(&session.ok(&["ls", "--json"])).unwrap();
    assert_eq!(listed["events"], before + 2, "notes are events");
    // A note does not open a run again.
    assert!(session.ok(&["ls"]).contains("succeeded"));
    assert!(session.ok(&["status", "r"]).contains("succeeded"));
    assert!(session.ok(&["tail", "-f", "r"]).contains("More words"), "and following it ends");
    assert_eq!(session.quipu(&["resume", "r"]).code, Some(1), "it is complete");
}

#[test]
fn a_step_notes_its_own_run_from_whatever_directory_it_is_in() {
    let text = format!(
        r#"
name: noting
states:
  initial: one
  one:
    type: step
    command: |
      mkdir -p elsewhere && cd elsewhere
      echo "from a file" | "{QUIPU}" note "$QUIPU_RUN_ID" --title first
      "{QUIPU}" note "$QUIPU_RUN_ID" --title second --text words
    on_success: call
  call: {{type: call_workflow, workflow: child.yaml, on_success: done}}
  done: {{type: terminal}}
"#
    );
    let child = format!(
        "name: child\nstates:\n  initial: in\n  in:\n    type: step\n    \
         command: '\"{QUIPU}\" note \"$QUIPU_RUN_ID\" --title inner --text x --json > said'\n    \
         on_success: e\n  e: {{type: terminal}}\n"
    );
    let session = with_workflow(&text);
    fs::write(session.dir().join("child.yaml"), child).unwrap();
    session.ok(&["run", "w.yaml", "--id", "r"]);
    let types = types(&session, "r");
    let place = |what: &str| types.iter().position(|t| t == what).expect(what);
    assert!(place("note first") < place("note second"), "{types:?}");
    assert!(place("note second") < place("step.completed"), "it was left inside of the step");
    let notes = notes(&session, "r");
    assert_eq!(notes[0].1["content"], "from a file\n");
    assert_eq!(notes[0].1["step"], "one");
    // Whoever notes a run that is being written is told so.
    let said: Value =
        serde_json::from_str(&fs::read_to_string(session.dir().join("said")).unwrap()).unwrap();
    assert_eq!(said["state"], "waiting");
    let child = said["run_id"].as_str().unwrap();
    assert_eq!(self::notes(&session, child)[0].1["title"], "inner");
    assert!(!session.dir().join("storage/notes").exists(), "nothing is left behind");
    session.ok(&["verify", "r"]);
    session.ok(&["verify", child]);
}

#[test]
fn a_note_left_while_the_last_step_runs_stands_before_the_end() {
    let session = with_workflow(
        "name: w\nstates:\n  initial: a\n  \
         a: {type: step, command: 'echo begun; while ! test -e go; do sleep 0.01; done', on_success: e}\n  \
         e: {type: terminal}\n",
    );
    let mut child = session.spawn(&["run", "w.yaml", "--id", "r"]);
    wait_for(&mut child, "│ begun");
    let said = session.ok(&["note", "r", "--title", "meanwhile", "--text", "x"]);
    assert!(said.starts_with("noted; run r is being written by pid "), "{said}");
    assert!(notes(&session, "r").is_empty());
    fs::write(session.dir().join("go"), "").unwrap();
    assert_eq!(finish(child, b"").code, Some(0));
    assert_eq!(types(&session, "r").last().unwrap(), "run.completed");
    assert_eq!(notes(&session, "r").len(), 1);
}

#[test]
fn a_note_for_a_run_whose_writer_was_killed_is_recorded_and_the_run_can_go_on() {
    let session = with_workflow(
        "name: w\nstates:\n  initial: a\n  \
         a: {type: step, command: 'echo begun; test -e go || sleep 60', on_success: e}\n  \
         e: {type: terminal}\n",
    );
    let mut child = session.spawn(&["run", "w.yaml", "--id", "r"]);
    wait_for(&mut child, "│ begun");
    session.ok(&["note", "r", "--title", "waiting", "--text", "x"]);
    signal(&session, "-KILL", child.id());
    child.wait().unwrap();
    session.ok(&["note", "r", "--title", "after", "--text", "y"]);
    let titles: Vec<Value> = notes(&session, "r").iter().map(|n| n.1["title"].clone()).collect();
    assert_eq!(titles, ["waiting", "after"]);
    fs::write(session.dir().join("go"), "").unwrap();
    session.ok(&["resume", "r"]);
    assert_eq!(notes(&session, "r").len(), 2);
    session.ok(&["verify", "r"]);
}

#[test]
fn what_record_and_exec_write_takes_notes_before_its_end() {
    let session = Session::new();
    let note = format!("cd / && \"{QUIPU}\" note \"$QUIPU_RUN_ID\" --title t --text x");
    session.ok(&["exec", "--", "sh", "-c", &note]);
    let listed: Value = serde_json::from_str(session.ok(&["ls", "--json"]).trim()).unwrap();
    let run = listed["run_id"].as_str().unwrap();
    assert!(types(&session, run).ends_with(&["note t".into(), "run.completed".into()]));
    session.ok(&["verify", run]);

    let script = format!(
        "{{ echo '{{\"type\":\"usage\"}}'; for n in $(seq 1000); do test -s storage/transcripts/p.jsonl && break; sleep 0.01; done; \
         \"{QUIPU}\" note p --title t --text x >&2; true; }} | \"{QUIPU}\" record --id p --name p"
    );
    let status = session.command("sh").args(["-c", &script]).status().unwrap();
    assert!(status.success());
    assert_eq!(types(&session, "p")[1..], ["usage", "note t", "run.completed"]);
    session.ok(&["verify", "p"]);
}

#[test]
fn a_note_that_says_nothing_is_refused() {
    let session = with_workflow(NOTHING);
    session.ok(&["run", "w.yaml", "--id", "r"]);
    let long = "x".repeat(201);
    let cases: [(&[&str], &[u8], &str); 6] = [
        (&["note", "r", "--title", "t"], b" \n", "the note says nothing"),
        (&["note", "r", "--title", " "], b"x", "the note has no title"),
        (&["note", "r", "--title", &long], b"x", "longer than 200"),
        (&["note", "r", "--title", "t"], b"\xff", "not UTF-8"),
        (&["note", "r", "--title", "t"], &[b'x'; (1 << 20) + 1], "longer than 1 MiB"),
        (&["note", "nobody", "--title", "t"], b"x", "nobody"),
    ];
    for (args, input, why) in cases {
        let refused = session.quipu_with_input(args, input);
        assert_eq!(refused.code, Some(1), "{why}: {}", refused.stderr);
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    }
    assert!(notes(&session, "r").is_empty());
    assert!(!session.dir().join("storage/notes").exists());
}

#[test]
fn a_note_is_masked_like_everything_that_is_recorded() {
    let session = with_workflow(NOTHING);
    session.ok(&["run", "w.yaml", "--id", "r"]);
    let token = ["ghp_", &"a1B2".repeat(9)].concat();
    session.ok(&["note", "r", "--title", "t", "--text", &token, "--mask", "secrets"]);
    assert!(!notes(&session, "r")[0].1.to_string().contains(&token));
}
