//! Readers that wait for more, also of other processes.

use std::io::Write;
use std::time::Duration;

use quipu_event::Event;
use quipu_journal::{Follow, Followed};
use quipu_testkit::{TestStorage, assistant_text, run_started};

use crate::process::OtherProcess;

/// Long enough for any machine; a test that works never waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

fn next(follow: &mut Follow) -> Event {
    match follow.next_within(PATIENCE) {
        Followed::Event(event) => event.unwrap(),
        Followed::Nothing => panic!("nothing came"),
    }
}

fn has_nothing(follow: &mut Follow) -> bool {
    matches!(follow.next_within(Duration::from_millis(20)), Followed::Nothing)
}

#[test]
fn a_follower_sees_what_another_process_writes() {
    let storage = TestStorage::new();
    let mut other = OtherProcess::recording_in(storage.layout.storage());
    let mut follow = Follow::from_seq(storage.path("r"), 1).unwrap();
    assert_eq!(next(&mut follow).seq, 1);
    for said in ["one", "two", "three"] {
        assert!(has_nothing(&mut follow));
        let seq = other.record(said);
        let event = next(&mut follow);
        assert_eq!(event.seq, seq);
        assert!(event.payload.as_str().contains(said));
    }
    // It was waiting already when the line came.
    let waiting = std::thread::spawn(move || (next(&mut follow), follow));
    let seq = other.record("four");
    let (event, mut follow) = waiting.join().unwrap();
    assert_eq!(event.seq, seq);

    // The writer dies and somebody else comes back to the run: the same follower sees that too.
    other.kill();
    let (recorder, _) = storage.reopen("r").unwrap();
    recorder.record(assistant_text("five")).unwrap();
    let seen: Vec<_> = (0..3).map(|_| next(&mut follow).kind.to_string()).collect();
    assert_eq!(seen, ["system", "run.completed", "message.assistant"]);
    assert!(has_nothing(&mut follow));
}

#[test]
fn a_follower_waits_for_the_rest_of_a_line() {
    let storage = TestStorage::new();
    storage.record("r", [run_started("x"), assistant_text("y"), assistant_text("z")]);
    let whole = storage.bytes("r");
    let second = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let third = second + whole[second..].iter().position(|&byte| byte == b'\n').unwrap() + 1;
    // The second line is in the making when the followers come.
    std::fs::write(storage.path("r"), &whole[..second + 10]).unwrap();
    let mut from_start = Follow::from_seq(storage.path("r"), 1).unwrap();
    let mut from_second = Follow::from_seq(storage.path("r"), 2).unwrap();
    let mut from_third = Follow::from_seq(storage.path("r"), 3).unwrap();
    assert_eq!(next(&mut from_start).seq, 1);
    for follow in [&mut from_start, &mut from_second, &mut from_third] {
        assert!(has_nothing(follow));
    }
    let mut file = std::fs::OpenOptions::new().append(true).open(storage.path("r")).unwrap();
    file.write_all(&whole[second + 10..third]).unwrap();
    assert_eq!(next(&mut from_start).seq, 2);
    assert_eq!(next(&mut from_second).seq, 2);
    file.write_all(&whole[third..]).unwrap();
    assert_eq!(next(&mut from_start).seq, 3);
    assert_eq!(next(&mut from_second).seq, 3);
}

#[test]
fn a_torn_tail_that_recovery_cuts_off_is_never_seen() {
    let storage = TestStorage::new();
    storage.record("r", [run_started("x"), assistant_text("y")]);
    let whole = storage.bytes("r");
    std::fs::write(storage.path("r"), &whole[..whole.len() - 5]).unwrap();
    let mut before = Follow::from_seq(storage.path("r"), 1).unwrap();
    let mut at_the_end = Follow::from_seq(storage.path("r"), 2).unwrap();
    assert_eq!(next(&mut before).seq, 1);
    assert!(has_nothing(&mut before) && has_nothing(&mut at_the_end));
    let (recorder, _) = storage.reopen("r").unwrap();
    recorder.record(assistant_text("z")).unwrap();
    for follow in [&mut before, &mut at_the_end] {
        let seen: Vec<_> = (0..3).map(|_| next(follow).seq).collect();
        assert_eq!(seen, [2, 3, 4]);
    }
}
