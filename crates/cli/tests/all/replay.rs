//! Runs played again: as they were seen, from anywhere, and by hand on a real terminal.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, tcgetattr};
use serde_json::Value;

use crate::live::terminal;
use crate::run::with_workflow;
use crate::session::{QUIPU, Session};
use crate::transcripts::{
    AWF_ID, HOSTILE_ID, LINT_ID, REVIEW_ID, drives_a_terminal, put, session as transcripts,
};

/// So long at most until what happens has to be seen.
const PATIENCE: Duration = Duration::from_secs(60);

/// Workflows with one of everything that is seen of a run.
const WORKFLOWS: [&str; 6] = [
    r#"
name: side_by_side
states:
  initial: fan
  fan: {type: parallel, parallel: [left, each], on_success: ask}
  left: {type: step, command: "echo from the left; echo and more >&2; printf 'no line end'"}
  each: {type: for_each, items: [a, b, c], body: [check, inner], on_complete: done}
  check: {type: step, command: 'echo "item {{.loop.Item}}"'}
  inner: {type: for_each, items: [x, y], body: [deep], on_complete: done}
  deep: {type: step, command: "true"}
  ask: {type: agent, provider: stub, prompt: hello, on_success: done}
  done: {type: terminal}
"#,
    r#"
name: bounded
states:
  initial: each
  each: {type: for_each, items: [a, b, c, d], max_iterations: 2, body: [check], on_complete: rounds}
  check: {type: step, command: "true"}
  rounds: {type: while, while: "true", max_iterations: 3, body: [round], on_complete: done}
  round: {type: step, command: "echo again"}
  done: {type: terminal}
"#,
    r#"
name: trouble
states:
  initial: flaky
  flaky:
    type: step
    command: "test -e there || { touch there; echo not yet >&2; exit 3; }"
    retry: {max_attempts: 3, initial_delay: 1ms}
    on_success: broken
  broken: {type: step, command: "echo oh; exit 4", on_failure: end}
  end: {type: terminal, status: failure, message: "it is broken"}
"#,
    r#"
name: much
states:
  initial: long
  long: {type: step, command: "yes 'a line that comes again' | head -c 1500000", on_success: odd}
  odd: {type: step, command: "printf 'caf\\351\\n\\303\\251\\n'", on_success: wide}
  wide: {type: step, command: "head -c 20000 /dev/zero | tr '\\0' x", on_success: done}
  done: {type: terminal}
"#,
    r#"
name: calling
states:
  initial: sub
  sub: {type: call_workflow, workflow: child, on_success: again}
  again: {type: for_each, items: [1, 2], body: [sub_again], on_complete: done}
  sub_again: {type: call_workflow, workflow: child, on_success: done}
  done: {type: terminal}
"#,
    r#"
name: hooked
states:
  initial: a
  a:
    type: step
    command: "echo one"
    hooks: {pre: [{command: "echo before"}, {log: "soon"}, {command: "echo odd >&2; exit 2"}]}
    on_success: b
  b: {type: step, command: "sleep 30", timeout: 1s, on_failure: done}
  done: {type: terminal}
"#,
];

const CHILD: &str = "
name: child
states:
  initial: a
  a: {type: step, command: 'echo in the child', on_success: done}
  done: {type: terminal}
";

/// Puts what commands wrote before the end of their steps, stream by stream: that is how a
/// transcript knows it.
fn with_output_at_the_end(text: &str) -> Vec<Value> {
    let mut written: HashMap<String, [Vec<Value>; 2]> = HashMap::new();
    let mut events = Vec::new();
    for line in text.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let at = format!("{} {}", event["path"], event["attempt"]);
        match event["event"].as_str().unwrap() {
            "command.output" => {
                let stream = usize::from(event["stream"] == "stderr");
                written.entry(at).or_default()[stream].push(event);
                continue;
            }
            "step.completed" => {
                events.extend(written.remove(&at).unwrap_or_default().into_iter().flatten());
            }
            "run.report" => continue,
            _ => {}
        }
        events.push(event);
    }
    assert!(written.is_empty(), "{written:?}");
    events
}

#[test]
fn a_run_is_replayed_as_it_was_seen() {
    for workflow in WORKFLOWS {
        let session = with_workflow(workflow);
        fs::write(session.dir().join("child.yaml"), CHILD).unwrap();
        let live = session.quipu(&["run", "w.yaml", "--id", "r", "--json"]);
        let again = session.ok(&["replay", "r", "--speed", "max", "--json"]);
        let (live, again) = (with_output_at_the_end(&live.stdout), with_output_at_the_end(&again));
        assert!(live.len() > 4, "{live:?}");
        for (n, (was, is)) in live.iter().zip(&again).enumerate() {
            assert_eq!(was, is, "event {n} of {workflow}");
        }
        assert_eq!(live.len(), again.len(), "{workflow}");
    }
}

#[test]
fn called_runs_are_joined_at_their_time() {
    let session = transcripts();
    let told = session.ok(&["replay", REVIEW_ID, "--speed", "max"]);
    let expected = format!(
        "replay {REVIEW_ID} review
transcript storage/transcripts/{REVIEW_ID}.jsonl
→ each for_each
→ each[0].check agent
each[0].check │ ∴ I should read it.
each[0].check │ ⚙ Read(main.rs)
✓ each[0].check 2.0s
✓ each 2.2s
→ lint call_workflow
→ lint.clippy command: cargo clippy
lint.clippy │ error: no
✗ lint.clippy 700ms: exit code 1
✗ lint 1.0s: exit code 1
✗ review failed in 1m05s · 1.2k in, 34 out
  lint failed
  lint.clippy: exit code 1
  │ error: no
"
    );
    assert_eq!(told, expected);
}

#[test]
fn a_replay_begins_anywhere_with_what_runs_there() {
    let session = transcripts();
    let told = session.ok(&["replay", REVIEW_ID, "--speed", "max", "--from", "6"]);
    let lines: Vec<&str> = told.lines().skip(2).take(4).collect();
    assert_eq!(
        lines,
        [
            "→ each for_each",
            "→ each[0].check agent",
            "each[0].check │ ⚙ Read(main.rs)",
            "✓ each[0].check 2.0s"
        ]
    );
    let last = session.ok(&["replay", REVIEW_ID, "--speed", "max", "--from", "13"]);
    assert!(last.lines().nth(2).unwrap().starts_with("✗ review failed"), "{last}");
    let outcome = session.quipu(&["replay", REVIEW_ID, "--from", "14"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("its last is 13"), "{outcome:?}");
    let outcome = session.quipu(&["replay", REVIEW_ID, "--from", "0"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("its first is 1"), "{outcome:?}");
}

#[test]
fn a_called_run_that_is_missing_is_told() {
    let session = transcripts();
    fs::remove_file(session.transcript(LINT_ID)).unwrap();
    let outcome = session.quipu(&["replay", REVIEW_ID, "--speed", "max"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let told = format!("{LINT_ID} was called and is not in the storage");
    assert!(outcome.stderr.contains(&told), "{outcome:?}");
}

#[test]
fn damage_is_told_and_drives_no_terminal() {
    let session = transcripts();
    let outcome = session.quipu(&["replay", HOSTILE_ID, "--speed", "max"]);
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    assert!(outcome.stderr.starts_with("✗ damaged: "), "{outcome:?}");
    assert!(outcome.stderr.contains("3 lines damaged"), "{outcome:?}");
    for text in [&outcome.stdout, &outcome.stderr] {
        assert!(!drives_a_terminal(text), "{text:?}");
    }
}

#[test]
fn a_replay_that_nobody_reads_any_more_ends() {
    let session = Session::new();
    put(&session, "slow", &SESSION.replace("10:00:10.", "20:00:10."));
    let mut child = session.spawn(&["replay", "slow", "--from", "3"]);
    drop(child.stdout.take());
    let until = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "it goes on for nobody");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(child.wait().unwrap().success());
}

#[test]
fn transcripts_of_others_are_played_too() {
    let session = transcripts();
    let told = session.ok(&["replay", AWF_ID, "--speed", "max"]);
    for line in ["→ analyze agent", "⚙ Read(main.go)", "code-review │ › Review main.go <now> & fix"]
    {
        assert!(told.lines().any(|other| other == line), "{line} in {told}");
    }
}

/// A session of two agents, the second of which was collected after the first.
const SESSION: &str = r#"
{"seq":1,"run_id":"RUN","type":"run.started","path":"","iteration":0,"timestamp":"2026-06-08T10:00:00.000000Z","payload":{"name":"shop","kind":"session","format":1}}
{"seq":2,"run_id":"RUN","type":"message.user","path":"","iteration":0,"timestamp":"2026-06-08T10:00:01.000000Z","payload":{"role":"user","blocks":[{"type":"text","fidelity":"agent_emitted","text":"Mend it."}]}}
{"seq":3,"run_id":"RUN","type":"message.assistant","path":"","iteration":0,"timestamp":"2026-06-08T10:00:02.000000Z","payload":{"role":"assistant","blocks":[{"type":"thinking","fidelity":"agent_emitted","thinking":"Which one?"},{"type":"text","fidelity":"agent_emitted","text":"I ask another."}]}}
{"seq":4,"run_id":"RUN","type":"tool.call","path":"","iteration":0,"timestamp":"2026-06-08T10:00:03.000000Z","payload":{"name":"Task","call_id":"c","input":{"prompt":"look"},"output":null,"fidelity":"agent_emitted"}}
{"seq":5,"run_id":"RUN","type":"tool.result","path":"","iteration":0,"timestamp":"2026-06-08T10:00:09.000000Z","payload":{"name":"Task","call_id":"c","input":{"prompt":"look"},"output":"ok","fidelity":"agent_emitted","status":"failed"}}
{"seq":6,"run_id":"RUN","type":"message.assistant","path":"","iteration":0,"timestamp":"2026-06-08T10:00:10.000000Z","payload":{"role":"assistant","blocks":[{"type":"text","fidelity":"agent_emitted","text":"All is well."}]}}
{"seq":7,"run_id":"RUN","type":"message.user","path":"","iteration":0,"timestamp":"2026-06-08T10:00:04.000000Z","payload":{"role":"user","blocks":[{"type":"text","fidelity":"agent_emitted","text":"look"}]},"source":"subagent:7"}
{"seq":8,"run_id":"RUN","type":"message.assistant","path":"","iteration":0,"timestamp":"2026-06-08T10:00:05.000000Z","payload":{"role":"assistant","blocks":[{"type":"text","fidelity":"agent_emitted","text":"I looked."}]},"source":"subagent:7"}
"#;

#[test]
fn a_session_is_played_with_each_agent_at_its_own_time() {
    let session = Session::new();
    put(&session, "talk", SESSION);
    let outcome = session.quipu(&["replay", "talk", "--speed", "max"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let told: Vec<&str> = outcome.stdout.lines().skip(2).collect();
    assert_eq!(
        told,
        [
            "› Mend it.",
            "∴ Which one?",
            "I ask another.",
            "⚙ Task(look)",
            "subagent:7 │ › look",
            "subagent:7 │ I looked.",
            "⚙ Task failed",
            "All is well.",
        ]
    );
    assert!(outcome.stderr.contains("no end"), "{outcome:?}");
}

#[test]
fn a_run_that_is_being_written_is_followed_to_its_end() {
    let session = Session::new();
    let (begin, end) = SESSION.trim_start().split_at(SESSION.find("{\"seq\":3").unwrap() - 1);
    put(&session, "talk", begin);
    let mut child = session.spawn(&["replay", "talk", "--speed", "max", "--follow"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "› Mend it."));
    let completed = r#"{"seq":9,"run_id":"RUN","type":"run.completed","path":"","iteration":0,"timestamp":"2026-06-08T10:00:11.000000Z","payload":{"name":"shop","kind":"session","status":"succeeded","duration_ms":11000}}"#;
    let more = format!("{end}{completed}\n").replace("RUN", "talk");
    let mut file = OpenOptions::new().append(true).open(session.transcript("talk")).unwrap();
    file.write_all(more.as_bytes()).unwrap();
    assert_eq!(lines.last().unwrap(), "✓ shop succeeded in 11.0s");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_pace_that_is_none_is_refused() {
    let session = transcripts();
    for arguments in [["--speed", "0"], ["--speed", "fast"], ["--max-pause", "-1"]] {
        let outcome = session.quipu(&[&["replay", REVIEW_ID], &arguments[..]].concat());
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
    }
}

/// A replay on a terminal, with keys.
struct Played {
    child: Child,
    ours: File,
    theirs: File,
    said: Receiver<String>,
}

impl Played {
    fn start(session: &Session, arguments: &[&str]) -> Self {
        let (ours, theirs) = terminal();
        let mut command = session.command(QUIPU);
        command.args(arguments).env("TERM", "xterm-256color").arg("--color=never");
        command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap());
        command.stderr(theirs.try_clone().unwrap());
        let child = command.spawn().unwrap();
        let mut ours = File::from(ours);
        let mut reading = ours.try_clone().unwrap();
        let (tell, said) = channel();
        std::thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(count @ 1..) = reading.read(&mut part) {
                if tell.send(String::from_utf8_lossy(&part[..count]).into_owned()).is_err() {
                    return;
                }
            }
        });
        ours.flush().unwrap();
        Played { child, ours, theirs, said }
    }

    /// Presses keys and waits until the terminal is written all of `words`; returns what was written.
    fn press(&mut self, keys: &str, words: &[&str]) -> String {
        self.ours.write_all(keys.as_bytes()).unwrap();
        let mut seen = String::new();
        while !words.iter().all(|word| seen.contains(word)) {
            match self.said.recv_timeout(PATIENCE) {
                Ok(part) => seen += &part,
                Err(_) => panic!("{keys:?} did not lead to {words:?}: {seen}"),
            }
        }
        seen
    }

    /// Waits for the end, after which keys are read as before.
    fn end(mut self) -> Option<i32> {
        let code = self.child.wait().unwrap().code();
        let modes = tcgetattr(&self.theirs).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO), "{modes:?}");
        code
    }
}

#[test]
fn keys_pause_step_and_jump() {
    let session = transcripts();
    let mut played = Played::start(&session, &["replay", REVIEW_ID, "--speed", "0.25"]);
    played.press("", &["of 1m05s"]);
    played.press(" ", &["paused"]);
    played.press("6g", &["paused 6/13", "check │ ⚙ Read(main.rs)"]);
    played.press("n", &["paused 7/13"]);
    played.press("\x1b[C", &["paused 8/13"]);
    played.press("p", &["paused 7/13"]);
    let back = played.press("\x1b[D\x1b[D", &["paused 5/13"]);
    let shown = back.rsplit("\x1b[H\x1b[J").next().unwrap();
    assert!(shown.contains("∴ I should") && !shown.contains("Read(main.rs)"), "{shown:?}");
    // To the next step, one of a called run, and back to the one before.
    played.press("j", &["paused 11/13", "lint"]);
    played.press("j", &["clippy", "cargo clippy"]);
    played.press("k", &["paused 11/13"]);
    played.press("+", &["0.5×"]);
    played.press("--", &["0.25×"]);
    played.press("?", &["pause, go on"]);
    played.press("G", &["paused 13/13", "the end"]);
    played.press("g", &["paused 0/13"]);
    played.press("99g", &["paused 13/13"]);
    let left = played.press("q", &["review failed in 1m05s"]);
    assert!(left.contains("lint failed"), "{left}");
    assert_eq!(played.end(), Some(0));
}

#[test]
fn a_long_silence_is_told_and_can_be_shortened() {
    let session = transcripts();
    let mut played = Played::start(&session, &["replay", REVIEW_ID, "--from", "12"]);
    played.press("", &["▶ 12/13", "next event in 1m0"]);
    played.press("q", &["left at 12 of 13"]);
    assert_eq!(played.end(), Some(0));
    let arguments = ["replay", REVIEW_ID, "--from", "12", "--max-pause", "0.01"];
    let mut played = Played::start(&session, &arguments);
    played.press("", &["review failed in 1m05s"]);
    assert_eq!(played.end(), Some(0));
}

#[test]
fn signals_leave_the_terminal_as_it_was() {
    let session = transcripts();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut played = Played::start(&session, &["replay", REVIEW_ID, "--speed", "0.25"]);
        played.press("", &["of 1m05s"]);
        kill_process(Pid::from_child(&played.child), signal).unwrap();
        assert_eq!(played.end(), Some(0), "{signal:?}");
    }
}

#[test]
fn a_step_that_names_an_error_and_no_status_has_failed() {
    let session = Session::new();
    let id = "66666666-aaaa-4000-8000-000000000002";
    let lines = [
        (1, "run.started", "", r#"{"name":"w","kind":"workflow"}"#),
        (2, "step.started", "s", r#"{"name":"s","kind":"command"}"#),
        (3, "step.completed", "s", r#"{"name":"s","kind":"command","error":"exit code 1"}"#),
        (4, "run.completed", "", r#"{"name":"w","error":"exit code 1"}"#),
    ];
    let line = |(seq, kind, path, payload)| {
        format!(
            r#"{{"v":1,"run_id":"{id}","seq":{seq},"timestamp":"2026-06-08T10:00:0{seq}Z","type":"{kind}","path":"{path}","payload":{payload}}}"#
        ) + "\n"
    };
    put(&session, id, &lines.into_iter().map(line).collect::<String>());
    let told = session.quipu(&["replay", id, "--speed", "max"]).stdout;
    assert!(told.contains("✗ s 1.0s: exit code 1\n") && !told.contains('✓'), "{told}");
    let status = session.quipu(&["status", id, "--json"]).json();
    assert_eq!(status["status"], "failed", "{status}");
    assert!(!session.quipu(&["status", id]).stdout.contains("succeeded"), "{status}");
}

#[test]
fn a_step_whose_end_names_no_duration_took_from_its_beginning_to_its_end() {
    let session = Session::new();
    let id = "66666666-aaaa-4000-8000-000000000001";
    let line = |seq: u64, second: u64, kind: &str, path: &str, payload: &str| {
        format!(
            r#"{{"v":1,"run_id":"{id}","seq":{seq},"timestamp":"2026-06-08T10:00:0{second}Z","type":"{kind}","path":"{path}","payload":{payload}}}"#
        )
    };
    let odd = r#"{"name":"a\nb","call_id":"1","input":{}}"#;
    let lines = [
        line(1, 0, "run.started", "", r#"{"name":"odd\nname","kind":"workflow"}"#),
        line(2, 1, "step.started", "s", r#"{"name":"s","kind":"agent"}"#),
        line(3, 2, "tool.call", "s", odd),
        line(4, 6, "step.completed", "s", r#"{"name":"s","status":"succeeded"}"#),
        line(5, 7, "run.completed", "", r#"{"status":"succeeded"}"#),
    ];
    put(&session, id, &(lines.join("\n") + "\n"));
    let told = session.ok(&["replay", id, "--speed", "max"]);
    assert!(told.contains("✓ s 5.0s\n"), "{told}");
    assert_eq!(told.lines().count(), 6, "names with line ends stay in their lines: {told}");
}
