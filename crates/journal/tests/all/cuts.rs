//! A crash at every byte of a journal.

use quipu_event::{Draft, Event, decode_line};
use quipu_journal::{DamageKind, ReadProblem, Reader, verify_run};
use quipu_testkit::{TestStorage, complete_run, run_id, run_started};
use serde_json::json;

/// A run of every type of event beside the run it calls, and the bytes of its file.
fn storage_with_child() -> TestStorage {
    let storage = TestStorage::in_memory();
    let child = storage.create_child("child", "r");
    child.record(run_started("child")).unwrap();
    storage
}

fn whole_journal() -> Vec<u8> {
    let storage = storage_with_child();
    storage.record("r", complete_run(&run_id("child")));
    assert!(verify_run(&storage.layout, &run_id("r")).unwrap().is_sound());
    storage.bytes("r")
}

#[test]
fn a_journal_cut_at_every_byte_leaves_a_readable_prefix_and_the_right_next_number() {
    let whole = &whole_journal();
    let events = &whole
        .split_inclusive(|&b| b == b'\n')
        .map(|line| decode_line(line).unwrap())
        .collect::<Vec<_>>();
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let storage = storage_with_child();
                (thread..=whole.len())
                    .step_by(threads)
                    .for_each(|cut| check(&storage, whole, events, cut));
            });
        }
    });
}

fn check(storage: &TestStorage, whole: &[u8], events: &[Event], cut: usize) {
    let left = &whole[..cut];
    let prefix = left.iter().rposition(|&byte| byte == b'\n').map_or(0, |feed| feed + 1);
    let (prefix, torn) = left.split_at(prefix);
    std::fs::write(storage.path("r"), left).unwrap();

    let lines = prefix.iter().filter(|&&byte| byte == b'\n').count();
    read_prefix(storage, &events[..lines], prefix.len(), torn.len());
    let lines = lines as u64;
    assert_eq!(storage.bytes("r"), left, "reading changed the file cut at {cut}");

    let (recorder, found) = storage.reopen("r").unwrap();
    assert_eq!(found.last_seq, lines);
    let kept = std::fs::read(storage.layout.torn(&run_id("r"))).unwrap_or_default();
    assert_eq!(kept, torn, "cut at {cut}");
    assert_eq!(found.torn.map_or(0, |torn| torn.bytes), torn.len() as u64);

    // What recovery has to tell comes first, and then the count goes on.
    let told = if found.is_clean() { 0 } else { 1 + found.aborted.len() as u64 };
    let next = recorder.record(Draft::system("next", json!({})).unwrap()).unwrap();
    assert_eq!(next, lines + told + 1, "cut at {cut}");
    recorder.close().unwrap();
    assert!(storage.bytes("r").starts_with(prefix));
    // Cuts inside one line differ only in how much is torn: its first and last bytes will do.
    if torn.len() < 2 || whole[cut] == b'\n' {
        let report = verify_run(&storage.layout, &run_id("r")).unwrap();
        assert!(report.is_sound(), "cut at {cut}: {:?}", report.findings);
        assert_eq!(report.events, next);
    }
    let _ = std::fs::remove_file(storage.layout.torn(&run_id("r")));
}

/// Checks that a reader sees exactly the events of the whole lines, and then what is torn.
fn read_prefix(storage: &TestStorage, events: &[Event], prefix: usize, torn: usize) {
    let mut reader = Reader::open(storage.path("r")).unwrap();
    for event in events {
        assert_eq!(&reader.next().unwrap().unwrap(), event);
    }
    if torn > 0 {
        let Some(Err(ReadProblem::Damaged { damage, .. })) = reader.next() else { panic!() };
        let DamageKind::TornTail(bytes) = damage.what else { panic!("{damage}") };
        assert_eq!((damage.line, damage.offset), (events.len() as u64 + 1, prefix as u64));
        assert_eq!(bytes, torn as u64);
    }
    assert!(reader.next().is_none());
}
