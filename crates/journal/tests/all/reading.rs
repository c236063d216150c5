//! Forward, backward, from a number, through damage.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use proptest::prelude::*;
use quipu_event::Event;
use quipu_journal::{
    Damage, DamageKind, Follow, LineEnd, Lines, ReadProblem, Reader, ReaderBackward, find_run,
    list_runs, verify_run,
};
use quipu_testkit::{TestStorage, assistant_text, run_id, run_started};

/// What a reader answered, in a form that can be compared.
#[derive(Debug, PartialEq)]
enum Answer {
    Event(Box<Event>),
    Damage { line: u64, offset: u64, len: u64, what: &'static str },
}

fn answer(read: Result<Event, ReadProblem>) -> Answer {
    match read {
        Ok(event) => Answer::Event(Box::new(event)),
        Err(ReadProblem::Damaged { damage: Damage { line, offset, len, what }, .. }) => {
            let what = match what {
                DamageKind::TornTail(_) => "torn",
                DamageKind::NotAnEvent(_) => "not an event",
                DamageKind::Empty => "empty",
            };
            Answer::Damage { line, offset, len, what }
        }
        Err(ReadProblem::Io(error)) => panic!("{error}"),
    }
}

fn forward(path: &Path) -> Vec<Answer> {
    Reader::open(path).unwrap().map(answer).collect()
}

/// The lines of a sound journal whose texts have these sizes.
fn journal_lines(sizes: &[usize]) -> Vec<Vec<u8>> {
    let storage = TestStorage::new();
    let texts = sizes.iter().map(|&size| assistant_text(&"x".repeat(size)));
    storage.record("r", std::iter::once(run_started("x")).chain(texts));
    storage.bytes("r").split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// A storage whose run `r` has these bytes.
fn storage_of(bytes: &[u8]) -> TestStorage {
    let storage = TestStorage::new();
    drop(storage.create("r"));
    std::fs::write(storage.path("r"), bytes).unwrap();
    storage
}

/// Sound lines with something else between them and a torn one at the end.
fn damaged_journal() -> Vec<u8> {
    let sound = journal_lines(&[1, 2, 3]);
    let not_text = b"{\"seq\":9,\"\xff\":1}\n";
    [&sound[0], &b"garbage\n"[..], &sound[1], b"\n", &sound[2], not_text, &sound[3], b"{\"seq\":5"]
        .concat()
}

#[test]
fn a_reader_reports_damage_with_its_line_and_byte_and_goes_on() {
    let bytes = damaged_journal();
    let storage = storage_of(&bytes);
    let mut expected = Vec::new();
    let mut offset = 0;
    for (line, text) in (1..).zip(bytes.split_inclusive(|&byte| byte == b'\n')) {
        let damage = |what, len: usize| Answer::Damage { line, offset, len: len as u64, what };
        expected.push(match line {
            2 => damage("not an event", 7),
            4 => damage("empty", 0),
            6 => damage("not an event", text.len() - 1),
            8 => damage("torn", 8),
            _ => Answer::Event(Box::new(quipu_event::decode_line(text).unwrap())),
        });
        offset += text.len() as u64;
    }
    let path = storage.path("r");
    assert_eq!(forward(&path), expected);
    let said = Reader::open(&path).unwrap().find_map(Result::err).unwrap().to_string();
    let place =
        format!("line 2, byte {}: not an event: expected value", journal_lines(&[])[0].len());
    assert!(said.contains(&place), "{said}");

    // Line numbers are right as well for a reader that did not begin at the first line.
    let late: Vec<_> = Reader::from_seq(&path, 3).unwrap().map(answer).collect();
    assert_eq!(late, expected.split_off(4));
}

#[test]
fn reading_backward_gives_the_same_events_in_reverse() {
    let mut huge = journal_lines(&[1_200_000, 5, 300_000, 4096, 4095, 0]).concat();
    for bytes in [damaged_journal(), huge.clone(), Vec::new(), b"\n".to_vec(), b"\n\nx".to_vec()] {
        let path = storage_of(&bytes);
        let path = path.path("r");
        let mut backward: Vec<_> = ReaderBackward::open(&path).unwrap().map(answer).collect();
        backward.reverse();
        assert_eq!(backward, forward(&path));
    }
    huge.truncate(huge.len() - 1);
    let storage = storage_of(&huge);
    let last = ReaderBackward::open(storage.path("r")).unwrap().map(answer).next();
    assert!(matches!(last, Some(Answer::Damage { what: "torn", line: 7, .. })), "{last:?}");
}

/// Where each event of a journal begins, by its number.
fn offsets(bytes: &[u8]) -> Vec<(u64, u64)> {
    let mut offset = 0;
    let mut found = Vec::new();
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        found.extend(quipu_event::decode_line(line).ok().map(|event| (event.seq, offset)));
        offset += line.len() as u64;
    }
    found
}

/// Checks for every number that a reader from there begins exactly where the event does.
fn check_every_number(bytes: &[u8]) {
    let storage = storage_of(bytes);
    let path = storage.path("r");
    let offsets = offsets(bytes);
    for &(seq, offset) in &offsets {
        let mut reader = Reader::from_seq(&path, seq).unwrap();
        // Number 1 is wherever the file begins: what stands before it is not passed over.
        assert_eq!(reader.offset(), if seq == 1 { 0 } else { offset }, "from {seq}");
        assert_eq!(reader.find_map(Result::ok).unwrap().seq, seq);
    }
    let last = offsets.last().map_or(0, |&(seq, _)| seq);
    assert_eq!(Reader::from_seq(&path, last + 1).unwrap().map(answer).count(), 0);
    let whole: Vec<_> = forward(&path);
    let half = Reader::from_seq(&path, last / 2).unwrap().map(answer);
    let later = |answer: &Answer| matches!(answer, Answer::Event(event) if event.seq >= last / 2);
    assert!(half.filter(later).eq(whole.into_iter().filter(later)));
}

#[test]
fn reading_from_a_number_does_not_read_what_stands_before_it() {
    let size = |n: usize| match n % 23 {
        7 if n < 40 => 1_100_000,
        3 => 70_000,
        other => other * 40,
    };
    let mut lines = journal_lines(&(0..170).map(size).collect::<Vec<_>>());
    check_every_number(&lines.concat());

    // Garbage before the number would be reported by anybody who read it; behind it, it is.
    lines.insert(40, b"garbage\n".to_vec());
    lines.insert(150, [b"\xff".repeat(200_000), b"\n".to_vec()].concat());
    check_every_number(&lines.concat());
    let storage = storage_of(&lines.concat());
    let damage =
        |seq| Reader::from_seq(storage.path("r"), seq).unwrap().filter(Result::is_err).count();
    assert_eq!((damage(1), damage(41), damage(149), damage(150)), (2, 1, 1, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn a_reader_from_any_number_begins_at_its_line(
        sizes in proptest::collection::vec(prop_oneof![0..200_usize, 20_000..90_000_usize], 0..40),
    ) {
        check_every_number(&journal_lines(&sizes).concat());
    }
}

#[test]
fn a_file_of_another_writer_is_searched_from_its_beginning() {
    let foreign = |seq: u64| {
        let stamp = "2026-01-02T03:04:05Z";
        format!(
            "{{\"seq\":{seq},\"run_id\":\"r\",\"type\":\"step.started\",\"timestamp\":\"{stamp}\",\"payload\":null}}\n"
        )
    };
    let text: String = [2, 1, 4, 3, 6, 5].map(foreign).concat();
    let storage = storage_of(text.as_bytes());
    let from = |seq| {
        Reader::from_seq(storage.path("r"), seq)
            .unwrap()
            .map(|e| e.unwrap().seq)
            .collect::<Vec<_>>()
    };
    assert_eq!(from(3), [4, 3, 6, 5]);
    assert_eq!(from(1), [2, 1, 4, 3, 6, 5]);
}

#[test]
fn a_line_ends_at_a_line_feed_and_nowhere_else() {
    let storage = storage_of("a\rb\u{2028}c\u{85}d\n\n\0e".as_bytes());
    let mut lines = Lines::new(std::fs::File::open(storage.path("r")).unwrap(), 0);
    let mut found = Vec::new();
    while let Some(line) = lines.next().unwrap() {
        found.push((String::from_utf8(line.bytes.to_vec()).unwrap(), line.end));
    }
    let expected = [
        ("a\rb\u{2028}c\u{85}d".to_owned(), LineEnd::Feed),
        (String::new(), LineEnd::Feed),
        ("\0e".to_owned(), LineEnd::Missing),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_reader_never_changes_a_file() {
    let bytes = damaged_journal();
    let storage = storage_of(&bytes);
    let path = storage.path("r");
    let state = || {
        let seen = |path: &Path| {
            let meta = path.metadata().unwrap();
            (
                meta.len(),
                meta.mtime(),
                meta.mtime_nsec(),
                meta.ctime(),
                meta.ctime_nsec(),
                meta.mode(),
            )
        };
        let entries = storage.layout.transcripts().read_dir().unwrap().count();
        (seen(&path), seen(&storage.layout.transcripts()), entries, std::fs::read(&path).unwrap())
    };
    let before = state();
    forward(&path);
    ReaderBackward::open(&path).unwrap().for_each(drop);
    Reader::from_seq(&path, 3).unwrap().for_each(drop);
    let mut follow = Follow::from_seq(&path, 1).unwrap();
    while let quipu_journal::Followed::Event(_) = follow.next_within(std::time::Duration::ZERO) {}
    verify_run(&storage.layout, &run_id("r")).unwrap();
    list_runs(&storage.layout).unwrap();
    find_run(&storage.layout, "last").unwrap();
    assert_eq!(state(), before);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let storage = TestStorage::new();
    let path = storage.path("r");
    assert_eq!(Reader::open(&path).unwrap_err().path, path);
    assert_eq!(ReaderBackward::open(&path).unwrap_err().path, path);
    assert_eq!(Reader::from_seq(&path, 4).unwrap_err().path, path);
    assert!(Follow::from_seq(&path, 4).is_err());
    assert!(verify_run(&storage.layout, &run_id("r")).is_err());
    // A directory could be opened, but not read.
    assert_eq!(Reader::open(storage.dir()).unwrap_err().path, storage.dir());
}
