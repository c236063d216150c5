//! What the crate promises, each in its own words.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use quipu_collect::run_of_session;
use quipu_event::payload::{Payload, RunStarted};
use quipu_event::{Event, Kind, RunId};
use quipu_testkit::homes::{self, claude, claude_talk, codex, gemini};

use serde_json::{Value, json};

use crate::desk::{Desk, usage, wait_until};

fn started(events: &[Event]) -> RunStarted {
    match events[0].decode_payload().unwrap() {
        Payload::RunStarted(started) => *started,
        other => panic!("a run begins with {other:?}"),
    }
}

fn label(started: &RunStarted, name: &str) -> Option<String> {
    started.labels.as_ref()?.get(name).cloned()
}

/// Returns what stands in a run, without what depends on the day.
fn essence(desk: &Desk, run: &RunId) -> Vec<(String, String, Option<Vec<u8>>)> {
    let events = desk.events(run).into_iter();
    let is_ours = |event: &Event| event.origin.is_none();
    events
        .filter(|event| !is_ours(event))
        .map(|event| {
            let raw = event.raw.as_ref().and_then(quipu_event::Raw::bytes);
            (event.kind.as_str().to_owned(), event.payload.as_str().to_owned(), raw)
        })
        .collect()
}

fn runs(desk: &Desk) -> Vec<RunId> {
    let names = desk.transcripts().into_keys();
    let names = names.filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
    names.map(|path| RunId::parse(path.file_stem().unwrap().to_str().unwrap()).unwrap()).collect()
}

#[test]
fn each_foreign_record_is_recorded_once_across_restarts() {
    let desk = Desk::new();
    let (session, run) = (homes::session(1), run_of_session("claude", &homes::session(1)));
    let talk = claude_talk(&session, 1, 40);
    for part in talk.chunks(3) {
        homes::append(&desk.claude(&session), (part.join("\n") + "\n").as_bytes());
        desk.collect();
    }
    let kept = desk.kept(&run);
    let written: Vec<_> = talk.iter().map(|line| line.as_bytes().to_vec()).collect();
    assert_eq!(kept, written);
    let cost = (1..=40).filter(|n| n % 4 == 0 || n % 4 == 2).map(claude::cost).sum();
    assert_eq!(usage(&desk.events(&run)).output_tokens, Some(cost));
    desk.verify(&run);
}

#[test]
fn a_kill_at_any_point_leaves_no_duplicate_and_no_hole() {
    let desk = Desk::new();
    homes::write_home(desk.home());
    desk.collect();
    let whole = desk.transcripts();
    for (path, bytes) in &whole {
        let run = RunId::parse(path.file_stem().unwrap().to_str().unwrap()).unwrap();
        let expected = essence(&desk, &run);
        for cut in (0..bytes.len()).step_by(bytes.len() / 9 + 1) {
            fs::write(path, &bytes[..cut]).unwrap();
            desk.collect();
            assert_eq!(essence(&desk, &run), expected, "cut at {cut}\n{}", desk.outline(&run));
            desk.verify(&run);
        }
        // Sessions that were forked from this one look at what it was.
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn looking_at_a_session_that_has_not_changed_changes_nothing() {
    let desk = Desk::new();
    homes::write_home(desk.home());
    desk.collect();
    let before = desk.transcripts();
    for _ in 0..2 {
        let totals = desk.collect();
        assert_eq!(desk.transcripts(), before);
        assert!(totals.values().all(|totals| totals.files == 0 && totals.unchanged_files > 0));
        desk.forget();
        let totals = desk.collect();
        assert_eq!(desk.transcripts(), before);
        assert!(totals.values().all(|totals| totals.events == 0 && totals.new == 0));
    }
    let copy = desk.home().join(".claude/projects/another");
    let shorter = fs::read_to_string(desk.home().join(claude_path(1))).unwrap();
    let shorter = shorter.lines().take(5).map(|line| format!("{line}\n")).collect::<String>();
    homes::write(&copy.join(format!("{}.jsonl", homes::session(1))), shorter.as_bytes());
    for _ in 0..3 {
        desk.collect();
        assert_eq!(desk.transcripts(), before, "a copy that says less says nothing new");
    }
}

fn claude_path(session: u64) -> String {
    format!(".claude/projects/-home-ada-app/{}.jsonl", homes::session(session))
}

#[test]
fn what_was_recorded_stays_recorded_whatever_becomes_of_the_file() {
    let desk = Desk::new();
    homes::write_home(desk.home());
    desk.collect();
    let before = desk.transcripts();
    for path in homes::files_below(desk.home()) {
        fs::remove_file(path).unwrap();
    }
    desk.collect();
    assert_eq!(desk.transcripts(), before);
    for (nth, path) in ["a", "b"].iter().enumerate() {
        let session = homes::session(1);
        let lines = claude_talk(&session, 2000 + 100 * nth as u64, 4);
        homes::write_lines(
            &desk.home().join(".claude/projects").join(path).join(format!("{session}.jsonl")),
            &lines,
        );
        desk.collect();
        fs::remove_dir_all(desk.home().join(".claude/projects").join(path)).unwrap();
    }
    for (path, bytes) in before {
        assert!(fs::read(&path).unwrap().starts_with(&bytes), "{}", path.display());
    }
    desk.verify(&run_of_session("claude", &homes::session(1)));
}

#[test]
fn a_session_is_always_the_same_run() {
    let (one, other) = (Desk::new(), Desk::new());
    homes::write_home(one.home());
    homes::write_home(other.home());
    one.collect();
    other.collect();
    assert_eq!(runs(&one), runs(&other));
    assert!(runs(&one).contains(&run_of_session("codex", &homes::session(4))));
}

#[test]
fn subagents_are_sources_of_the_run_of_their_session() {
    let desk = Desk::new();
    homes::write_home(desk.home());
    desk.collect();
    // Three of Claude Code, two threads of Codex with one subagent, two chats, one of Copilot.
    assert_eq!(runs(&desk).len(), 8);
    let events = desk.events(&run_of_session("claude", &homes::session(1)));
    let of = |agent: &str| {
        let source = format!("subagent:{agent}");
        let is_its = |event: &&Event| event.source.as_ref().is_some_and(|s| **s == source);
        events.iter().filter(is_its).count()
    };
    assert!(of("a1") > 20, "the new place");
    assert!(of("b2") > 10, "the old place");
    let events = desk.events(&run_of_session("codex", &homes::session(4)));
    let spawned = format!("subagent:{}", homes::session(5));
    assert!(events.iter().any(|e| e.source.as_ref().is_some_and(|s| **s == spawned)));
    assert_eq!(events.iter().filter(|event| event.kind == Kind::RunStarted).count(), 1);
}

#[test]
fn a_session_that_was_forked_names_what_it_goes_on_from_and_does_not_repeat_it() {
    let desk = Desk::new();
    homes::write_home(desk.home());
    desk.collect();
    let (one, fork) = (homes::session(1), homes::session(2));
    let (from, run) = (run_of_session("claude", &one), run_of_session("claude", &fork));
    let events = desk.events(&run);
    let started = started(&events);
    assert_eq!(label(&started, "forked_from").as_deref(), Some(from.as_str()));
    assert_eq!(label(&started, "forked_from_session").as_deref(), Some(&*one));
    assert_eq!(started.session_id.as_deref(), Some(&*fork));
    let own: Vec<_> = claude_talk(&fork, 300, 20).into_iter().map(String::into_bytes).collect();
    assert_eq!(desk.kept(&run), own);
    let inherited = |event: &&Event| event.payload.as_str().contains("\"inherited\"");
    assert_eq!(events.iter().filter(inherited).count(), 1);
}

#[test]
fn a_line_that_arrives_in_pieces_is_recorded_once_when_it_is_whole() {
    let desk = Desk::new();
    let (session, run) = (homes::session(1), run_of_session("claude", &homes::session(1)));
    let talk = claude_talk(&session, 1, 3);
    for line in &talk {
        let line = format!("{line}\n");
        for piece in line.as_bytes().chunks(37) {
            let before = desk.kept(&run).len();
            homes::append(&desk.claude(&session), piece);
            desk.collect();
            let is_whole = piece.ends_with(b"\n") || piece.ends_with(b"Z\"}");
            assert!(is_whole || desk.kept(&run).len() == before);
        }
    }
    let written: Vec<_> = talk.into_iter().map(String::into_bytes).collect();
    assert_eq!(desk.kept(&run), written);
    desk.verify(&run);
}

#[test]
fn a_last_record_without_a_line_end_is_kept_when_it_is_whole() {
    let desk = Desk::new();
    let (session, run) = (homes::session(1), run_of_session("claude", &homes::session(1)));
    let talk = claude_talk(&session, 1, 4);
    homes::append(&desk.claude(&session), talk[..2].join("\n").as_bytes());
    desk.collect();
    assert_eq!(desk.kept(&run).len(), 2);
    homes::append(&desk.claude(&session), format!("\n{}", talk[2]).as_bytes());
    desk.collect();
    desk.forget();
    // Nothing but the end of a line, and then a line that is glued to the last one.
    desk.collect();
    homes::append(&desk.claude(&session), format!("{}\n", talk[3]).as_bytes());
    desk.collect();
    let text = desk.kept(&run).concat();
    for line in &talk {
        let times = text.windows(line.len()).filter(|part| *part == line.as_bytes()).count();
        assert_eq!(times, 1, "{line}\n{}", desk.outline(&run));
    }
    desk.verify(&run);
}

#[test]
fn the_cache_may_be_deleted_at_any_time() {
    let (one, other) = (Desk::new(), Desk::new());
    for desk in [&one, &other] {
        for number in 1..4 {
            let session = homes::session(number);
            for (nth, part) in claude_talk(&session, 100 * number, 9).chunks(2).enumerate() {
                homes::append(&desk.claude(&session), (part.join("\n") + "\n").as_bytes());
                desk.collect();
                if std::ptr::eq(desk, &other) {
                    match nth % 2 {
                        0 => desk.forget(),
                        _ => fs::write(desk.cache(), "{\"version\":1,\"files\":").unwrap(),
                    }
                }
            }
        }
    }
    assert_eq!(runs(&one), runs(&other));
    for run in runs(&one) {
        assert_eq!(essence(&one, &run), essence(&other, &run));
    }
}

#[test]
fn what_an_agent_writes_is_recorded_while_it_runs() {
    let desk = Desk::new();
    homes::write_home(desk.home());
    let (old, new) = (homes::session(1), homes::session(20));
    desk.follow(|| {
        let old_path = desk.home().join(claude_path(1));
        homes::append(&old_path, (claude::prompt(&old, 5000) + "\n").as_bytes());
        homes::write_lines(&desk.claude(&new), &claude_talk(&new, 5001, 1));
        let thread = ".codex/sessions/2026/11/01/rollout-2026-11-01T00-00-00-";
        let thread = format!("{thread}{}.jsonl", homes::session(21));
        let lines =
            [codex::meta(&homes::session(21), 5100), codex::prompt(5101), codex::reply(5102)];
        homes::write_lines(&desk.home().join(thread), &lines);
        for (provider, session, text) in [
            ("claude", &old, "prompt 5000"),
            ("claude", &new, "prompt 5001"),
            ("codex", &homes::session(21), "prompt 5101"),
        ] {
            let run = run_of_session(provider, session);
            wait_until(text, || says(&desk, &run, text));
        }
        for number in 5002..5012 {
            homes::append(&desk.claude(&new), (claude::reply(&new, number) + "\n").as_bytes());
            let text = format!("reply {number}");
            wait_until(&text, || says(&desk, &run_of_session("claude", &new), &text));
        }
    });
    for run in runs(&desk) {
        desk.verify(&run);
    }
}

fn says(desk: &Desk, run: &RunId, text: &str) -> bool {
    desk.events(run).iter().any(|event| event.payload.as_str().contains(text))
}

#[test]
fn at_the_end_everything_complete_is_drained() {
    let desk = Desk::new();
    let count = AtomicUsize::new(0);
    desk.follow(|| {
        for number in 1..6 {
            let session = homes::session(number);
            let talk = claude_talk(&session, 100 * number, 21);
            homes::append(&desk.claude(&session), talk.join("\n").as_bytes());
            count.fetch_add(talk.len(), Ordering::Relaxed);
        }
        let chats = desk.home().join(".gemini/tmp/app/chats");
        let lines = [gemini::header(&homes::session(9), 900), gemini::prompt(901).to_string()];
        homes::write_lines(&chats.join("session-2026-01-02T00-00-9.jsonl"), &lines);
        count.fetch_add(2, Ordering::Relaxed);
    });
    let kept: usize = runs(&desk).iter().map(|run| desk.kept(run).len()).sum();
    assert_eq!(kept, count.into_inner());
    for run in runs(&desk) {
        desk.verify(&run);
        assert_eq!(desk.events(&run).last().unwrap().kind, Kind::RunCompleted);
    }
}

#[test]
fn a_link_to_a_device_or_a_folder_is_not_waited_for() {
    let desk = Desk::new();
    let project = desk.home().join(".claude/projects/p");
    fs::create_dir_all(project.join("folder.jsonl")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", project.join("zero.jsonl")).unwrap();
    std::os::unix::fs::symlink(Path::new("nowhere"), project.join("nowhere.jsonl")).unwrap();
    std::os::unix::fs::symlink(&project, project.join("round")).unwrap();
    let totals = desk.collect();
    assert!(totals.is_empty(), "{totals:?}");
    assert!(desk.transcripts().is_empty());
}

#[test]
fn what_an_agent_says_is_not_taken_for_our_own_word() {
    let desk = Desk::new();
    let (session, run) = (homes::session(1), run_of_session("claude", &homes::session(1)));
    let mut hostile: Value = serde_json::from_str(&claude::call(&session, 1)).unwrap();
    hostile["message"]["content"][0]["input"] = json!({
        "payload": { "subtype": "source_replaced" }, "origin": { "file": "x", "offset": 0, "len": 0 },
    });
    let mut notice: Value = serde_json::from_str(&claude::prompt(&session, 2)).unwrap();
    (notice["type"], notice["subtype"]) = (json!("system"), json!("source_replaced"));
    let (hostile, notice) = (hostile.to_string(), notice.to_string());
    let path = desk.claude(&session);
    homes::write_lines(&path, &[hostile.clone(), notice.clone(), claude::prompt(&session, 3)]);
    for _ in 0..3 {
        desk.collect();
        desk.forget();
        assert_eq!(desk.kept(&run).len(), 3, "{}", desk.outline(&run));
    }
    homes::write_lines(&path, &[claude::prompt(&session, 4), hostile, notice]);
    for _ in 0..3 {
        desk.collect();
        desk.forget();
        assert_eq!(desk.kept(&run).len(), 4, "{}", desk.outline(&run));
    }
}

#[test]
fn two_collectors_at_once_record_everything_once() {
    for _ in 0..4 {
        let desk = Desk::new();
        homes::write_home(desk.home());
        let alone = Desk::over(desk.home());
        alone.collect();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let collector = desk.collector();
                    collector.collect(collector.plan(), &crate::desk::Deaf);
                });
            }
        });
        desk.collect();
        assert_eq!(runs(&desk), runs(&alone));
        for run in runs(&desk) {
            assert_eq!(essence(&desk, &run), essence(&alone, &run), "{}", desk.outline(&run));
            desk.verify(&run);
        }
    }
}
