//! Which records there are, whoever listens, panics or does not.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use quipu_emit::{Emitter, EmitterOptions, TARGET};
use quipu_event::RunId;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};

use crate::listening::{Log, called, event, event_of, heard, numbers, session};

/// A listener that knows nothing of our records: level, target and fields as they come.
#[derive(Clone, Default)]
struct Plain(Arc<Mutex<Vec<Told>>>);

/// The level, the target and the fields of one record.
type Told = Vec<(String, String)>;

impl<S: tracing::Subscriber> Layer<S> for Plain {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        struct All(Told);
        impl Visit for All {
            fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
                self.0.push((field.name().to_owned(), format!("{value:?}")));
            }
        }
        let metadata = event.metadata();
        let mut fields = All(vec![
            ("level".to_owned(), metadata.level().to_string()),
            ("target".to_owned(), metadata.target().to_owned()),
        ]);
        event.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }
}

#[test]
fn an_event_becomes_debug_records_with_the_common_envelope() {
    let plain = Plain::default();
    let listeners = tracing_subscriber::registry().with(plain.clone());
    tracing::subscriber::with_default(listeners, || {
        let emitter = Emitter::new(EmitterOptions::default());
        session().iter().for_each(|event| emitter.emit(event));
    });
    let records = plain.0.lock().unwrap();
    let record = records[2].clone();
    let names: Vec<&str> = record.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "level",
        "target",
        "message",
        "event",
        "prompt_name",
        "adapter",
        "entry_type",
        "sequence_number",
        "source",
        "transcript_timestamp",
        "session_id",
        "detail",
    ];
    assert_eq!(names, expected);
    let value = |name: &str| &record.iter().find(|(key, _)| key == name).unwrap().1;
    assert_eq!((value("level").as_str(), value("target").as_str()), ("DEBUG", TARGET));
    assert_eq!(value("message"), "transcript entry: user_message");
    assert_eq!(value("event"), "\"transcript.entry\"");
    assert_eq!((value("sequence_number").as_str(), value("source").as_str()), ("2", "\"main\""));
    assert_eq!(value("adapter"), "\"codex_app_server\"");
    assert_eq!(value("session_id"), "\"s-1\"");
}

#[test]
fn the_first_event_starts_a_transcript_and_its_end_stops_it() {
    let emitter = Emitter::new(EmitterOptions::default());
    let records = heard(|| session().iter().for_each(|event| emitter.emit(event)));
    let events: Vec<&str> =
        records.iter().map(|record| record["event"].as_str().unwrap()).collect();
    let entry = "transcript.entry";
    assert_eq!(events, ["transcript.start", entry, entry, entry, "transcript.stop"]);
    let start = &records[0]["context"];
    assert_eq!(*start, json!({"prompt_name": "review", "adapter": "codex_app_server"}));
    let stop = &records[4]["context"];
    let expected = json!({
        "prompt_name": "review", "adapter": "codex_app_server", "total_entries": 3,
        "entries_by_source": {"main": 3}, "entries_by_type": {"system_event": 2, "user_message": 1},
    });
    assert_eq!(*stop, expected);
    // Nothing is open any more.
    assert!(heard(|| drop(emitter)).is_empty());
}

#[test]
fn a_run_that_goes_on_is_numbered_on() {
    let emitter = Emitter::new(EmitterOptions::default());
    let records = heard(|| {
        session().iter().for_each(|event| emitter.emit(event));
        emitter.emit(&event(4, "run.started", json!({"name": "review"})));
    });
    assert_eq!(numbers(&records, "main"), [1, 2, 3, 4]);
    assert_eq!(called("transcript.start", &records).len(), 2);
}

#[test]
fn a_dropped_emitter_stops_what_is_still_open() {
    let records = heard(|| {
        let emitter = Emitter::new(EmitterOptions::default());
        emitter.emit(&event_of("a", 1, "run.started", json!({"name": "a"})));
        emitter.emit(&event_of("b", 1, "run.created", json!({"name": "b"})));
    });
    let stops = called("transcript.stop", &records);
    let names: Vec<&str> =
        stops.iter().map(|stop| stop["context"]["prompt_name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(called("transcript.entry", &records).len(), 2);
}

#[test]
fn nobody_listening_means_no_work() {
    let run = RunId::parse("r").unwrap();
    let emitter = Emitter::new(EmitterOptions::default());
    session().iter().for_each(|event| emitter.emit(event));
    assert_eq!(emitter.summary(&run), None);
    // Whoever wants only warnings wants no entries either.
    let warnings = tracing_subscriber::filter::LevelFilter::WARN;
    let listener = tracing_subscriber::registry().with(Plain::default().with_filter(warnings));
    tracing::subscriber::with_default(listener, || {
        session().iter().for_each(|event| emitter.emit(event));
    });
    assert_eq!(emitter.summary(&run), None);
    assert_eq!(heard(|| emitter.emit(&session()[0])).len(), 2);
    assert_eq!(emitter.summary(&run).unwrap().total_entries, 1);
}

/// A listener that panics at some records, before anybody writes them.
struct Fragile(AtomicU64);

impl<S: tracing::Subscriber> Layer<S> for Fragile {
    fn on_event(&self, _: &tracing::Event<'_>, _: Context<'_, S>) {
        assert!(self.0.fetch_add(1, Ordering::Relaxed) % 5 != 2, "fragile");
    }
}

#[test]
fn a_listener_that_panics_fails_nobody_and_leaves_no_gap() {
    let log = Log::default();
    let lines = quipu_emit::JsonLines::new(log.clone()).only_transcripts();
    // Of two layers the inner one is told first.
    let listeners = tracing_subscriber::registry().with(Fragile(AtomicU64::new(0))).with(lines);
    tracing::subscriber::with_default(listeners, || {
        let emitter = Emitter::new(EmitterOptions::default());
        for seq in 1..=50 {
            emitter.emit(&event(seq, "usage", json!({})));
        }
    });
    let records = log.records();
    let told = called("transcript.error", &records);
    assert!(told.len() > 3);
    assert_eq!(
        (&told[0]["level"], &told[0]["context"]["error"]),
        (&json!("WARNING"), &json!("a listener panicked: fragile"))
    );
    let numbers = numbers(&records, "main");
    assert!(numbers.len() > 30 && numbers.len() < 50);
    assert!(numbers.iter().copied().eq(1..=numbers.len() as u64));
}

#[test]
fn numbers_are_in_order_under_concurrent_emitters() {
    let log = Log::default();
    let listener = tracing_subscriber::registry()
        .with(quipu_emit::JsonLines::new(log.clone()).only_transcripts());
    let listener = tracing::Dispatch::new(listener);
    let emitter = Emitter::new(EmitterOptions::default());
    std::thread::scope(|scope| {
        for n in 0..4 {
            let (listener, emitter) = (&listener, &emitter);
            scope.spawn(move || {
                tracing::dispatcher::with_default(listener, || {
                    for seq in 1..=100 {
                        emitter.emit(&event(n * 100 + seq, "usage", json!({})));
                    }
                });
            });
        }
    });
    assert!(numbers(&log.records(), "main").into_iter().eq(1..=400));
}

/// A listener that emits what it hears.
#[derive(Clone, Default)]
struct Echo(Arc<OnceLock<Arc<Emitter>>>);

impl<S: tracing::Subscriber> Layer<S> for Echo {
    fn on_event(&self, _: &tracing::Event<'_>, _: Context<'_, S>) {
        if let Some(emitter) = self.0.get() {
            emitter.emit(&event(99, "usage", json!({})));
            emitter.pass_over(&event(99, "usage", json!({})));
        }
    }
}

#[test]
fn an_event_emitted_from_within_a_listener_waits_for_nothing() {
    let emitter = Arc::new(Emitter::new(EmitterOptions::default()));
    let echo = Echo::default();
    assert!(echo.0.set(Arc::clone(&emitter)).is_ok());
    let listeners = tracing_subscriber::registry().with(echo);
    tracing::subscriber::with_default(listeners, || emitter.emit(&event(1, "usage", json!({}))));
    let summary = emitter.summary(&RunId::parse("r").unwrap()).unwrap();
    assert_eq!(summary.total_entries, 1);
}
