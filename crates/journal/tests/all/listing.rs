//! Which runs there are and which one a person means.

use quipu_event::payload::Status;
use quipu_event::{Draft, Kind, Timestamp};
use quipu_journal::{
    FindError, Holder, Lines, Reader, RunState, find_run, list_runs, look_at, map_runs_unordered,
    run_ids_unordered, verify_run, writer_of,
};
use quipu_testkit::{
    TestStorage, assistant_text, run_completed, run_id, run_started, step_completed, step_started,
};

fn started_at(second: i64) -> Draft {
    run_started("x").dated(Timestamp::from_micros(second * 1_000_000))
}

/// Overwrites everything between the first and the last line with what nobody could read.
fn ruin_the_middle(storage: &TestStorage, id: &str) {
    let mut bytes = storage.bytes(id);
    let first = bytes.iter().position(|&byte| byte == b'\n').unwrap();
    let end = bytes.len() - 1;
    let last = bytes[..end].iter().rposition(|&byte| byte == b'\n').unwrap();
    bytes[first + 1..last].fill(b'#');
    std::fs::write(storage.path(id), bytes).unwrap();
}

#[test]
fn runs_are_listed_by_their_heads_and_tails() {
    let storage = TestStorage::new();
    assert_eq!(list_runs(&storage.layout).unwrap().len(), 0);
    storage.record("small", [started_at(10), run_completed("x", Status::Failed)]);
    let filler = || (0..30).map(|_| assistant_text(&"x".repeat(1000)));
    storage.record(
        "large",
        std::iter::once(started_at(30))
            .chain(filler())
            .chain([run_completed("x", Status::Succeeded)]),
    );
    ruin_the_middle(&storage, "large");
    storage.record("giant-head", [started_at(20).by(&"s".repeat(20_000))]);
    let live = storage.create("live");
    live.record(started_at(40)).unwrap();
    storage.record("torn", [started_at(5), assistant_text("whole")]);
    let torn = storage.bytes("torn");
    std::fs::write(storage.path("torn"), [&torn[..], b"{\"seq\":3"].concat()).unwrap();
    drop(storage.create("empty"));
    std::fs::write(storage.layout.transcripts().join("notes.txt"), "").unwrap();
    std::fs::write(storage.layout.transcripts().join("a b.jsonl"), "").unwrap();

    let runs = list_runs(&storage.layout).unwrap();
    let names: Vec<_> = runs.iter().map(|run| run.run_id.as_str()).collect();
    assert_eq!(names, ["live", "large", "giant-head", "small", "torn", "empty"]);
    let own = std::process::id();
    assert!(matches!(&runs[0].state, RunState::Live(Holder::Process { pid, .. }) if *pid == own));
    let states: Vec<_> = runs[1..].iter().map(|run| &run.state).collect();
    use RunState::{Ended, Interrupted};
    assert_eq!(states, [&Ended, &Interrupted, &Ended, &Interrupted, &Interrupted]);
    let ends: Vec<_> = runs[1..]
        .iter()
        .map(|run| (run.first.as_ref().map(|e| e.seq), run.last.as_ref().map(|e| e.seq)))
        .collect();
    let both = |first, last| (Some(first), Some(last));
    assert_eq!(ends, [both(1, 32), both(1, 1), both(1, 2), both(1, 2), (None, None)]);
    for run in &runs {
        assert_eq!(run.bytes, run.path.metadata().unwrap().len());
    }
    assert_eq!(runs[1].last.as_ref().unwrap().kind, Kind::RunCompleted);
}

#[test]
fn a_run_that_ends_while_it_is_looked_at_was_never_interrupted() {
    let storage = TestStorage::new();
    for round in 0..300 {
        let id = format!("r{round}");
        let recorder = storage.create(&id);
        recorder.record(run_started("x")).unwrap();
        let end = std::thread::spawn(move || {
            recorder.record(run_completed("x", Status::Succeeded)).unwrap();
            recorder.close().unwrap();
        });
        loop {
            match look_at(&storage.layout, &run_id(&id)).unwrap().state {
                RunState::Ended => break,
                state => assert!(matches!(state, RunState::Live(_)), "{state:?} in round {round}"),
            }
        }
        end.join().unwrap();
    }
}

#[test]
fn a_large_file_that_ends_in_garbage_still_has_a_last_event() {
    let storage = TestStorage::new();
    storage.record(
        "r",
        std::iter::once(started_at(1)).chain((0..20).map(|_| assistant_text(&"x".repeat(900)))),
    );
    let bytes = [storage.bytes("r"), b"garbage\n{\"seq\":22".to_vec()].concat();
    std::fs::write(storage.path("r"), bytes).unwrap();
    assert_eq!(look_at(&storage.layout, &run_id("r")).unwrap().last.unwrap().seq, 21);
    let garbage = vec![b'#'; 10_000];
    std::fs::write(storage.path("r"), garbage).unwrap();
    let listed = look_at(&storage.layout, &run_id("r")).unwrap();
    assert!(listed.first.is_none() && listed.last.is_none());
    assert!(look_at(&storage.layout, &run_id("nobody")).is_err());
}

#[test]
fn first_and_last_lines_are_found_however_long_they_are() {
    let storage = TestStorage::new();
    let lengths = [10, 3_000, 3_900, 15_000, 16_100, 20_000, 65_000, 70_000, 300_000];
    for first in lengths {
        for last in lengths {
            let name = format!("{first}-{last}");
            let text = |length: usize| "x".repeat(length);
            let end = run_completed("x", Status::Failed).by(&text(last));
            storage.record(&name, [started_at(1).by(&text(first)), assistant_text("a"), end]);
            let run = look_at(&storage.layout, &run_id(&name)).unwrap();
            assert_eq!(run.bytes, storage.bytes(&name).len() as u64, "{name}");
            assert_eq!(run.first.unwrap().seq, 1, "{name}");
            assert_eq!((run.last.unwrap().seq, run.last_seq), (3, Some(3)), "{name}");
            assert_eq!(run.state, RunState::Ended, "{name}");
        }
    }
}

#[test]
fn what_comes_late_does_not_open_a_run_that_has_ended() {
    let (begin, end) = (|| started_at(1), || run_completed("x", Status::Failed));
    let late = |count: usize| (0..count).map(|_| assistant_text(&"x".repeat(1000)));
    let unmarked = || vec![step_started("a"), step_completed("a", Status::Succeeded)];
    let cases: [(&str, Vec<Draft>, RunState); 11] = [
        ("one-late", [begin(), end()].into_iter().chain(late(1)).collect(), RunState::Ended),
        ("many-late", [begin(), end()].into_iter().chain(late(30)).collect(), RunState::Ended),
        ("open", [begin()].into_iter().chain(late(30)).collect(), RunState::Interrupted),
        ("again", vec![begin(), end(), begin()], RunState::Interrupted),
        (
            "again-and-on",
            [begin(), end(), begin()].into_iter().chain(late(30)).collect(),
            RunState::Interrupted,
        ),
        ("unmarked", unmarked(), RunState::Ended),
        ("unmarked-open", [unmarked(), vec![step_started("b")]].concat(), RunState::Interrupted),
        ("inner", [vec![begin()], unmarked()].concat(), RunState::Interrupted),
        ("ended-twice", vec![begin(), end(), begin(), end()], RunState::Ended),
        ("end-alone", [end()].into_iter().chain(late(10)).collect(), RunState::Ended),
        ("end-alone-far", [end()].into_iter().chain(late(30)).collect(), RunState::Ended),
    ];
    let storage = TestStorage::new();
    for (name, drafts, state) in cases {
        let events = drafts.len() as u64;
        storage.record(name, drafts);
        let run = look_at(&storage.layout, &run_id(name)).unwrap();
        assert_eq!((run.last_seq, &run.state), (Some(events), &state), "{name}");
        let is_end = run.last.is_some_and(|last| last.kind.is_completion());
        assert_eq!(is_end, state == RunState::Ended || name == "inner", "{name}");
    }
}

#[test]
fn what_is_no_file_is_told_of_and_not_waited_for() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let storage = TestStorage::new();
    storage.record("r", [started_at(1)]);
    let pipe = storage.path("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let listed = map_runs_unordered(&storage.layout, |run| run.run_id).unwrap();
    assert_eq!(listed.runs, [run_id("r")]);
    let told: Vec<_> = listed.unreadable.iter().map(|error| error.source.to_string()).collect();
    assert_eq!(told, ["it is not a file"]);
    assert_eq!(find_run(&storage.layout, "last").unwrap(), run_id("r"));
    assert!(Reader::open(&pipe).is_err() && Lines::open(&pipe, 0).is_err());
    assert!(writer_of(&pipe).is_err());
    assert!(verify_run(&storage.layout, &run_id("pipe")).is_err());
    assert!(storage.reopen("pipe").is_err());
}

#[test]
fn a_run_goes_by_its_id_by_any_unique_beginning_and_by_last() {
    let storage = TestStorage::new();
    let find = |name: &str| find_run(&storage.layout, name);
    assert!(matches!(find("last"), Err(FindError::NoRuns { .. })));
    storage.record("ab", [started_at(1)]);
    storage.record("abc", [started_at(3)]);
    storage.record("abd", [started_at(2)]);
    let child = storage.create_child("child", "abc");
    child.record(started_at(9)).unwrap();
    for (name, expected) in [("ab", "ab"), ("abc", "abc"), ("ch", "child"), ("last", "abc")] {
        assert_eq!(find(name).unwrap().as_str(), expected);
    }
    assert!(matches!(find("zz"), Err(FindError::NoneSuch { .. })));
    assert!(matches!(find("../ab"), Err(FindError::NoneSuch { .. })));
    storage.record("abe", []);
    storage.record("abf", []);
    storage.record("abg", []);
    let said = find("a").unwrap_err().to_string();
    assert_eq!(said, "\"a\" could be any of 6 runs: ab, abc, abd, abe, abf, …");
    assert_eq!(run_ids_unordered(&storage.layout).unwrap().len(), 7);
}

#[test]
fn last_is_found_by_heads_alone() {
    let storage = TestStorage::new();
    storage.record("old", [started_at(1), run_completed("x", Status::Failed)]);
    storage.record("new", [started_at(2), run_completed("x", Status::Failed)]);
    let whole = storage.bytes("new");
    let first = whole.iter().position(|&byte| byte == b'\n').unwrap();
    std::fs::write(storage.path("new"), [&whole[..=first], &[b'#'; 100_000]].concat()).unwrap();
    assert_eq!(find_run(&storage.layout, "last").unwrap().as_str(), "new");
}

#[test]
fn a_run_without_a_first_event_is_last_only_where_the_others_were_called() {
    let storage = TestStorage::new();
    storage.create_child("child", "gone").record(started_at(9)).unwrap();
    storage.record("empty", []);
    assert_eq!(find_run(&storage.layout, "last").unwrap().as_str(), "empty");
    storage.record("r", [started_at(1)]);
    assert_eq!(find_run(&storage.layout, "last").unwrap().as_str(), "r");
}

#[test]
fn where_every_run_was_called_last_is_one_of_those() {
    let storage = TestStorage::new();
    storage.create_child("child", "gone").record(started_at(1)).unwrap();
    assert_eq!(find_run(&storage.layout, "last").unwrap().as_str(), "child");
}
