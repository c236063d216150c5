//! Which runs there are and which one a person means.

use quipu_event::payload::Status;
use quipu_event::{Kind, Timestamp};
use quipu_journal::{FindError, Holder, RunState, find_run, list_runs, look_at, run_ids_unordered};
use quipu_testkit::{TestStorage, assistant_text, run_completed, run_id, run_started};

fn started_at(second: i64) -> quipu_event::Draft {
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
fn where_every_run_was_called_last_is_one_of_those() {
    let storage = TestStorage::new();
    storage.create_child("child", "gone").record(started_at(1)).unwrap();
    assert_eq!(find_run(&storage.layout, "last").unwrap().as_str(), "child");
}
