//! The runs that are packed: lines that we wrote, one file a run.

use std::path::PathBuf;

use quipu_event::{Event, decode_line};
use quipu_export::Bundled;
use quipu_view::{FileTree, FileView, WinkView};

/// Every run there is, with its id.
pub(crate) const ALL: [(&str, &str); 6] = [
    ("workflow", "0f6b6a5e-8a53-4c1b-9a0e-000000000001"),
    ("session", "session-1"),
    ("codex", "codex-1"),
    ("failed", "failed-1"),
    ("open", "open-1"),
    ("hostile", "hostile..1"),
];

pub(crate) fn events(name: &str) -> Vec<Event> {
    let path = format!("{}/tests/wink/runs/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(PathBuf::from(path)).expect("the run is in the repository");
    text.lines().map(|line| decode_line(line.as_bytes()).expect("it is a transcript")).collect()
}

/// Returns what is left on the shelf: one zip.
pub(crate) fn packed(name: &str) -> FileTree {
    let mut view = Bundled::new(WinkView::new());
    let mut shelf = FileTree::default();
    events(name).iter().for_each(|event| view.add(event, &mut shelf));
    view.finish(&mut shelf);
    assert_eq!(view.failure(), None);
    shelf
}
