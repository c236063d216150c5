//! `quipu tail`: the end of a run, and what comes after it.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};

use crate::session::{Session, finish};
use crate::transcripts::{self, AWF, AWF_ID, LINT_ID, REVIEW_ID};

#[test]
fn the_last_events_are_one_line_each() {
    let session = transcripts::session();
    assert_eq!(
        session.ok(&["tail", "last", "-n", "4"]),
        "\
10:00:02.300     10  step.completed     each  succeeded in 2.2s
10:00:03.000     11  step.call_workflow.started  lint  call_workflow → run 22222222
10:00:04.000     12  step.call_workflow.completed  lint  failed in 1.0s → run 22222222  error: exit code 1
10:01:05.000     13  run.completed      failed in 1m05s, 1.23k tokens  error: lint failed
"
    );
    let lines = |n: &str| session.ok(&["tail", REVIEW_ID, "-n", n]).lines().count();
    assert_eq!([lines("0"), lines("1"), lines("13"), lines("99")], [0, 1, 13, 13]);
    assert_eq!(session.ok(&["tail", REVIEW_ID]).lines().count(), 10);
}

#[test]
fn json_prints_the_exact_lines_of_any_writer_in_any_order() {
    let session = transcripts::session();
    let text = AWF.trim_start().replace("RUN", AWF_ID);
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    for n in 0..=7 {
        let shown = session.ok(&["tail", AWF_ID, "--json", "-n", &n.to_string()]);
        assert_eq!(shown, lines[7 - n..].concat(), "-n {n}");
        let followed = session.ok(&["tail", "-f", AWF_ID, "--json", "-n", &n.to_string()]);
        assert_eq!(followed, lines[7 - n..].concat(), "-f -n {n}");
    }
}

#[test]
fn following_a_run_that_has_ended_ends() {
    let session = transcripts::session();
    let without = session.ok(&["tail", REVIEW_ID]);
    assert_eq!(session.ok(&["tail", "-f", REVIEW_ID]), without);
    assert_eq!(session.ok(&["tail", "-f", "-n", "0", REVIEW_ID]), "");
}

#[test]
fn what_came_late_does_not_keep_it_from_ending() {
    let session = Session::new();
    let input = concat!(
        r#"{"type":"run.completed","payload":{"name":"x","kind":"exec","status":"failed"}}"#,
        "\n",
        r#"{"type":"usage","payload":{"model":"m","input_tokens":5}}"#,
        "\n",
    );
    session.quipu_with_input(&["record", "--name", "late", "--id", "late"], input);
    for n in ["0", "1", "2", "9"] {
        let count = session.ok(&["tail", "-f", "-n", n, "late"]).lines().count();
        assert_eq!(count.to_string(), if n == "9" { "3" } else { n });
    }
    assert!(session.ok(&["ls"]).contains("  failed  "), "the list says so too");
}

/// A recording process that acknowledges each line.
struct Recording {
    child: Child,
    stdin: ChildStdin,
    acknowledged: BufReader<ChildStdout>,
}

impl Recording {
    fn start(session: &Session) -> Self {
        let mut child = session.spawn(&["record", "--name", "live", "--id", "live", "--ack"]);
        let stdin = child.stdin.take().expect("stdin is piped");
        let stdout = child.stdout.take().expect("stdout is piped");
        let mut recording = Recording { child, stdin, acknowledged: BufReader::new(stdout) };
        recording.record("0");
        recording
    }

    /// Records an event and waits until it is on disk.
    fn record(&mut self, subtype: &str) {
        let draft = format!("{{\"type\":\"system\",\"payload\":{{\"subtype\":\"{subtype}\"}}}}\n");
        self.stdin.write_all(draft.as_bytes()).expect("the recorder takes drafts");
        let mut line = String::new();
        self.acknowledged.read_line(&mut line).expect("the recorder acknowledges");
        assert!(line.contains("seq"), "{line:?}");
    }

    fn end(mut self) {
        drop(self.stdin);
        self.child.wait().expect("the recorder ends");
    }
}

#[test]
fn a_run_that_another_process_writes_is_followed_without_a_gap_until_it_ends() {
    let session = Session::new();
    let mut recording = Recording::start(&session);
    for n in 1..20 {
        recording.record(&n.to_string());
    }
    let mut tail = session.spawn(&["tail", "-f", "-n", "5", "live", "--json"]);
    let mut first = String::new();
    let mut shown = BufReader::new(tail.stdout.take().expect("stdout is piped"));
    shown.read_line(&mut first).unwrap();
    for n in 20..40 {
        recording.record(&n.to_string());
    }
    recording.end();
    let rest: Vec<String> = shown.lines().map(Result::unwrap).collect();
    assert_eq!(tail.wait().unwrap().code(), Some(0));
    let text = std::fs::read_to_string(session.transcript("live")).unwrap();
    let recorded: Vec<_> = text.lines().collect();
    let followed: Vec<_> =
        std::iter::once(first.trim_end()).chain(rest.iter().map(|l| &**l)).collect();
    let begin = recorded.iter().position(|line| *line == followed[0]).unwrap();
    assert_eq!(followed, recorded[begin..]);
    assert_eq!(begin, 21 - 5);
}

#[test]
fn a_run_that_nobody_writes_is_waited_for_with_a_note() {
    let session = Session::new();
    let text = transcripts::REVIEW.trim_start().replace("RUN", "r");
    let (there, end) = text.trim_end().rsplit_once('\n').unwrap();
    transcripts::put(&session, "r", &format!("{there}\n"));
    let mut tail = session.spawn(&["tail", "-f", "-n", "1", "r"]);
    let mut noted = String::new();
    BufReader::new(tail.stderr.take().unwrap()).read_line(&mut noted).unwrap();
    assert_eq!(noted, "note: nobody writes this run now; waiting in case it is taken up again\n");
    let mut file = OpenOptions::new().append(true).open(session.transcript("r")).unwrap();
    let (half, other_half) = end.split_at(40);
    file.write_all(half.as_bytes()).unwrap();
    file.write_all(format!("{other_half}\n").as_bytes()).unwrap();
    let outcome = finish(tail, b"");
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stdout.ends_with("error: lint failed\n"), "{outcome:?}");
    assert_eq!(outcome.stdout.lines().count(), 2);
}

#[test]
fn only_a_run_that_exists_can_be_followed() {
    let session = transcripts::session();
    std::fs::remove_file(session.transcript(LINT_ID)).unwrap();
    let outcome = session.quipu(&["tail", "-f", LINT_ID]);
    assert_eq!(outcome.code, Some(1));
}
