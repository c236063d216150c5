//! What cannot be read, and what should not be believed.

use quipu_collect::import::{ImportError, System, find, rehearse};
use quipu_event::Kind;

use super::{Desk, files_in, flow_studio, kgent, payloads, rebuilt, wink};

#[test]
fn what_cannot_be_read_is_kept_and_told_with_its_place() {
    let desk = Desk::new();
    let path = kgent::put_run(&desk);
    let mut log = std::fs::read(path.join("events.jsonl")).unwrap();
    log.extend(b"{ torn\n[1]\n\xff\xfe\n");
    desk.put("runs/run_1/events.jsonl", log);
    desk.put("runs/run_1/config.json", "{ torn too");
    let outcome = desk.import_one(&path);
    let places: Vec<_> =
        outcome.problems.iter().map(|problem| (problem.file.as_str(), problem.line)).collect();
    let expected = [
        ("events.jsonl", Some(21)),
        ("events.jsonl", Some(22)),
        ("events.jsonl", Some(23)),
        ("config.json", None),
    ];
    assert_eq!(places, expected);
    let events = desk.events(&outcome.run_id);
    assert_eq!(payloads(&events, Kind::Unknown).len(), 4);
    assert_eq!(rebuilt(&events), files_in(&path));
}

#[test]
fn an_imported_run_is_sound() {
    // Calls with the same id, ends without starts, starts without ends, ends that come early.
    let lines = [
        r#""type":"run.completed","path":"","payload":null"#,
        r#""type":"tool.result","path":"","payload":{"call_id":"x","name":"a"}"#,
        r#""type":"tool.call","path":"","payload":{"call_id":"x","name":"a"}"#,
        r#""type":"tool.call","path":"","payload":{"call_id":"x","name":"a"}"#,
        r#""type":"tool.result","path":"","payload":{"call_id":"x","name":"a"}"#,
        r#""type":"step.completed","path":"b","payload":{"name":"b","kind":"k"}"#,
        r#""type":"step.started","path":"b","payload":{"name":"b","kind":"k"}"#,
        r#""type":"step.started","path":"b","payload":5"#,
        r#""type":"memory.recall.completed","path":"","payload":null"#,
        r#""type":"deliverable.check.started","path":"","payload":{"required":7}"#,
        r#""type":"run.started","path":"","payload":null"#,
        r#""type":"run.started","path":"","payload":null"#,
        r#""type":"run.completed","path":"","payload":{"error":"late"}"#,
    ];
    let line = |(at, rest): (usize, &&str)| {
        format!(
            r#"{{"seq":{at},"run_id":"r","iteration":0,"timestamp":"2026-01-01T00:00:00Z",{rest}}}"#
        ) + "\n"
    };
    let desk = Desk::new();
    let text: String = lines.iter().enumerate().map(line).collect();
    let outcome = desk.import_one(&desk.put("r.jsonl", &text));
    let events = desk.events(&outcome.run_id);
    assert_eq!(rebuilt(&events), files_in(&desk.path("")));
    assert_eq!(payloads(&events, Kind::RunCompleted).last().unwrap()["error"], "late");
    let mut reversed: Vec<_> = lines.iter().rev().collect();
    reversed.dedup();
    let text: String = reversed.into_iter().enumerate().map(line).collect();
    let desk = Desk::new();
    desk.import_one(&desk.put("r.jsonl", text));
}

#[test]
fn names_in_an_archive_lead_nowhere() {
    let desk = Desk::new();
    let evil: [(&str, &[u8]); 3] =
        [("../evil", b"x"), ("/tmp/evil", b"x"), ("debug_bundle/../../evil", b"x")];
    let path = wink::put_archive(&desk, &evil);
    let before = files_in(desk.storage.dir());
    let outcome = desk.import_one(&path);
    assert_eq!(outcome.problems.len(), 3, "{:?}", outcome.problems);
    let mut after = files_in(desk.storage.dir());
    after.retain(|name, _| !name.starts_with("storage/"));
    assert_eq!(after, before);
}

#[test]
fn nobodys_files_and_our_own_are_told_apart() {
    let desk = Desk::new();
    let diary = desk.put("diary/today.md", "dear diary");
    assert!(matches!(find(&diary), Err(ImportError::Unknown { .. })));
    assert!(matches!(find(&desk.path("diary")), Err(ImportError::Unknown { .. })));
    let bad = desk.put("bad.zip", b"PK\x03\x04 nothing else");
    assert!(matches!(find(&bad), Err(ImportError::Archive { .. })));
    desk.storage.record("ours", [quipu_testkit::run_started("ours")]);
    let ours = desk.storage.layout.transcript(&quipu_testkit::run_id("ours"));
    assert!(matches!(find(&ours), Err(ImportError::OwnTranscript { .. })));
    assert!(matches!(find(desk.storage.layout.storage()), Err(ImportError::Unknown { .. })));
}

#[test]
fn a_folder_that_holds_many_gives_each_of_them() {
    let desk = Desk::new();
    flow_studio::put_run(&desk);
    kgent::put_run(&desk);
    wink::put_folder(&desk, false);
    desk.put("storage/transcripts/x.jsonl", super::awf::PARENT);
    let found = find(&desk.path("")).unwrap();
    let mut systems: Vec<_> = found.iter().map(|found| found.system()).collect();
    systems.sort();
    let expected = [System::Awf, System::Awf, System::FlowStudio, System::Kgent, System::Wink];
    assert_eq!(systems, expected);
    // One file of a run stands for the run.
    assert_eq!(find(&desk.path("run/meta.json")).unwrap()[0].system(), System::FlowStudio);
}

#[test]
fn values_that_nest_too_deep_are_kept_as_text() {
    let deep = "[".repeat(125) + &"]".repeat(125);
    let files = [
        (
            System::Kgent,
            "events.jsonl",
            format!(r#"{{"type":"skill.loaded","sequence":1,"data":{{"a":{deep}}}}}"#),
        ),
        (
            System::FlowStudio,
            "events.jsonl",
            format!(r#"{{"kind":"log","payload":{{"a":{deep}}}}}"#),
        ),
        (System::Wink, "transcript.jsonl", format!(r#"{{"event":"x","context":{{"a":{deep}}}}}"#)),
    ];
    for (system, name, text) in files {
        let (drafts, _) =
            rehearse(system, vec![(name.to_owned(), text.clone().into_bytes())]).unwrap();
        let kept = drafts.iter().filter_map(|draft| draft.raw.as_ref()?.bytes());
        assert!(kept.into_iter().any(|bytes| bytes == text.as_bytes()), "{system:?}");
        assert!(drafts.iter().all(|draft| !draft.payload.nests_too_deep()));
    }
}
