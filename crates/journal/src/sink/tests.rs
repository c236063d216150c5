//! The door with a disk behind it that fails, tears and dawdles as scripted.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use quipu_event::{Draft, Letterhead, RunId, RunIdentity, decode_line, encode_line};
use serde_json::json;

use super::*;
use crate::append::faulty::{Fault, FaultyFile};
use crate::clock::SystemClock;
use crate::combine::{Combiner, Load, Sink};
use crate::layout::Layout;
use crate::mask::Mask;
use crate::recorder::{Options, Recorder};
use crate::sync::Patience;

const EIO: i32 = 5;
const EFBIG: i32 = 27;
const ENOSPC: i32 = 28;

fn identity() -> RunIdentity {
    RunIdentity { run_id: RunId::parse("r").unwrap(), parent_run_id: None }
}

fn draft(text: &str) -> Draft {
    Draft::system("test", json!({ "text": text })).unwrap()
}

fn form(text: &str) -> LineForm {
    let mut form = LineForm::default();
    form.draw(&draft(text), &Letterhead::of(&identity()));
    form
}

/// A run whose disk is scripted.
struct Scripted {
    dir: tempfile::TempDir,
}

impl Scripted {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("transcripts")).unwrap();
        Scripted { dir }
    }

    fn layout(&self) -> Layout {
        Layout::new(self.dir.path())
    }

    fn path(&self) -> PathBuf {
        self.layout().transcript(&identity().run_id)
    }

    fn file(&self) -> File {
        OpenOptions::new().append(true).create(true).open(self.path()).unwrap()
    }

    fn sink(&self, disk: impl Append + 'static, durability: Durability) -> DiskSink {
        let clock = Arc::new(SystemClock);
        DiskSink::new(Box::new(disk), self.path(), Position::default(), clock, durability, None)
    }

    fn failing(&self, faults: &[Fault]) -> DiskSink {
        let faults = faults.iter().copied().collect();
        let disk = FaultyFile { file: self.file(), faults, sync_fault: None };
        self.sink(disk, Durability::Never)
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.path()).unwrap()
    }
}

fn record(sink: &mut DiskSink, texts: &[&str]) -> Vec<Result<u64, RecordError>> {
    let (mut batch, first) = (sink.empty_load(), sink.next_number());
    for text in texts {
        batch.add(&mut form(text));
    }
    sink.carry(first, &mut batch, None);
    assert_eq!(batch.count(), 0);
    (first..).zip(texts).map(|(number, _)| sink.outcome(number)).collect()
}

/// How long the line of `text` is, whatever its number and time.
fn line_len(text: &str) -> usize {
    let mut line = String::new();
    encode_line(&draft(text).seal(1, &identity(), SystemClock.now()), &mut line);
    line.len()
}

fn numbers_in(path: &Path) -> Vec<u64> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| decode_line(line.as_bytes()).unwrap().seq).collect()
}

#[test]
fn a_failed_write_is_reported_once_and_poisons_the_recorder() {
    let cases: [(&[Fault], i32); 4] = [
        (&[Fault::Fails(EIO)], EIO),
        (&[Fault::Fails(ENOSPC)], ENOSPC),
        (&[Fault::Fails(EFBIG)], EFBIG),
        (&[Fault::Short(7), Fault::Fails(ENOSPC)], ENOSPC),
    ];
    for (faults, errno) in cases {
        let scripted = Scripted::new();
        let mut sink = scripted.failing(faults);
        // Three producers whose lines were to be written together.
        let outcomes = record(&mut sink, &["a", "b", "c"]);
        let Err(RecordError::Write { path, source }) = &outcomes[0] else { panic!("{outcomes:?}") };
        assert_eq!((path, source.raw_os_error()), (&scripted.path(), Some(errno)));
        for later in outcomes.iter().skip(1).chain(&record(&mut sink, &["d"])) {
            let Err(RecordError::Poisoned { reason, .. }) = later else { panic!("{later:?}") };
            assert_eq!(reason, &source.to_string());
        }
        assert_eq!(sink.stats().poisoned, Some(source.to_string()));
        sink.close().unwrap();
        assert!(matches!(record(&mut sink, &["e"])[0], Err(RecordError::Poisoned { .. })));
    }
}

#[test]
fn a_disk_that_takes_nothing_is_a_failed_write() {
    let scripted = Scripted::new();
    let outcomes = record(&mut scripted.failing(&[Fault::Short(0)]), &["a"]);
    assert!(matches!(&outcomes[0], Err(RecordError::Write { .. })), "{outcomes:?}");
}

#[test]
fn a_full_device_is_a_failed_write() {
    let scripted = Scripted::new();
    let full = OpenOptions::new().append(true).open("/dev/full").unwrap();
    let outcomes = record(&mut scripted.sink(full, Durability::Never), &["a"]);
    let Err(RecordError::Write { source, .. }) = &outcomes[0] else { panic!("{outcomes:?}") };
    assert_eq!(source.raw_os_error(), Some(ENOSPC));
}

#[test]
fn a_short_write_is_completed() {
    let scripted = Scripted::new();
    let mut sink = scripted.failing(&[Fault::Short(1), Fault::Short(30), Fault::Short(2)]);
    let outcomes = record(&mut sink, &["a", "b"]);
    assert!(matches!(outcomes[..], [Ok(1), Ok(2)]), "{outcomes:?}");
    assert_eq!(numbers_in(&scripted.path()), [1, 2]);
    assert_eq!(sink.stats().bytes, scripted.text().len() as u64);
}

#[test]
fn lines_that_were_written_whole_before_a_failure_count_as_recorded() {
    let scripted = Scripted::new();
    let mut sink = scripted.failing(&[Fault::Short(line_len("a") + 9), Fault::Fails(EIO)]);
    let outcomes = record(&mut sink, &["a", "b", "c"]);
    let as_told = matches!(
        outcomes[..],
        [Ok(1), Err(RecordError::Write { .. }), Err(RecordError::Poisoned { .. })]
    );
    assert!(as_told, "{outcomes:?}");
    assert_eq!(sink.stats().last_seq, 1);
}

#[test]
fn a_partial_line_never_stays_glued_to_a_later_one() {
    let scripted = Scripted::new();
    let mut sink = scripted.failing(&[Fault::Short(line_len("a") + 9), Fault::Fails(ENOSPC)]);
    record(&mut sink, &["a", "b"]);
    let torn = scripted.text();
    assert!(!torn.ends_with('\n'));
    // There is room again, but the sink does not go on behind the partial line.
    record(&mut sink, &["c"]);
    assert_eq!(scripted.text(), torn);
    drop(sink);

    let (recorder, found) =
        Recorder::reopen(&scripted.layout(), &identity().run_id, Options::default()).unwrap();
    assert_eq!(found.torn.map(|torn| torn.bytes), Some(9));
    recorder.record(draft("d")).unwrap();
    assert_eq!(numbers_in(&scripted.path()), [1, 2, 3]);
}

/// Lets through only what does not say `stop`.
struct Stopping;

impl Mask for Stopping {
    fn mask(&self, draft: Draft) -> (Draft, u64) {
        assert!(!draft.payload.as_str().contains("stop"));
        (draft, 0)
    }
}

#[test]
fn a_failed_record_uses_up_no_number() {
    let scripted = Scripted::new();
    let mut sink = scripted.failing(&[Fault::Fails(EIO)]);
    assert!(record(&mut sink, &["a", "b"]).iter().all(Result::is_err));
    assert_eq!(sink.stats().last_seq, 0);
    drop(sink);

    let options = Options { mask: Some(Arc::new(Stopping)), ..Options::default() };
    let (recorder, _) = Recorder::reopen(&scripted.layout(), &identity().run_id, options).unwrap();
    assert_eq!(recorder.record(draft("c")).unwrap(), 1);
    assert!(matches!(recorder.record(draft("stop")), Err(RecordError::Mask)));
    let deep = "[".repeat(500) + &"]".repeat(500);
    let deep = Draft { payload: serde_json::from_str(&deep).unwrap(), ..draft("") };
    assert!(matches!(recorder.record(deep), Err(RecordError::TooDeep)));
    assert_eq!(recorder.record(draft("d")).unwrap(), 2);
    recorder.close().unwrap();
    assert!(matches!(recorder.record(draft("e")), Err(RecordError::Closed { .. })));
    assert_eq!(numbers_in(&scripted.path()), [1, 2]);
}

/// A disk that remembers how many lines it was given and how many of them it was told to keep.
#[derive(Clone)]
struct Remembering {
    lines: Arc<AtomicU64>,
    synced: Arc<AtomicU64>,
    syncs: Arc<AtomicU64>,
    sync_takes: Duration,
}

impl Remembering {
    fn new(sync_takes: Duration) -> Self {
        let zero = || Arc::new(AtomicU64::new(0));
        Remembering { lines: zero(), synced: zero(), syncs: zero(), sync_takes }
    }
}

impl Append for Remembering {
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let lines = bytes.iter().filter(|&&byte| byte == b'\n').count();
        self.lines.fetch_add(lines as u64, SeqCst);
        Ok(bytes.len())
    }

    fn sync(&mut self) -> io::Result<()> {
        let reached = self.lines.load(SeqCst);
        std::thread::sleep(self.sync_takes);
        self.syncs.fetch_add(1, SeqCst);
        self.synced.store(reached, SeqCst);
        Ok(())
    }
}

const PRODUCERS: u64 = 8;
const EACH: u64 = 15;

/// Records from many threads at once and checks after each record that its line was synced.
fn record_durably(disk: &Remembering) {
    let scripted = Scripted::new();
    let door = Combiner::new(scripted.sink(disk.clone(), Durability::Always), Patience::LONG);
    std::thread::scope(|scope| {
        for _ in 0..PRODUCERS {
            scope.spawn(|| {
                for _ in 0..EACH {
                    let seq = door.submit(&mut form("x")).unwrap();
                    assert!(disk.synced.load(SeqCst) >= seq);
                }
            });
        }
    });
    assert_eq!(disk.lines.load(SeqCst), PRODUCERS * EACH);
}

#[test]
fn durability_always_syncs_before_record_returns() {
    record_durably(&Remembering::new(Duration::ZERO));

    let scripted = Scripted::new();
    let fails = FaultyFile { file: scripted.file(), faults: [].into(), sync_fault: Some(EIO) };
    let mut sink = scripted.sink(fails, Durability::Always);
    let outcomes = record(&mut sink, &["a", "b"]);
    assert!(matches!(outcomes[0], Err(RecordError::Write { .. })), "{outcomes:?}");
    assert!(matches!(outcomes[1], Err(RecordError::Poisoned { .. })), "{outcomes:?}");

    // One line whole, the next one torn, and then the disk keeps neither.
    let faults = [Fault::Short(line_len("a") + 9), Fault::Fails(ENOSPC)].into();
    let tears = FaultyFile { file: scripted.file(), faults, sync_fault: Some(EIO) };
    let outcomes = record(&mut scripted.sink(tears, Durability::Always), &["a", "b"]);
    assert!(outcomes.iter().all(Result::is_err), "{outcomes:?}");
}

#[test]
fn concurrent_records_share_one_sync() {
    let disk = Remembering::new(Duration::from_millis(2));
    record_durably(&disk);
    let (syncs, records) = (disk.syncs.load(SeqCst), PRODUCERS * EACH);
    assert!(syncs < records, "{syncs} syncs for {records} records");
}

#[test]
fn without_always_nothing_is_synced_but_the_end() {
    let disk = Remembering::new(Duration::ZERO);
    let scripted = Scripted::new();
    let mut sink = scripted.sink(disk.clone(), Durability::Never);
    record(&mut sink, &["a"]);
    sink.close().unwrap();
    assert_eq!(disk.syncs.load(SeqCst), 0);
    let mut sink = scripted.sink(disk.clone(), Durability::Interval(Duration::from_secs(1)));
    record(&mut sink, &["a"]);
    sink.close().unwrap();
    assert_eq!(disk.syncs.load(SeqCst), 1);
}

#[test]
fn a_disk_that_fails_at_the_end_is_told_at_the_end() {
    let scripted = Scripted::new();
    let fails = FaultyFile { file: scripted.file(), faults: [].into(), sync_fault: Some(EIO) };
    let mut sink = scripted.sink(fails, Durability::Interval(Duration::from_secs(1)));
    assert!(matches!(sink.close(), Err(RecordError::Write { .. })));
    sink.close().unwrap();
}

#[test]
fn a_line_alone_is_written_as_it_would_be_with_others() {
    let scripted = Scripted::new();
    let mut sink = scripted.sink(scripted.file(), Durability::Never);
    sink.carry_alone(1, &mut form("a"));
    record(&mut sink, &["b", "c"]);
    sink.carry_alone(4, &mut form("d"));
    assert_eq!(numbers_in(&scripted.path()), [1, 2, 3, 4]);
    assert_eq!(sink.stats().bytes, scripted.text().len() as u64);
}

#[test]
fn any_number_of_lines_is_written_in_order_with_one_s_own_behind_them() {
    let scripted = Scripted::new();
    let mut sink = scripted.sink(scripted.file(), Durability::Never);
    let mut batch = sink.empty_load();
    let mut expected = Vec::new();
    for (round, others) in [1, 2, 3, 4, 9, 0, 5, 3].into_iter().enumerate() {
        let texts: Vec<_> = (0..=others).map(|line| format!("{round}.{line}")).collect();
        let (own, before) = texts.split_last().unwrap();
        // What a producer takes home has been a line of somebody else's, and is none any more.
        for text in before {
            let mut taken = form(text);
            batch.add(&mut taken);
            taken.draw(&draft("mine"), &Letterhead::of(&identity()));
            assert!(String::from_utf8_lossy(taken.fill(1, SystemClock.now())).contains("mine"));
        }
        let first = sink.next_number();
        sink.carry(first, &mut batch, Some(&mut form(own)));
        expected.extend(texts);
    }
    let text = scripted.text();
    let written = text.lines().map(|line| decode_line(line.as_bytes()).unwrap());
    for ((event, expected), seq) in written.zip(&expected).zip(1..) {
        assert_eq!(event.seq, seq);
        assert!(event.payload.as_str().contains(&format!("\"{expected}\"")));
    }
    assert_eq!(sink.stats().last_seq, expected.len() as u64);
}

#[test]
fn a_giant_line_waits_for_the_door_and_not_in_a_batch() {
    let scripted = Scripted::new();
    let sink = scripted.sink(scripted.file(), Durability::Never);
    let giant = "x".repeat(3 * 1024 * 1024);
    let mut batch = sink.empty_load();
    assert!(!batch.has_room_for(&form(&giant)));
    while batch.has_room_for(&form("small")) {
        batch.add(&mut form(&"x".repeat(30_000)));
    }
    assert!(batch.count() * 30_000 < 2 * 1024 * 1024);

    let door = Combiner::new(sink, Patience::SHORT);
    std::thread::scope(|scope| {
        for text in [&giant, "small", &giant, "small"] {
            scope.spawn(|| (0..20).for_each(|_| assert!(door.submit(&mut form(text)).is_ok())));
        }
    });
    assert_eq!(numbers_in(&scripted.path()), (1..=80).collect::<Vec<_>>());
}
