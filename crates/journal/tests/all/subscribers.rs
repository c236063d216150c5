//! Slow, late, stuck and departed subscribers; closing.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread::{scope, yield_now};
use std::time::Duration;

use quipu_journal::{Options, Received, RecordError, Recorder, Replay};
use quipu_testkit::{TestStorage, assistant_text, run_started};

fn record(recorder: &Recorder, count: usize) {
    for _ in 0..count {
        recorder.record(assistant_text("x")).unwrap();
    }
}

#[test]
fn a_slow_subscriber_never_delays_a_write() {
    const EVENTS: u64 = 10_000;
    let storage = TestStorage::new();
    let recorder = storage.create("r");
    let stuck = recorder.subscribe();
    let mut slow = recorder.subscribe();
    let (recorded, consumed, over) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    scope(|scope| {
        scope.spawn(|| {
            // One event for every ten recorded: a tenth of the producer's rate, whatever that is.
            let is_due = || over.load(SeqCst) || recorded.load(SeqCst) / 10 > consumed.load(SeqCst);
            loop {
                while !is_due() {
                    yield_now();
                }
                if slow.recv().is_none() {
                    break;
                }
                consumed.fetch_add(1, SeqCst);
            }
        });
        for n in 0..EVENTS {
            recorder.record(assistant_text("x")).unwrap();
            recorded.store(n + 1, SeqCst);
        }
        // Everything is recorded, and nine tenths of it nobody has taken.
        assert!(consumed.load(SeqCst) <= EVENTS / 10);
        recorder.close().unwrap();
        over.store(true, SeqCst);
    });
    let numbers: Vec<u64> = storage.events("r").iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=EVENTS).collect::<Vec<_>>());
    let [stuck_stats, slow_stats] = recorder.stats().subscribers[..] else { panic!() };
    assert_eq!(slow_stats.delivered, consumed.load(SeqCst));
    assert_eq!(slow_stats.delivered + slow_stats.dropped, EVENTS);
    assert_eq!((stuck_stats.delivered, stuck.dropped()), (256, EVENTS - 256));
}

#[test]
fn drops_are_counted_per_subscriber_and_in_total() {
    let storage = TestStorage::new();
    let recorder = storage.create("r");
    let mut small = recorder.subscribe_with_buffer(3);
    let large = recorder.subscribe_with_buffer(100);
    record(&recorder, 10);
    let counted = |stats: &quipu_journal::Stats| {
        stats.subscribers.iter().map(|s| (s.delivered, s.dropped)).collect::<Vec<_>>()
    };
    let stats = recorder.stats();
    assert_eq!((counted(&stats), stats.dropped), (vec![(3, 7), (10, 0)], 7));
    assert_eq!((small.dropped(), large.dropped()), (7, 0));

    // It sees the jump: the newest were dropped, not the oldest.
    let taken: Vec<_> = (0..3).map(|_| small.recv().unwrap().seq).collect();
    assert_eq!(taken, [1, 2, 3]);
    record(&recorder, 1);
    assert_eq!(small.recv().unwrap().seq, 11);

    // Who leaves takes its line in the list along, and its drops stay in the total.
    drop(small);
    record(&recorder, 1);
    let stats = recorder.stats();
    assert_eq!((counted(&stats), stats.dropped), (vec![(12, 0)], 7));
    recorder.close().unwrap();
    assert_eq!(counted(&recorder.stats()), vec![(12, 0)]);
}

/// Takes everything there is, now and then looking away for a moment.
fn take_all(mut replay: Replay, from: u64) -> Vec<u64> {
    let mut taken = Vec::new();
    loop {
        let received = if taken.len() % 3 == 0 {
            replay.recv_timeout(Duration::from_millis(1))
        } else {
            replay.recv().map_or(Received::Closed, Received::Event)
        };
        match received {
            Received::Event(event) => taken.push(event.seq),
            Received::Nothing => {}
            Received::Closed => break,
        }
        if (taken.len() as u64 + from).is_multiple_of(64) {
            std::thread::sleep(Duration::from_micros(300));
        }
    }
    taken
}

#[test]
fn subscribe_from_misses_nothing_and_repeats_nothing() {
    const PRODUCERS: u64 = 3;
    const EACH: u64 = 400;
    const ALL: u64 = PRODUCERS * EACH + 1;
    for buffer in [1, 2, 7] {
        let storage = TestStorage::new();
        let recorder = storage.create_with("r", Options { buffer, ..Options::default() });
        recorder.record(run_started("x")).unwrap();
        let producing = AtomicU64::new(PRODUCERS);
        scope(|scope| {
            for _ in 0..PRODUCERS {
                scope.spawn(|| {
                    for n in 0..EACH {
                        recorder.record(assistant_text(&"x".repeat(n as usize % 90))).unwrap();
                    }
                    if producing.fetch_sub(1, SeqCst) == 1 {
                        recorder.close().unwrap();
                    }
                });
            }
            for from in [0, 1, 2, 100, 700, ALL, ALL + 5] {
                let recorder = &recorder;
                scope.spawn(move || {
                    // Some come early, some in the middle, some at the very end.
                    while recorder.last_seq() < from / 2 {
                        yield_now();
                    }
                    let taken = take_all(recorder.subscribe_from(from), from);
                    assert_eq!(taken, (from.max(1)..=ALL).collect::<Vec<_>>(), "from {from}");
                });
            }
        });
        let after_the_end = recorder.subscribe_from(ALL - 1);
        assert_eq!(take_all(after_the_end, 0), [ALL - 1, ALL]);
    }
}

#[test]
fn what_passed_the_buffer_by_is_refilled_from_disk() {
    let storage = TestStorage::new();
    let recorder = storage.create_with("r", Options { buffer: 1, ..Options::default() });
    let mut replay = recorder.subscribe_from(1);
    record(&recorder, 5);
    let taken: Vec<_> = (0..5).map(|_| replay.recv().unwrap().seq).collect();
    assert_eq!((taken, replay.refilled()), (vec![1, 2, 3, 4, 5], 4));
    assert!(matches!(replay.recv_timeout(Duration::ZERO), Received::Nothing));
}

#[test]
fn what_somebody_took_from_the_file_is_not_waited_for() {
    let storage = TestStorage::new();
    let recorder = storage.create_with("r", Options { buffer: 1, ..Options::default() });
    let mut replay = recorder.subscribe_from(1);
    record(&recorder, 5);
    let bytes = storage.bytes("r");
    let third =
        bytes.split_inclusive(|&byte| byte == b'\n').take(3).map(<[u8]>::len).sum::<usize>();
    std::fs::OpenOptions::new()
        .write(true)
        .open(storage.path("r"))
        .unwrap()
        .set_len(third as u64)
        .unwrap();
    recorder.close().unwrap();
    let taken: Vec<_> = std::iter::from_fn(|| replay.recv()).map(|event| event.seq).collect();
    assert_eq!(taken, [1, 2, 3]);
}

fn is_closed(recorder: &Recorder) -> bool {
    matches!(recorder.record(assistant_text("x")), Err(RecordError::Closed { path }) if path == recorder.path())
}

#[test]
fn closing_twice_is_fine_and_recording_after_close_is_an_error() {
    let storage = TestStorage::new();
    let recorder = storage.create("r");
    let (mut live, mut replay) = (recorder.subscribe(), recorder.subscribe_from(1));
    let departed = recorder.subscribe();
    recorder.record(run_started("x")).unwrap();
    departed.close();
    departed.close();
    for _ in 0..2 {
        recorder.close().unwrap();
        recorder.clone().close().unwrap();
        assert!(is_closed(&recorder));
    }
    // What was delivered can still be read; then comes the end, again and again.
    assert_eq!(live.recv().unwrap().seq, 1);
    assert_eq!(replay.recv().unwrap().seq, 1);
    for _ in 0..2 {
        assert!(live.recv().is_none());
        assert!(replay.recv().is_none());
        assert!(matches!(live.try_recv(), Received::Closed));
        replay.close();
    }
    assert!(recorder.subscribe().recv().is_none());
    assert_eq!(recorder.subscribe_from(1).map(|event| event.seq).collect::<Vec<_>>(), [1]);
    assert_eq!(recorder.last_seq(), 1);
    assert_eq!(storage.events("r").len(), 1);
}

#[test]
fn closing_while_others_record_loses_nothing_that_was_acknowledged() {
    let storage = TestStorage::new();
    let recorder = storage.create("r");
    let acknowledged = AtomicU64::new(0);
    scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Ok(seq) = recorder.record(assistant_text("x")) {
                    acknowledged.fetch_max(seq, SeqCst);
                }
                assert!(is_closed(&recorder));
            });
        }
        while recorder.last_seq() < 50 {
            yield_now();
        }
        recorder.close().unwrap();
    });
    assert_eq!(storage.events("r").len() as u64, acknowledged.load(SeqCst));
}
