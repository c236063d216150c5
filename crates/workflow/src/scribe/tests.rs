//! What is written and what is seen.

use quipu_event::payload::{Status, Usage, UsageScope};
use quipu_event::{Kind, StepPath};
use quipu_testkit::{TestStorage, run_id, run_started, step_completed, step_started};
use serde_json::json;

use super::*;

#[derive(Default)]
struct Seen(Mutex<Vec<DisplayEvent>>);

impl Display for Seen {
    fn show(&self, event: &DisplayEvent) {
        self.0.lock().unwrap().push(event.clone());
    }
}

fn scribe(recorder: Option<Recorder>, inputs: serde_json::Value) -> (RunScribe, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let secrets = Arc::new(Secrets::default());
    secrets.learn(inputs.as_object().unwrap(), []);
    let display = Arc::clone(&seen) as Arc<dyn Display>;
    (RunScribe::new(run_id("r"), recorder, display, secrets, Tally::default()), seen)
}

#[test]
fn a_transcript_that_cannot_be_written_is_told_once_and_the_work_goes_on() {
    let storage = TestStorage::new();
    let recorder = storage.create("r");
    recorder.close().unwrap();
    let (scribe, seen) = scribe(Some(recorder), json!({}));
    for _ in 0..3 {
        scribe.record(run_started("x"));
    }
    let seen = seen.0.lock().unwrap();
    let told = seen.iter().filter(|event| matches!(event, DisplayEvent::Log { .. })).count();
    let shown =
        seen.iter().filter(|event| matches!(event, DisplayEvent::RunStarted { .. })).count();
    assert_eq!((told, shown), (1, 3));
}

#[test]
fn secrets_reach_neither_the_file_nor_the_screen() {
    let storage = TestStorage::new();
    let (scribe, seen) = scribe(Some(storage.create("r")), json!({"token": "hunter22"}));
    let at = crate::engine::Occurrence { path: StepPath::from("s"), iteration: 0, attempt: 1 };
    scribe.record(Draft::system("log", json!({"message": "it is hunter22"})).unwrap());
    scribe.show(DisplayEvent::Output { at, stream: "stdout", text: "hunter22\n".into() });
    assert!(!String::from_utf8(storage.bytes("r")).unwrap().contains("hunter22"));
    assert!(!format!("{:?}", seen.0.lock().unwrap()).contains("hunter22"));
    assert_eq!(scribe.so_far().0.masked, 1);
}

#[test]
fn counts_and_usage_are_the_same_with_recording_on_or_off() {
    let storage = TestStorage::new();
    let usage = Usage {
        input_tokens: Some(3),
        output_tokens: Some(4),
        scope: Some(UsageScope::Turn),
        ..Usage::default()
    };
    let told = [Some(storage.create("r")), None].map(|recorder| {
        let (scribe, seen) = scribe(recorder, json!({}));
        scribe.record(run_started("x"));
        scribe.record(step_started("a"));
        scribe.record(Draft::new(Kind::Usage, &usage).unwrap());
        scribe.record(Draft::new(Kind::Usage, &usage).unwrap());
        scribe.record(step_completed("a", Status::Succeeded));
        let seen = seen.0.lock().unwrap().clone();
        (scribe.so_far(), seen)
    });
    assert_eq!(told[0], told[1]);
    let (counts, usage) = &told[0].0;
    assert_eq!((counts.events, counts.steps, usage.output_tokens), (6, 1, Some(8)));
}
