//! What recorders and other writers of runs write.

use std::sync::Arc;

use quipu_emit::{Emitter, EmitterOptions};
use quipu_event::payload::Status;
use quipu_event::{Draft, Kind};
use quipu_journal::Options;
use quipu_testkit::{TestStorage, assistant_text, run_completed, run_id, run_started};
use serde_json::{Value, json};

use crate::listening::{called, heard, numbers};

fn of_run<'a>(run: &str, records: &'a [Value]) -> Vec<&'a Value> {
    let entries = called("transcript.entry", records).into_iter();
    entries.filter(|record| record["context"]["detail"]["event"]["run_id"] == run).collect()
}

#[test]
fn everything_a_recorder_writes_is_emitted() {
    let storage = TestStorage::new();
    // So little room that most events pass the live buffer by.
    let recorder = storage.create_with("r", Options { buffer: 1, ..Options::default() });
    recorder.record(run_started("nightly")).unwrap();
    let records = heard(|| {
        let emitter = Arc::new(Emitter::new(EmitterOptions::default()));
        let following = emitter.follow(recorder.subscribe_from(1));
        for n in 0..500 {
            recorder.record(assistant_text(&n.to_string())).unwrap();
        }
        recorder.record(run_completed("r", Status::Succeeded)).unwrap();
        recorder.close().unwrap();
        following.wait();
    });
    assert!(numbers(&records, "main").into_iter().eq(1..=502));
    let stop = called("transcript.stop", &records)[0];
    assert_eq!(
        stop["context"]["entries_by_type"],
        json!({"assistant_message": 500, "system_event": 2})
    );
    assert!(called("transcript.error", &records).is_empty());
}

#[test]
fn a_run_that_does_not_exist_yet_can_be_followed() {
    let storage = TestStorage::new();
    let records = heard(|| {
        let emitter = Arc::new(Emitter::new(EmitterOptions::default()));
        let following = emitter.follow_run(&storage.layout, &run_id("r"));
        storage.record("r", [run_started("r"), run_completed("r", Status::Succeeded)]);
        following.finish();
    });
    let events: Vec<&Value> = records.iter().map(|record| &record["event"]).collect();
    let entry = "transcript.entry";
    assert_eq!(events, ["transcript.start", entry, entry, "transcript.stop"]);
}

#[test]
fn what_a_run_wrote_before_is_counted_and_not_repeated() {
    let storage = TestStorage::new();
    storage.record("r", [run_started("first"), assistant_text("a")]);
    let records = heard(|| {
        let emitter = Arc::new(Emitter::new(EmitterOptions::default()));
        let following = emitter.follow_run(&storage.layout, &run_id("r"));
        let (recorder, _) = storage.reopen("r").unwrap();
        recorder.record(assistant_text("b")).unwrap();
        recorder.close().unwrap();
        following.finish();
    });
    // What reopening recorded comes first: that the run was left open, and its end.
    assert_eq!(numbers(&records, "main"), [3, 4, 5]);
    assert!(records.iter().all(|record| record["context"]["prompt_name"] == "first"));
}

#[test]
fn called_runs_are_followed_too() {
    let storage = TestStorage::new();
    let call = |kind| {
        let payload = json!({"name": "c", "kind": "call_workflow"});
        Draft::new(kind, &payload).unwrap().calling(run_id("child")).at("c".into(), 0)
    };
    let records = heard(|| {
        let emitter = Arc::new(Emitter::new(EmitterOptions::default()));
        let following = emitter.follow_run(&storage.layout, &run_id("r"));
        let recorder = storage.create("r");
        recorder.record(run_started("caller")).unwrap();
        recorder.record(call(Kind::CallWorkflowStarted)).unwrap();
        let child = storage.create_child("child", "r");
        child.record(run_started("called")).unwrap();
        child.record(run_completed("r", Status::Succeeded)).unwrap();
        child.close().unwrap();
        recorder.record(call(Kind::CallWorkflowCompleted)).unwrap();
        recorder.close().unwrap();
        following.finish();
    });
    assert_eq!(of_run("r", &records).len(), 3);
    assert_eq!(of_run("child", &records).len(), 2);
    assert_eq!(called("transcript.stop", &records).len(), 2);
}

#[test]
fn a_damaged_line_is_told_and_passed_over() {
    let storage = TestStorage::new();
    storage.record("r", [run_started("r")]);
    let records = heard(|| {
        let emitter = Arc::new(Emitter::new(EmitterOptions::default()));
        let following = emitter.follow_run(&storage.layout, &run_id("r"));
        let first = String::from_utf8(storage.bytes("r")).unwrap();
        let line = |seq: &str| first.replace("\"seq\":1", &format!("\"seq\":{seq}"));
        let text = [&first, &line("2"), "no event\n", &line("3"), "{\"torn"].concat();
        std::fs::write(storage.path("r"), text).unwrap();
        following.finish();
    });
    assert_eq!(numbers(&records, "main"), [2, 3]);
    assert_eq!(called("transcript.error", &records).len(), 1);
}
