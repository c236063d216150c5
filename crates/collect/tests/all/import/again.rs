//! Importing the same, the grown and the interrupted.

use std::fs;
use std::path::{Path, PathBuf};

use quipu_collect::import::{Done, Request, find, import};
use quipu_event::{Event, Kind};
use quipu_journal::{Options, SecretMask};

use super::{Desk, files_in, flow_studio, kgent, payloads, rebuilt, wink};

/// One run of each system.
fn runs(desk: &Desk) -> Vec<PathBuf> {
    let awf = super::awf::PARENT.lines().filter(|line| !line.contains("c-1"));
    let awf: String = awf.map(|line| format!("{line}\n")).collect();
    vec![
        desk.put("awf/p-1.jsonl", awf),
        flow_studio::put_run(desk),
        kgent::put_run(desk),
        wink::put_folder(desk, true),
    ]
}

/// What an event says, whatever its number and time of recording.
fn told(events: &[Event]) -> Vec<String> {
    let mut told: Vec<_> = events
        .iter()
        .filter_map(|event| {
            let origin = event.origin.as_ref()?;
            let kept = event.raw.is_some();
            let (file, offset) = (&origin.file, origin.offset);
            Some(format!("{file} {offset} {} {} {kept}", event.kind, event.path))
        })
        .collect();
    told.sort();
    told
}

#[test]
fn importing_the_same_thing_again_does_nothing() {
    let desk = Desk::new();
    for path in runs(&desk) {
        let first = desk.import_one(&path);
        assert_eq!(first.done, Done::Imported);
        let transcript = desk.storage.layout.transcript(&first.run_id);
        let before = fs::read(&transcript).unwrap();
        let again = desk.import_one(&path);
        assert_eq!((again.done, again.added), (Done::AlreadyThere, 0), "{}", path.display());
        assert_eq!(again.run_id, first.run_id);
        assert_eq!(fs::read(&transcript).unwrap(), before);
    }
}

#[test]
fn an_import_that_was_killed_is_gone_on_with_without_a_double_or_a_hole() {
    let desk = Desk::new();
    for path in runs(&desk) {
        let whole = desk.import_one(&path);
        let transcript = desk.storage.layout.transcript(&whole.run_id);
        let bytes = fs::read(&transcript).unwrap();
        let expected = told(&desk.events(&whole.run_id));
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        // A crash leaves whole lines, and perhaps a piece of the next one.
        let cuts: Vec<usize> = ends.flat_map(|(at, _)| [at + 1, at + 40]).collect();
        for cut in [0, 1].into_iter().chain(cuts).filter(|cut| *cut < bytes.len()) {
            fs::write(&transcript, &bytes[..cut]).unwrap();
            let again = desk.import_one(&path);
            assert_eq!(again.run_id, whole.run_id, "cut at {cut}");
            let events = desk.events(&whole.run_id);
            assert_eq!(told(&events), expected, "{} cut at {cut}", path.display());
            assert_eq!(desk.import_one(&path).done, Done::AlreadyThere, "cut at {cut}");
        }
    }
}

#[test]
fn what_has_grown_since_gets_the_rest() {
    let desk = Desk::new();
    let path = flow_studio::put_run(&desk);
    let whole = files_in(&path);
    let log = &whole["events.jsonl"];
    for lines in 1..log.iter().filter(|byte| **byte == b'\n').count() {
        let desk = Desk::new();
        let path = flow_studio::put_run(&desk);
        let cut: Vec<u8> =
            log.split_inclusive(|byte| *byte == b'\n').take(lines).flatten().copied().collect();
        desk.put("run/events.jsonl", cut);
        desk.put("run/meta.json", r#"{"id":"run-7","spec":{},"status":"running"}"#);
        let first = desk.import_one(&path);
        let ended = payloads(&desk.events(&first.run_id), Kind::RunCompleted);
        assert_eq!(ended.last().unwrap()["status"], "aborted");

        desk.put("run/events.jsonl", log);
        desk.put("run/meta.json", &whole["meta.json"]);
        let grown = desk.import_one(&path);
        assert_eq!((grown.done, &grown.run_id), (Done::Extended, &first.run_id));
        let events = desk.events(&first.run_id);
        assert_eq!(payloads(&events, Kind::RunCompleted).last().unwrap()["status"], "succeeded");
        let mut kept = events.clone();
        kept.retain(|event| event.origin.as_ref().is_none_or(|origin| origin.file != "meta.json"));
        let mut theirs = whole.clone();
        theirs.remove("meta.json");
        assert_eq!(rebuilt(&kept), theirs, "after {lines} lines");
        assert_eq!(payloads(&events, Kind::Usage).len(), 2);
        assert_eq!(desk.import_one(&path).done, Done::AlreadyThere);
    }
}

#[test]
fn two_runs_of_one_name_stay_two_and_a_moved_one_stays_one() {
    let desk = Desk::new();
    let files = files_in(&flow_studio::put_run(&desk));
    let copy = |to: &str, change: &dyn Fn(&str, &[u8]) -> Vec<u8>| {
        for (name, bytes) in &files {
            desk.put(&format!("{to}/{name}"), change(name, bytes));
        }
        desk.path(to)
    };
    let first = desk.import_one(&desk.path("run"));
    let other = copy("other", &|name, bytes| {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        match name {
            "meta.json" => text.replace("succeeded", "failed").into_bytes(),
            "build/llm/code-a-coder-claude.jsonl" => text.replace("Done.", "Not yet.").into_bytes(),
            _ => bytes.to_vec(),
        }
    });
    let second = desk.import_one(&other);
    assert_eq!(second.done, Done::Imported);
    assert_ne!(second.run_id, first.run_id);
    for (run, status) in [(&first, "succeeded"), (&second, "failed")] {
        let ends = payloads(&desk.events(&run.run_id), Kind::RunCompleted);
        assert_eq!(ends.last().unwrap()["status"], status);
    }
    let copied = copy("copied", &|_, bytes| bytes.to_vec());
    for (path, run) in [(&other, &second), (&desk.path("run"), &first), (&copied, &first)] {
        let again = desk.import_one(path);
        assert_eq!((again.done, &again.run_id), (Done::AlreadyThere, &run.run_id));
    }
    // Where the first one was, nothing is; that gives its name to nobody else.
    fs::remove_dir_all(desk.path("run")).unwrap();
    assert_eq!(desk.import_one(&other).run_id, second.run_id);
    let third = copy("third", &|name, bytes| match name {
        "events.jsonl" => {
            bytes.iter().map(|byte| if *byte == b'8' { b'9' } else { *byte }).collect()
        }
        _ => bytes.to_vec(),
    });
    let third = desk.import_one(&third);
    assert_eq!(third.done, Done::Imported);
    assert!(![&first.run_id, &second.run_id].contains(&&third.run_id));
}

#[test]
fn a_dry_run_says_what_will_be_done_and_writes_nothing() {
    let desk = Desk::new();
    for path in runs(&desk) {
        let request = Request { dry_run: true, ..Request::default() };
        let found = find(&path).unwrap();
        let plan = import(&desk.storage.layout, &found[0], &request).unwrap();
        assert!(!desk.storage.layout.transcript(&plan.run_id).exists());
        let done = desk.import_one(&path);
        assert_eq!((plan.done, plan.events, plan.added), (done.done, done.events, done.added));
    }
}

#[test]
fn what_is_hidden_stays_hidden_and_is_known_again() {
    let desk = Desk::new();
    let secret = format!("sk-ant-{}", "a1B2".repeat(20));
    let line = r#"{"seq":1,"run_id":"r","type":"message.user","path":"w","iteration":0,"timestamp":"2026-06-08T10:14:42Z","payload":{"role":"user","blocks":[{"type":"text","fidelity":"router","text":"SECRET"}]}}"#;
    let path = desk.put("r.jsonl", line.replace("SECRET", &secret) + "\n");
    let options =
        Options { mask: Some(std::sync::Arc::new(SecretMask::new())), ..Options::default() };
    let request = Request { options, dry_run: false };
    let run =
        |path: &Path| import(&desk.storage.layout, &find(path).unwrap()[0], &request).unwrap();
    let outcome = run(&path);
    let text = fs::read_to_string(desk.storage.layout.transcript(&outcome.run_id)).unwrap();
    assert!(!text.contains(&secret), "{text}");
    assert_eq!(run(&path).done, Done::AlreadyThere);
}
