//! Notes that others leave for a run, while it is written and after.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use quipu_event::payload::Status;
use quipu_event::{Kind, Payload, RunId, RunIdentity};
use quipu_journal::{
    Delivery, Layout, Note, Options, Reader, Recorder, RunState, deliver_notes, leave_note,
    look_at, take_up_notes, verify_run,
};
use quipu_testkit::{run_completed, run_started, step_started};

fn run() -> RunIdentity {
    RunIdentity { run_id: RunId::parse("r").unwrap(), parent_run_id: None }
}

fn note(title: &str) -> Note {
    Note { title: title.to_owned(), content: "text".to_owned(), step: None }
}

/// Returns the titles of the notes in the transcript.
fn titles(layout: &Layout) -> Vec<String> {
    let events = Reader::open(layout.transcript(&run().run_id)).unwrap().map(Result::unwrap);
    let notes = events.filter(|event| event.kind == Kind::System);
    notes
        .filter_map(|event| match event.decode_payload().unwrap() {
            Payload::System(system) if system.subtype == "note" => {
                Some(system.facts["title"].as_str().unwrap().to_owned())
            }
            _ => None,
        })
        .collect()
}

#[test]
fn a_note_is_recorded_once_whoever_writes_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::new(dir.path().join("storage"));
    let id = run().run_id;
    let recorder = Recorder::create(&layout, run(), Options::default()).unwrap();
    recorder.record(run_started("r")).unwrap();
    // While it is written, its writer takes them up.
    leave_note(&layout, &id, &note("while")).unwrap();
    let delivery = deliver_notes(&layout, &id, Options::default()).unwrap();
    assert!(matches!(delivery, Delivery::Waiting(_)), "{delivery:?}");
    assert_eq!(titles(&layout), Vec::<String>::new());
    let taken = take_up_notes(&layout, &id, None, |draft| recorder.record(draft).is_ok()).unwrap();
    assert_eq!((taken, titles(&layout)), (1, vec!["while".to_owned()]));
    // One that could not be recorded waits, and so does what comes after it.
    leave_note(&layout, &id, &note("refused")).unwrap();
    leave_note(&layout, &id, &note("behind it")).unwrap();
    assert_eq!(take_up_notes(&layout, &id, None, |_| false).unwrap(), 0);
    recorder.record(run_completed("r", Status::Succeeded)).unwrap();
    recorder.close().unwrap();
    // After that, anybody does.
    let delivery = deliver_notes(&layout, &id, Options::default()).unwrap();
    assert!(matches!(&delivery, Delivery::Recorded(notes) if notes.len() == 2), "{delivery:?}");
    assert_eq!(titles(&layout), ["while", "refused", "behind it"]);
    assert!(!dir.path().join("storage/notes").exists(), "nothing is left behind");
    assert_eq!(verify_run(&layout, &id).unwrap().findings.len(), 0);
    assert_eq!(look_at(&layout, &id).unwrap().state, RunState::Ended);
    // Nor do many notes, or a long one, open it again.
    let long = Note { content: "x".repeat(10_000), ..note("long") };
    leave_note(&layout, &id, &long).unwrap();
    leave_note(&layout, &id, &note("last")).unwrap();
    deliver_notes(&layout, &id, Options::default()).unwrap();
    assert_eq!(look_at(&layout, &id).unwrap().state, RunState::Ended);
}

#[test]
fn a_note_whose_writer_died_before_it_could_be_removed_is_not_recorded_again() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::new(dir.path());
    let id = run().run_id;
    let recorder = Recorder::create(&layout, run(), Options::default()).unwrap();
    recorder.record(run_started("r")).unwrap();
    recorder.record(step_started("a")).unwrap();
    let note_id = leave_note(&layout, &id, &note("once")).unwrap();
    let file = layout.notes(&id).join(format!("{note_id}.json"));
    let text = fs::read(&file).unwrap();
    take_up_notes(&layout, &id, None, |draft| recorder.record(draft).is_ok()).unwrap();
    drop(recorder);
    fs::create_dir_all(layout.notes(&id)).unwrap();
    fs::write(&file, text).unwrap();
    leave_note(&layout, &id, &note("new")).unwrap();
    deliver_notes(&layout, &id, Options::default()).unwrap();
    assert_eq!(titles(&layout), ["once", "new"]);
    let events = Reader::open(layout.transcript(&id)).unwrap();
    assert_eq!(events.count(), 4, "the step that was open is still open");
}

#[test]
fn notes_are_recorded_in_the_order_in_which_they_were_left() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::new(dir.path());
    let id = run().run_id;
    let recorder = Recorder::create(&layout, run(), Options::default()).unwrap();
    recorder.record(run_started("r")).unwrap();
    // Folders come and go while notes are left.
    let (leaving, leaver_id) = (layout.clone(), id.clone());
    let leaver = thread::spawn(move || {
        for n in 0..200 {
            leave_note(&leaving, &leaver_id, &note(&n.to_string())).unwrap();
        }
    });
    while !leaver.is_finished() {
        take_up_notes(&layout, &id, None, |draft| recorder.record(draft).is_ok()).unwrap();
    }
    leaver.join().unwrap();
    take_up_notes(&layout, &id, None, |draft| recorder.record(draft).is_ok()).unwrap();
    let expected: Vec<String> = (0..200).map(|n| n.to_string()).collect();
    assert_eq!(titles(&layout), expected);
}

#[test]
fn what_waits_is_closed_to_others_and_what_is_no_note_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::new(dir.path());
    let id = run().run_id;
    let recorder = Recorder::create(&layout, run(), Options::default()).unwrap();
    recorder.record(run_started("r")).unwrap();
    let note_id = leave_note(&layout, &id, &note("n")).unwrap();
    let folder = layout.notes(&id);
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder.join(format!("{note_id}.json"))), 0o600);
    assert_eq!(mode(folder.clone()), 0o700);
    for (name, text) in [("0.json", "{}"), ("1.json", "not JSON"), (".half", "{"), ("x", "")] {
        fs::write(folder.join(name), text).unwrap();
    }
    take_up_notes(&layout, &id, None, |draft| recorder.record(draft).is_ok()).unwrap();
    assert_eq!(titles(&layout), ["n"]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 4);
}
