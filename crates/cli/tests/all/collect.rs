//! `quipu collect` and `quipu collect --follow`: what they record, say and survive.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread;
use std::time::Duration;

use quipu_testkit::homes::{self, claude, claude_talk};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::session::{Session, finish};

/// How often collecting, and following, is killed.
const KILLS: u64 = 24;

fn with_home() -> Session {
    let session = Session::new();
    homes::write_home(session.dir());
    session
}

fn transcripts(session: &Session) -> BTreeMap<PathBuf, Vec<u8>> {
    let folder = session.dir().join("storage/transcripts");
    let files = homes::files_below(&folder).into_iter();
    files
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .map(|path| (path.file_name().unwrap().into(), fs::read(&path).unwrap()))
        .collect()
}

/// Returns what agents said: type, payload, place and bytes of each event made from a file.
fn said(session: &Session) -> BTreeMap<PathBuf, Vec<Value>> {
    let essence = |line: &str| -> Option<Value> {
        let mut event: Value = serde_json::from_str(line).expect("a line is JSON");
        event.get("origin")?;
        let fields = event.as_object_mut().unwrap();
        fields.remove("seq");
        // What has no time of its own has that of its recording.
        fields.remove("timestamp");
        let origin = fields["origin"].as_object_mut().unwrap();
        origin.remove("recorded_at");
        // Where a file was silent depends on the moment; the home is another one each time.
        origin.remove("until");
        origin.remove("file");
        Some(event)
    };
    let all = transcripts(session).into_iter().map(|(path, bytes)| {
        let text = String::from_utf8(bytes).expect("transcripts are text");
        let mut events: Vec<_> = text.lines().filter_map(essence).collect();
        // Which of two subagents began first is the file system's to tell.
        events.sort_by_key(|event| event["source"].as_str().map(str::to_owned));
        (path, events)
    });
    all.collect()
}

/// Returns where two collections say something else.
fn difference(
    one: &BTreeMap<PathBuf, Vec<Value>>,
    other: &BTreeMap<PathBuf, Vec<Value>>,
) -> String {
    let mut text = String::new();
    for path in one.keys().chain(other.keys()) {
        let (one, other) = (one.get(path), other.get(path));
        let (one, other) = (one.map_or(&[][..], |one| one), other.map_or(&[][..], |other| other));
        if one != other {
            let at = one.iter().zip(other).position(|(one, other)| one != other);
            let at = at.unwrap_or(one.len().min(other.len()));
            let (one, other) = (one.get(at), other.get(at));
            text.push_str(&format!("{} event {at}:\n{one:?}\n{other:?}\n", path.display()));
        }
    }
    text
}

fn verify(session: &Session) {
    let outcome = session.quipu(&["verify", "--all"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn new_session(session: &Session, number: u64) -> PathBuf {
    let name = format!("{}.jsonl", homes::session(number));
    session.dir().join(".claude/projects/p").join(name)
}

#[test]
fn collecting_that_is_killed_at_any_moment_comes_to_the_same() {
    let whole = with_home();
    whole.ok(&["collect"]);
    let expected = said(&whole);
    let killed = with_home();
    for nth in 0..KILLS {
        if nth % 6 == 0 {
            let _ = fs::remove_dir_all(killed.dir().join("storage"));
        }
        let mut child = killed.spawn(&["collect"]);
        thread::sleep(Duration::from_micros(nth * 700));
        child.kill().unwrap();
        child.wait().unwrap();
        if nth % 2 == 1 {
            killed.ok(&["collect"]);
            assert!(
                said(&killed) == expected,
                "kill {nth}: {}",
                difference(&said(&killed), &expected)
            );
            verify(&killed);
        }
    }
}

#[test]
fn following_that_is_killed_at_any_moment_comes_to_the_same() {
    let whole = with_home();
    let killed = with_home();
    let talk = claude_talk(&homes::session(30), 5000, KILLS * 4);
    homes::write_lines(&new_session(&whole, 30), &talk);
    whole.ok(&["collect"]);
    for (nth, part) in talk.chunks(4).enumerate() {
        let mut child = killed.spawn(&["collect", "--follow"]);
        let path = new_session(&killed, 30);
        for (line, pause) in part.iter().zip([0, 1, 4, 9]) {
            thread::sleep(Duration::from_millis(pause * (nth as u64 % 5)));
            let (head, tail) = line.as_bytes().split_at(line.len() / 2);
            homes::append(&path, head);
            homes::append(&path, tail);
            homes::append(&path, b"\n");
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    killed.ok(&["collect"]);
    let difference = difference(&said(&killed), &said(&whole));
    assert!(difference.is_empty(), "{difference}");
    verify(&killed);
}

#[test]
fn a_second_collect_touches_nothing() {
    let session = with_home();
    let first = session.ok(&["collect", "--json"]);
    let first: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(first["totals"]["claude"]["new"], 3);
    assert_eq!(first["totals"]["copilot"]["new"], 1);
    let before = transcripts(&session);
    let second: Value = serde_json::from_str(&session.ok(&["collect", "--json"])).unwrap();
    assert_eq!(second["totals"]["claude"]["unchanged_files"], 5);
    assert_eq!(second["totals"]["claude"]["files"], 0);
    assert_eq!(transcripts(&session), before);
    fs::remove_dir_all(session.dir().join("storage/cache")).unwrap();
    let third: Value = serde_json::from_str(&session.ok(&["collect", "--json"])).unwrap();
    assert_eq!(third["totals"]["claude"]["events"], 0);
    assert_eq!(transcripts(&session), before);
}

#[test]
fn a_dry_run_says_what_there_is_and_records_nothing() {
    let session = with_home();
    let outcome = session.quipu(&["collect", "--dry-run"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stdout.contains(&homes::session(1)), "{outcome:?}");
    assert!(outcome.stderr.contains("Nothing was recorded"), "{outcome:?}");
    let plan = session.quipu(&["collect", "--dry-run", "--json"]).json();
    assert_eq!(plan["sessions"].as_array().unwrap().len(), 8);
    assert_eq!(plan["sessions"][0]["new"], true);
    assert!(transcripts(&session).is_empty());
    session.ok(&["collect"]);
    let plan = session.quipu(&["collect", "--dry-run", "--json"]).json();
    assert_eq!(plan["sessions"].as_array().unwrap().len(), 0);
}

#[test]
fn one_agent_or_what_is_new_can_be_asked_for() {
    let session = with_home();
    session.ok(&["collect", "--since", "2100-01-01"]);
    assert!(transcripts(&session).is_empty());
    let gemini = session.quipu(&["collect", "--provider", "gemini", "--json"]).json();
    assert_eq!(gemini["totals"].as_object().unwrap().keys().collect::<Vec<_>>(), ["gemini"]);
    assert_eq!(transcripts(&session).len(), 2);
    session.ok(&["collect", "--since", "1d"]);
    assert_eq!(transcripts(&session).len(), 8);
    assert_eq!(session.quipu(&["collect", "--provider", "nobody"]).code, Some(1));
    assert_eq!(session.quipu(&["collect", "--since", "tomorrow"]).code, Some(1));
}

#[test]
fn a_home_that_is_not_there_is_the_users_mistake() {
    let session = Session::new();
    let outcome = session.quipu(&["collect", "--home", "nowhere"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("there is no folder nowhere"), "{outcome:?}");
}

#[test]
fn where_nothing_is_it_says_where_it_looked() {
    let session = Session::new();
    let outcome = session.quipu(&["collect"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stderr.contains("there are no sessions to collect"), "{outcome:?}");
    assert!(outcome.stderr.contains(".claude"), "{outcome:?}");
    assert!(!session.dir().join("storage/transcripts").exists());
}

#[test]
fn another_home_is_collected_as_if_it_were_ours() {
    let session = Session::new();
    homes::write_home(&session.dir().join("backup"));
    let session = session.with_variable("CODEX_HOME", "/nonexistent");
    session.ok(&["collect", "--home", "backup"]);
    assert_eq!(transcripts(&session).len(), 8);
}

#[test]
fn what_cannot_be_read_is_reported_and_keeps_nobody_else_back() {
    let session = with_home();
    let transcripts_folder = session.dir().join("storage/transcripts");
    // Whoever may read everything cannot read a folder, and nobody writes to one.
    let run = run_of(&session, "gemini");
    fs::create_dir_all(transcripts_folder.join(format!("{run}.jsonl"))).unwrap();
    let outcome = session.quipu(&["collect"]);
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
    assert!(outcome.stderr.contains(&run), "{outcome:?}");
    assert_eq!(homes::files_below(&transcripts_folder).len(), 7);
    fs::remove_dir(transcripts_folder.join(format!("{run}.jsonl"))).unwrap();
    session.ok(&["collect"]);
    assert_eq!(transcripts(&session).len(), 8);
}

/// Returns the first run that is planned for `provider`.
fn run_of(session: &Session, provider: &str) -> String {
    let plan = session.quipu(&["collect", "--dry-run", "--json", "--provider", provider]).json();
    plan["sessions"][0]["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_run_that_another_process_writes_is_reported() {
    let session = with_home();
    let run = run_of(&session, "copilot");
    let child = session.spawn(&["record", "--id", &run, "--name", "other"]);
    while !session.transcript(&run).exists() {
        thread::sleep(Duration::from_millis(5));
    }
    let outcome = session.quipu(&["collect"]);
    // It is being taken care of.
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stderr.contains(&format!("run {run} is being written by")), "{outcome:?}");
    assert_eq!(transcripts(&session).len(), 8);
    finish(child, b"");
}

#[test]
fn following_ends_with_everything_drained() {
    for stop in [Signal::INT, Signal::TERM] {
        let session = with_home();
        let mut child = session.spawn(&["collect", "--follow", "--json"]);
        let mut told = BufReader::new(child.stdout.take().unwrap());
        wait_for(&mut told, "caught_up");
        let talk = claude_talk(&homes::session(30), 5000, 41);
        let path = new_session(&session, 30);
        homes::write_lines(&path, &talk);
        wait_for(&mut told, &homes::session(30));
        // The last line has no end, and nobody waits for it to be told.
        homes::append(&path, claude::prompt(&homes::session(30), 6000).as_bytes());
        signal(&child, stop);
        let end = wait_for(&mut told, "stopped");
        assert!(end["stopped"]["events"].as_u64().unwrap() > 40, "{end}");
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert_eq!(said(&session).len(), 9);
        let all = transcripts(&session).into_values().flatten().collect::<Vec<u8>>();
        assert!(String::from_utf8(all).unwrap().contains("prompt 6000"));
        verify(&session);
        let before = transcripts(&session);
        session.ok(&["collect"]);
        assert_eq!(transcripts(&session), before);
    }
}

/// Reads lines until one speaks of `word`.
fn wait_for(told: &mut impl BufRead, word: &str) -> Value {
    loop {
        let mut line = String::new();
        assert_ne!(told.read_line(&mut line).unwrap(), 0, "nobody told of {word}");
        if line.contains(word) {
            return serde_json::from_str(&line).expect("a line is JSON");
        }
    }
}

#[test]
fn a_home_of_links_is_read_where_they_lead() {
    let session = Session::new();
    homes::write_home(&session.dir().join("real"));
    std::os::unix::fs::symlink(Path::new("real/.claude"), session.dir().join(".claude")).unwrap();
    session.ok(&["collect"]);
    assert_eq!(transcripts(&session).len(), 3);
}

#[test]
fn what_the_settings_hide_is_hidden_in_sessions_too() {
    let session = Session::new().with_variable("MY_WORD", "xyzzy-plugh-42");
    let folder = session.dir().join(".claude/projects/-p");
    fs::create_dir_all(&folder).unwrap();
    let line = r#"{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"it is xyzzy-plugh-42"}}"#;
    fs::write(folder.join("s1.jsonl"), format!("{line}\n")).unwrap();
    fs::write(session.dir().join("quipu.toml"), "mask_env = [\"MY_WORD\"]\n").unwrap();
    session.ok(&["collect"]);
    let said: String = transcripts(&session).into_values().flatten().map(char::from).collect();
    assert!(said.contains("it is ") && !said.contains("xyzzy-plugh-42"), "{said}");
}
