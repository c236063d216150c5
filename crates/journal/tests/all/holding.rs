//! One writer per run, and files that only their owner can read.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use quipu_event::payload::Status;
use quipu_journal::{Holder, Layout, OpenError, Options, Recorder, writer_of};
use quipu_testkit::{TestStorage, run_completed, run_id, run_started};

use crate::process::OtherProcess;

fn holder(refused: Result<(Recorder, quipu_journal::Recovery), OpenError>) -> (Holder, String) {
    let Err(error) = refused else { panic!("a second writer was let in") };
    let text = error.to_string();
    let OpenError::Locked { run, holder } = error else { panic!("{error:?}") };
    assert_eq!(run.as_str(), "r");
    (holder, text)
}

#[test]
fn a_second_writer_is_refused_with_the_name_of_the_holder() {
    let storage = TestStorage::new();
    let recorder = storage.create("r");
    recorder.record(run_started("x")).unwrap();
    let (first, text) = holder(storage.reopen("r"));
    let own = std::process::id();
    assert!(matches!(first, Holder::Process { pid, .. } if pid == own), "{first:?}");
    assert!(text.contains(&format!("run r is being written by this very process (pid {own})")));
    recorder.close().unwrap();
    assert!(storage.reopen("r").is_ok());

    let storage = TestStorage::new();
    let other = OtherProcess::recording_in(storage.layout.storage());
    let (second, text) = holder(storage.reopen("r"));
    let Holder::Process { pid, command: Some(command) } = &second else { panic!("{second:?}") };
    assert_eq!(
        (*pid, text),
        (other.pid(), format!("run r is being written by pid {pid} ({command})"))
    );
    assert_eq!(writer_of(&storage.path("r")).unwrap(), Some(second));

    // The lock is gone with its holder, however that ended.
    other.kill();
    assert_eq!(writer_of(&storage.path("r")).unwrap(), None);
    let (recorder, found) = storage.reopen("r").unwrap();
    assert_eq!((found.last_seq, recorder.last_seq()), (1, 3));
}

#[test]
fn a_run_is_begun_once() {
    let storage = TestStorage::new();
    storage.record("r", [run_started("x")]);
    let run = quipu_event::RunIdentity { run_id: run_id("r"), parent_run_id: None };
    let again = Recorder::create(&storage.layout, run, Options::default());
    assert!(matches!(again, Err(OpenError::Exists { path, .. }) if path == storage.path("r")));
    let missing = storage.reopen("nobody");
    assert!(
        matches!(missing, Err(OpenError::Missing { path, .. }) if path == storage.path("nobody"))
    );
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

fn widen(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn files_are_closed_to_others_and_corrected_when_wider() {
    let storage = TestStorage::new();
    storage.record("r", [run_started("x")]);
    let (dir, file) = (storage.layout.transcripts(), storage.path("r"));
    let torn = storage.layout.torn(&run_id("r"));
    let modes = || (mode(storage.layout.storage()), mode(&dir), mode(&file));
    assert_eq!(modes(), (0o700, 0o700, 0o600));

    // Everything is found too wide, and the file is torn.
    let mut bytes = storage.bytes("r");
    bytes.extend_from_slice(b"{\"seq\":2,");
    std::fs::write(&file, bytes).unwrap();
    std::fs::write(&torn, b"older").unwrap();
    for (path, mode) in
        [(storage.layout.storage(), 0o755), (&dir, 0o777), (&file, 0o644), (&torn, 0o666)]
    {
        widen(path, mode);
    }
    let (recorder, _) = storage.reopen("r").unwrap();
    assert_eq!((modes(), mode(&torn)), ((0o700, 0o700, 0o600), 0o600));
    assert_eq!(std::fs::read(&torn).unwrap(), b"older{\"seq\":2,");

    // A mode that is narrower than needed is somebody's wish.
    recorder.record(run_completed("x", Status::Failed)).unwrap();
    drop(recorder);
    widen(&file, 0o400);
    drop(storage.create("s"));
    assert_eq!(modes(), (0o700, 0o700, 0o400));
}

#[test]
fn a_storage_that_holds_other_peoples_files_too_keeps_its_mode() {
    let storage = TestStorage::new();
    let project = storage.dir().join("project");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("main.go"), "package main").unwrap();
    widen(&project, 0o755);
    let run = quipu_event::RunIdentity { run_id: run_id("r"), parent_run_id: None };
    drop(Recorder::create(&Layout::new(&project), run, Options::default()).unwrap());
    assert_eq!((mode(&project), mode(&project.join("transcripts"))), (0o755, 0o700));
}

#[test]
fn a_file_that_is_no_transcript_is_not_closed_to_others() {
    let storage = TestStorage::new();
    storage.record("r", [run_started("x")]);
    let foreign = storage.dir().join("notes.txt");
    std::fs::write(&foreign, "not\nmine\n").unwrap();
    widen(&foreign, 0o644);
    std::os::unix::fs::symlink(&foreign, storage.path("link")).unwrap();
    assert!(matches!(storage.reopen("link"), Err(OpenError::NotATranscript { .. })));
    assert_eq!(
        (mode(&foreign), std::fs::read(&foreign).unwrap()),
        (0o644, b"not\nmine\n".to_vec())
    );
}

#[test]
fn a_storage_that_cannot_be_made_is_named() {
    let storage = TestStorage::new();
    let file = storage.dir().join("file");
    std::fs::write(&file, "").unwrap();
    let run = quipu_event::RunIdentity { run_id: run_id("r"), parent_run_id: None };
    let refused = Recorder::create(&Layout::new(&file), run, Options::default());
    let Err(OpenError::Io { path, .. }) = refused else { panic!() };
    assert_eq!(path, file.join("transcripts"));
}
