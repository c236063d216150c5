//! What reopening finds, closes and leaves alone.

use std::io::Write;

use quipu_event::payload::{RunCompleted, Status, StepCompleted, StepStarted, System, Usage};
use quipu_event::{Draft, Event, Kind, Timestamp};
use quipu_journal::{OpenError, RunState, look_at, verify_run};
use quipu_testkit::{
    TestStorage, assistant_text, complete_run, run_completed, run_id, run_started, step_completed,
    step_started,
};
use serde_json::json;

fn append(storage: &TestStorage, id: &str, bytes: &[u8]) {
    let mut file = std::fs::OpenOptions::new().append(true).open(storage.path(id)).unwrap();
    file.write_all(bytes).unwrap();
}

fn usage(tokens: u64) -> Draft {
    Draft::new(Kind::Usage, &Usage { output_tokens: Some(tokens), ..Usage::default() }).unwrap()
}

fn second_try(path: &str) -> Draft {
    let step = StepStarted {
        name: path.into(),
        kind: "agent".into(),
        attempt: Some(2),
        ..Default::default()
    };
    Draft::new(Kind::StepStarted, &step).unwrap().at(path.into(), 4)
}

#[test]
fn a_run_that_is_taken_up_goes_on_as_if_nothing_had_happened() {
    let storage = TestStorage::new();
    storage.record("r", [run_started("session"), step_started("turn")]);
    let (recorder, found) = storage.take_up("r").unwrap();
    assert!(found.is_clean(), "{found:?}");
    assert_eq!(recorder.record(step_completed("turn", Status::Succeeded)).unwrap(), 3);
    drop(recorder);

    // A torn line is set aside all the same, and that is told.
    append(&storage, "r", b"{\"seq\":4,");
    let (recorder, found) = storage.take_up("r").unwrap();
    assert_eq!(found.torn.map(|torn| torn.bytes), Some(9));
    recorder.record(run_completed("session", Status::Succeeded)).unwrap();
    drop(recorder);
    let kinds: Vec<_> = storage.events("r").iter().map(|event| event.kind.clone()).collect();
    let expected = [
        Kind::RunStarted,
        Kind::StepStarted,
        Kind::StepCompleted,
        Kind::System,
        Kind::RunCompleted,
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn what_had_started_is_closed_as_aborted_on_reopen() {
    let storage = TestStorage::new();
    storage.create_child("child", "r").record(run_started("child")).unwrap();
    let call =
        Draft::new(Kind::CallWorkflowStarted, &json!({ "name": "c", "kind": "call_workflow" }));
    storage.record(
        "r",
        [
            run_started("work"),
            step_started("done"),
            usage(3),
            step_completed("done", Status::Succeeded),
            step_started("outer"),
            second_try("outer.inner"),
            usage(4),
            call.unwrap().at("outer.inner.c".into(), 4).calling(run_id("child")),
            Draft::new(Kind::MemoryRecallStarted, &json!({})).unwrap(),
        ],
    );
    let (recorder, found) = storage.reopen("r").unwrap();
    let aborted: Vec<_> = found.aborted.iter().map(|span| span.seq).collect();
    assert_eq!((found.last_seq, found.torn, aborted), (9, None, vec![9, 8, 6, 5, 1]));
    drop(recorder);

    let told = storage.events("r").split_off(9);
    let shape: Vec<_> =
        told.iter().map(|e| (e.kind.as_str(), e.path.as_str(), e.iteration)).collect();
    assert_eq!(
        shape,
        [
            ("system", "", 0),
            ("memory.recall.completed", "", 0),
            ("step.call_workflow.completed", "outer.inner.c", 4),
            ("step.completed", "outer.inner", 4),
            ("step.completed", "outer", 0),
            ("run.completed", "", 0),
        ]
    );
    assert_eq!(told[2].child_run_id, Some(run_id("child")));
    let step: StepCompleted = told[3].payload.decode().unwrap();
    assert_eq!(
        (step.status, step.attempt, step.kind.as_str()),
        (Some(Status::Aborted), Some(2), "agent")
    );
    let run: RunCompleted = told[5].payload.decode().unwrap();
    assert_eq!((run.status, run.name.as_str()), (Some(Status::Aborted), "work"));
    assert_eq!(run.usage.and_then(|usage| usage.total()), Some(7));
    check_recovered(&told[0]);
    assert!(verify_run(&storage.layout, &run_id("r")).unwrap().is_sound());
    assert_eq!(look_at(&storage.layout, &run_id("r")).unwrap().state, RunState::Ended);
}

#[test]
fn what_is_closed_says_who_began_it_and_what_for() {
    let storage = TestStorage::new();
    let check = json!({ "required": ["report.md"], "missing": [] });
    let check = Draft::new(Kind::DeliverableCheckStarted, &check).unwrap();
    storage.record("r", [run_started("x"), step_started("a").by("subagent:7"), check]);
    drop(storage.reopen("r").unwrap());
    let told = storage.events("r");
    let closed = |kind: Kind| told.iter().find(|event| event.kind == kind).unwrap();
    assert_eq!(closed(Kind::StepCompleted).source.as_deref(), Some("subagent:7"));
    let check = &closed(Kind::DeliverableCheckCompleted).payload;
    let check: serde_json::Value = check.decode().unwrap();
    assert_eq!((&check["required"], &check["missing"]), (&json!(["report.md"]), &json!([])));
    assert_eq!(check["status"], "aborted");
}

fn check_recovered(event: &Event) {
    let system: System = event.payload.decode().unwrap();
    assert_eq!((system.subtype.as_str(), &system.facts["last_seq"]), ("recovered", &json!(9)));
    let innermost = json!({ "type": "memory.recall.started", "path": "", "seq": 9 });
    assert_eq!(system.facts["aborted"][0], innermost);
    assert!(!system.facts.contains_key("torn"));
}

#[test]
fn reopening_a_run_that_ended_in_order_changes_nothing() {
    let storage = TestStorage::new();
    storage.create_child("child", "r").record(run_started("child")).unwrap();
    storage.record("r", complete_run(&run_id("child")));
    let before = storage.bytes("r");
    let (recorder, found) = storage.reopen("r").unwrap();
    assert!(found.is_clean());
    assert_eq!(recorder.last_seq(), storage.events("r").len() as u64);
    recorder.close().unwrap();
    assert_eq!(storage.bytes("r"), before);
    assert!(!storage.layout.torn(&run_id("r")).exists());
}

#[test]
fn a_run_that_ended_stays_ended_when_torn_bytes_are_taken_from_it() {
    let storage = TestStorage::new();
    storage.record("r", [run_started("work"), run_completed("work", Status::Succeeded)]);
    append(&storage, "r", b"{\"seq\":3,\"run");
    let (recorder, found) = storage.reopen("r").unwrap();
    assert!(found.torn.is_some() && found.aborted.is_empty());
    recorder.close().unwrap();
    let told = look_at(&storage.layout, &run_id("r")).unwrap();
    assert_eq!((told.state, told.last.unwrap().kind), (RunState::Ended, Kind::RunCompleted));
}

#[test]
fn what_is_closed_lasted_as_long_as_it_was_heard_of() {
    let storage = TestStorage::new();
    let at = |second: &str| Timestamp::parse(&format!("2026-01-01T10:00:{second}Z")).unwrap();
    storage.record(
        "r",
        [
            run_started("work").dated(at("00")),
            step_started("step").dated(at("02")),
            assistant_text("on it").dated(at("05")),
        ],
    );
    drop(storage.reopen("r").unwrap());
    let told = storage.events("r").split_off(4);
    let step: StepCompleted = told[0].payload.decode().unwrap();
    let run: RunCompleted = told[1].payload.decode().unwrap();
    assert_eq!((step.duration_ms, run.duration_ms), (Some(3000), Some(5000)));
}

#[test]
fn a_resumed_run_that_is_closed_lasted_from_its_first_line_on() {
    let storage = TestStorage::new();
    let at = |second: &str| Timestamp::parse(&format!("2026-01-01T10:00:{second}Z")).unwrap();
    storage.record(
        "r",
        [
            run_started("work").dated(at("00")),
            run_completed("work", Status::Failed).dated(at("02")),
            run_started("work").dated(at("07")),
            assistant_text("on it").dated(at("09")),
        ],
    );
    drop(storage.reopen("r").unwrap());
    let last = storage.events("r").pop().unwrap();
    let run: RunCompleted = last.payload.decode().unwrap();
    assert_eq!((run.status, run.duration_ms), (Some(Status::Aborted), Some(9000)));
}

#[test]
fn what_was_torn_is_told_and_kept_behind_what_was_torn_before() {
    let storage = TestStorage::new();
    storage.record("r", [run_started("x"), run_completed("x", Status::Succeeded)]);
    let mut kept = Vec::new();
    // Half a line; whole lines that are no events; zeros, as a power failure may leave them.
    for torn in [&b"{\"seq\":3,\"ru"[..], b"garbage\n\n{}\n", &[0; 4096]] {
        let offset = storage.bytes("r").len() as u64;
        append(&storage, "r", torn);
        let (recorder, found) = storage.reopen("r").unwrap();
        let found = found.torn.unwrap();
        assert_eq!(
            (found.offset, found.bytes, found.kept_at),
            (offset, torn.len() as u64, kept.len() as u64)
        );
        kept.extend_from_slice(torn);
        assert_eq!(std::fs::read(storage.layout.torn(&run_id("r"))).unwrap(), kept);
        drop(recorder);
        let last = storage.events("r").pop().unwrap();
        let system: System = last.payload.decode().unwrap();
        let told = json!({ "offset": found.offset, "bytes": found.bytes, "file": "r.torn", "kept_at": found.kept_at });
        assert_eq!(system.facts["torn"], told);
    }
    assert!(verify_run(&storage.layout, &run_id("r")).unwrap().is_sound());
}

#[test]
fn a_child_run_keeps_naming_its_parent() {
    let storage = TestStorage::new();
    storage.create_child("child", "p").record(run_started("child")).unwrap();
    let (recorder, _) = storage.reopen("child").unwrap();
    recorder.record(assistant_text("x")).unwrap();
    assert!(storage.events("child").iter().all(|event| event.parent_run_id == Some(run_id("p"))));
}

#[test]
fn a_file_without_any_event_is_not_taken_for_a_transcript() {
    let storage = TestStorage::new();
    drop(storage.create("r"));
    append(&storage, "r", b"# Dear diary\nToday\n");
    let refused = storage.reopen("r").map(|_| ());
    assert!(
        matches!(refused, Err(OpenError::NotATranscript { path }) if path == storage.path("r"))
    );
    assert_eq!(storage.bytes("r"), b"# Dear diary\nToday\n");
}

#[test]
fn a_run_that_never_wrote_a_line_begins_at_one() {
    let storage = TestStorage::new();
    drop(storage.create("r"));
    let (recorder, found) = storage.reopen("r").unwrap();
    assert!(found.is_clean());
    assert_eq!(recorder.record(run_started("x")).unwrap(), 1);
}
