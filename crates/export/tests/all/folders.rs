//! What is in the way, what fails, who may read.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use quipu_export::{Existing, Folder, FolderError};
use quipu_testkit::homes::files_below;
use quipu_testkit::{TestStorage, run_started};
use quipu_view::Shelf;
use tempfile::tempdir;

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn files_appear_whole_when_all_are_there() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("a/b");
    let mut folder = Folder::staged(&out, Existing::Refuse).unwrap();
    folder.append("x/one", b"1");
    folder.put("two", b"first");
    folder.append("two", b" more");
    folder.put("two", b"2");
    for file in 0..40 {
        folder.append(&format!("many/{file}"), b"a");
    }
    for file in 0..40 {
        folder.append(&format!("many/{file}"), b"b");
    }
    folder.append("x/one", b"11");
    folder.append("old", b"moved");
    folder.rename("old", "new/name");
    folder.rename("never", "was");
    folder.append("old", b"another");
    assert!(!out.join("two").exists(), "nothing is there before all is");
    let written = folder.commit().unwrap();
    assert_eq!(written.files, 44);
    assert_eq!(text(&out.join("x/one")), "111");
    assert_eq!(text(&out.join("two")), "2");
    assert_eq!(text(&out.join("many/7")), "ab");
    assert_eq!(text(&out.join("new/name")), "moved");
    assert_eq!(text(&out.join("old")), "another");
    assert_eq!(files_below(&out).len(), 44, "nothing else is left");
}

#[test]
fn nothing_is_overwritten_unless_it_is_asked_for() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("b"), "mine").unwrap();
    let fill = |folder: &mut Folder| {
        folder.append("a", b"new");
        folder.append("b", b"new");
    };
    let mut folder = Folder::staged(dir.path(), Existing::Refuse).unwrap();
    fill(&mut folder);
    let refused = folder.commit().unwrap_err();
    assert!(matches!(&refused, FolderError::Exists { first, others: 0 } if first.ends_with("b")));
    assert_eq!(files_below(dir.path()), [dir.path().join("b")]);
    assert_eq!(text(&dir.path().join("b")), "mine");
    let mut live = Folder::in_place(dir.path(), Existing::Refuse).unwrap();
    live.append("b", b"new");
    assert!(matches!(live.flush(), Err(FolderError::Exists { .. })));
    assert_eq!(text(&dir.path().join("b")), "mine");
    let mut folder = Folder::staged(dir.path(), Existing::Replace).unwrap();
    fill(&mut folder);
    folder.commit().unwrap();
    assert_eq!(text(&dir.path().join("b")), "new");
}

#[test]
fn an_export_that_fails_leaves_nothing_behind() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("out");
    let mut folder = Folder::staged(&out, Existing::Refuse).unwrap();
    folder.append("fine", b"1");
    folder.append("../outside", b"1");
    assert!(matches!(folder.flush(), Err(FolderError::Outside { .. })));
    drop(folder);
    assert!(!out.exists());
    assert!(!dir.path().join("outside").exists());
}

#[test]
fn no_path_leads_out_of_a_folder() {
    for path in ["", "..", "a/../../b", "/etc/passwd", "./a/..", "a/../b"] {
        let dir = tempdir().unwrap();
        let mut folder = Folder::staged(dir.path(), Existing::Replace).unwrap();
        folder.append(path, b"1");
        assert!(matches!(folder.flush(), Err(FolderError::Outside { .. })), "{path:?}");
    }
}

#[test]
fn what_was_recorded_is_never_replaced() {
    let storage = TestStorage::new();
    storage.record("r", [run_started("r")]);
    let before = storage.bytes("r");
    for make in [Folder::staged, Folder::in_place] {
        let folder = make(storage.layout.storage(), Existing::Replace).unwrap();
        let mut folder = folder.apart_from(&storage.layout);
        folder.put("transcripts/r.jsonl", b"another");
        assert!(matches!(folder.flush(), Err(FolderError::Recorded { .. })));
        assert_eq!(storage.bytes("r"), before);
    }
}

#[test]
fn files_are_for_their_owner_only() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("out");
    let mut folder = Folder::staged(&out, Existing::Refuse).unwrap();
    folder.append("sub/file", b"1");
    folder.commit().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&out), 0o700);
    assert_eq!(mode(&out.join("sub")), 0o700);
    assert_eq!(mode(&out.join("sub/file")), 0o600);
}
