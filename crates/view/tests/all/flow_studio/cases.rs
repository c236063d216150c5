//! Each folder of `tests/cases/flow_studio` is a transcript and the files it becomes.
//!
//! `BLESS=1` writes what the code makes now; look at the difference before committing it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use quipu_event::Event;

use super::super::transcript::events;
use super::files_of;

const CASES: [&str; 4] = ["workflow", "stub", "session", "foreign"];

/// Returns the events of a case.
pub(crate) fn case(name: &str) -> Vec<Event> {
    events(&fs::read_to_string(folder(name).join("run.jsonl")).unwrap())
}

#[test]
fn every_case_becomes_the_files_beside_it() {
    for name in CASES {
        let (tree, losses) = files_of(&case(name));
        let expected = folder(name).join("expected");
        let lost = format!("{:?}\n", losses.events);
        let mut files: BTreeMap<String, Vec<u8>> = tree.0;
        files.insert("left-out.txt".to_owned(), lost.into_bytes());
        if std::env::var_os("BLESS").is_some() {
            let _ = fs::remove_dir_all(&expected);
            for (path, bytes) in &files {
                let path = expected.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, bytes).unwrap();
            }
        }
        let found = read_tree(&expected);
        let names = |tree: &BTreeMap<String, Vec<u8>>| tree.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&files), names(&found), "{name}");
        for (path, bytes) in &files {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            assert_eq!(text(bytes), text(&found[path]), "{name}: {path}");
        }
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/flow_studio").join(name)
}

/// Returns the files below `root`.
pub(crate) fn read_tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    files
}
