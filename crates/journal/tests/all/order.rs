//! Numbers, lines and broadcast go in step, whoever writes.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread::{scope, spawn};

use quipu_event::Draft;
use quipu_journal::{Options, Reader, Recorder};
use quipu_testkit::{TestStorage, assistant_text, run_started};

const PRODUCERS: usize = 8;
const EACH: usize = 250;

/// Records from many threads at once, lines of all sizes, and checks what each producer is told.
fn record_from_many_threads(recorder: &Recorder) {
    scope(|scope| {
        for producer in 0..PRODUCERS {
            scope.spawn(move || {
                let mut last = 0;
                for n in 0..EACH {
                    let seq = recorder.record(said_by(producer, n)).unwrap();
                    assert!(seq > last, "a producer's own lines changed places");
                    last = seq;
                }
            });
        }
    });
}

fn said_by(producer: usize, n: usize) -> Draft {
    let size = if n.is_multiple_of(50) { 40_000 } else { n % 7 };
    assistant_text(&"x".repeat(size)).by(&format!("{producer}/{n}"))
}

#[test]
fn lines_on_disk_are_in_sequence_order_under_concurrent_writers() {
    let storage = TestStorage::new();
    let recorder = storage.create("r");
    record_from_many_threads(&recorder);
    recorder.close().unwrap();

    let events = storage.events("r");
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=(PRODUCERS * EACH) as u64).collect::<Vec<_>>());
    for producer in 0..PRODUCERS {
        let own = events
            .iter()
            .filter_map(|event| event.source.as_deref())
            .filter(|source| source.split('/').next() == Some(producer.to_string().as_str()));
        let expected: Vec<_> = (0..EACH).map(|n| format!("{producer}/{n}")).collect();
        assert_eq!(own.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn subscribers_see_events_in_the_order_of_the_file() {
    let storage = TestStorage::new();
    let recorder = storage.create("r");
    let subscribers: Vec<_> = (0..3)
        .map(|_| recorder.subscribe_with_buffer(PRODUCERS * EACH))
        .map(|subscription| spawn(move || subscription.collect::<Vec<_>>()))
        .collect();
    record_from_many_threads(&recorder);
    recorder.close().unwrap();

    let written = storage.events("r");
    for subscriber in subscribers {
        let seen = subscriber.join().unwrap();
        assert_eq!(seen.len(), written.len());
        assert!(seen.iter().zip(&written).all(|(seen, written)| **seen == *written));
    }
}

#[test]
fn an_event_is_on_disk_before_any_subscriber_sees_it() {
    let storage = TestStorage::new();
    let recorder = storage.create("r");
    recorder.record(run_started("x")).unwrap();
    let path = storage.path("r");
    let watchers: Vec<_> = (0..2)
        .map(|_| recorder.subscribe_with_buffer(1000))
        .map(|subscription| {
            let path = path.clone();
            spawn(move || {
                let check = |event: std::sync::Arc<quipu_event::Event>| {
                    let mut on_disk = Reader::from_seq(&path, event.seq).unwrap();
                    assert_eq!(on_disk.next().unwrap().unwrap(), *event);
                };
                subscription.map(check).count()
            })
        })
        .collect();
    scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for n in 0..100 {
                    recorder.record(said_by(0, n)).unwrap();
                }
            });
        }
    });
    recorder.close().unwrap();
    for watcher in watchers {
        assert_eq!(watcher.join().unwrap(), 400);
    }
}

#[test]
fn what_was_recorded_has_reached_every_subscriber_with_room() {
    let storage = TestStorage::new();
    let recorder = storage.create_with("r", Options { buffer: 10_000, ..Options::default() });
    let mut subscription = recorder.subscribe();
    let delivered = AtomicU64::new(0);
    scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for n in 0..200 {
                    let seq = recorder.record(said_by(1, n)).unwrap();
                    delivered.fetch_max(recorder.stats().subscribers[0].delivered, SeqCst);
                    assert!(delivered.load(SeqCst) >= seq);
                }
            });
        }
    });
    assert_eq!(
        std::iter::from_fn(|| match subscription.try_recv() {
            quipu_journal::Received::Event(event) => Some(event.seq),
            _ => None,
        })
        .collect::<Vec<_>>(),
        (1..=800).collect::<Vec<_>>()
    );
}
