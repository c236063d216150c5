//! What is in the zip.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use quipu_view::{FileTree, FileView, WinkView};
use zip::ZipArchive;

use super::runs;

fn unpacked(zip: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(zip)).expect("it is a zip");
    let mut files = BTreeMap::new();
    for n in 0..archive.len() {
        let mut file = archive.by_index(n).expect("it has so many files");
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).expect("it is whole");
        files.insert(file.name().expect("it has a name").into_owned(), bytes);
    }
    files
}

#[test]
fn a_bundle_holds_what_its_view_put_down() {
    for (name, run_id) in runs::ALL {
        let packed = runs::packed(name);
        let paths: Vec<&str> = packed.0.keys().map(String::as_str).collect();
        assert_eq!(paths, [format!("{run_id}.zip")], "{name}");

        let mut loose = FileTree::default();
        let mut view = WinkView::new();
        runs::events(name).iter().for_each(|event| view.add(event, &mut loose));
        view.finish(&mut loose);
        let loose: BTreeMap<String, Vec<u8>> = loose
            .0
            .into_iter()
            .map(|(path, bytes)| {
                let path = path.strip_prefix(&format!("{run_id}/")).expect("one folder a run");
                (path.to_owned(), bytes)
            })
            .collect();
        assert_eq!(unpacked(&packed.0[paths[0]]), loose, "{name}");
    }
}

#[test]
fn the_same_run_gives_the_same_bundle() {
    for (name, _) in runs::ALL {
        assert_eq!(runs::packed(name), runs::packed(name), "{name}");
    }
}

#[test]
fn a_bundle_is_dated_by_its_run() {
    let packed = runs::packed("workflow");
    let zip = packed.0.values().next().expect("there is one");
    let mut archive = ZipArchive::new(Cursor::new(zip)).expect("it is a zip");
    let file = archive.by_name("debug_bundle/manifest.json").expect("every bundle has one");
    let date = file.last_modified().expect("it has a date");
    assert_eq!((date.year(), date.month(), date.day(), date.hour()), (2026, 3, 1, 10));
}

#[test]
fn a_run_without_events_leaves_no_bundle() {
    let mut shelf = FileTree::default();
    let mut view = quipu_export::Bundled::new(WinkView::new());
    view.finish(&mut shelf);
    assert_eq!(shelf, FileTree::default());
    assert_eq!(view.failure(), None);
}
