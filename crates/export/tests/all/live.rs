//! Views while a run goes on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quipu_event::payload::Status;
use quipu_event::{Draft, Timestamp};
use quipu_export::{Existing, ExportOptions, LAYOUTS, LayoutEntry, LiveView};
use quipu_testkit::homes::files_below;
use quipu_testkit::{TestStorage, complete_run, run_completed, run_id, run_started};

use crate::exporting::export;

fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = files_below(folder).into_iter();
    files
        .map(|file| {
            let bytes = std::fs::read(&file).unwrap();
            (file.strip_prefix(folder).unwrap().to_owned(), bytes)
        })
        .collect()
}

#[test]
fn a_view_while_a_run_goes_on_and_an_export_afterwards_are_the_same_files() {
    for layout in LAYOUTS {
        let storage = TestStorage::new();
        let (live, after) = (storage.dir().join("live"), storage.dir().join("after"));
        let view = LiveView::begin(
            &storage.layout,
            &run_id("r"),
            layout,
            ExportOptions::new(&live),
            Existing::Refuse,
            None,
        );
        let view = view.unwrap();
        let recorder = storage.create("r");
        for draft in complete_run(&run_id("child")) {
            recorder.record(draft).unwrap();
        }
        let child = storage.create_child("child", "r");
        child.record(run_started("child")).unwrap();
        child.record(run_completed("child", Status::Failed)).unwrap();
        let seen = view.finish().unwrap();
        let (told, written) = export(&storage, "r", layout.name, &after, None);
        assert_eq!(contents(&live), contents(&after), "{}", layout.name);
        assert_eq!(seen.written.files, written.files, "{}", layout.name);
        let lost: u64 = told.iter().map(|run| run.losses.total()).sum();
        assert_eq!(seen.losses.total(), lost, "{}", layout.name);
    }
}

#[test]
fn a_view_that_cannot_be_written_is_told_and_stops_nobody() {
    let storage = TestStorage::new();
    let out = storage.dir().join("out");
    std::fs::create_dir_all(out.join("transcripts/r.jsonl")).unwrap();
    let quipu = LayoutEntry::find("quipu").unwrap();
    let begin = |existing| {
        let options = ExportOptions::new(&out);
        LiveView::begin(&storage.layout, &run_id("r"), quipu, options, existing, None)
    };
    let view = begin(Existing::Replace).unwrap();
    storage.record("r", [run_started("r"), run_completed("r", Status::Succeeded)]);
    assert!(view.finish().is_err());
    assert_eq!(storage.events("r").len(), 2);
}

/// Begins to write `run` in the layout `to`.
fn begin(storage: &TestStorage, run: &str, to: &str, out: &Path, existing: Existing) -> LiveView {
    let to = LayoutEntry::find(to).unwrap();
    let (layout, run) = (&storage.layout, run_id(run));
    LiveView::begin(layout, &run, to, ExportOptions::new(out), existing, None).unwrap()
}

/// Begins to write pages of `run`.
fn pages(storage: &TestStorage, run: &str, out: &Path) -> LiveView {
    begin(storage, run, "html", out, Existing::Refuse)
}

#[test]
fn a_page_shows_a_run_that_goes_on() {
    let storage = TestStorage::new();
    let out = storage.dir().join("out");
    let view = pages(&storage, "r", &out);
    let recorder = storage.create("r");
    recorder.record(run_started("a name of its own")).unwrap();
    let page = out.join("r.html");
    let is_there =
        || std::fs::read_to_string(&page).is_ok_and(|page| page.contains("a name of its own"));
    let begun = std::time::Instant::now();
    while !is_there() && begun.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(is_there(), "the page has no event before the run has ended");
    recorder.record(run_completed("a name of its own", Status::Succeeded)).unwrap();
    view.finish().unwrap();
}

#[test]
fn a_list_of_other_runs_stays_as_it_is() {
    let storage = TestStorage::new();
    let out = storage.dir().join("out");
    let mut lists = Vec::new();
    for run in ["first", "second"] {
        let view = pages(&storage, run, &out);
        storage.record(run, [run_started(run), run_completed(run, Status::Succeeded)]);
        let seen = view.finish().unwrap();
        assert_eq!(seen.keeps_index, run == "second");
        assert!(out.join(format!("{run}.html")).exists());
        lists.push(std::fs::read(out.join("index.html")).unwrap());
    }
    assert_eq!(lists[0], lists[1]);
}

#[test]
fn a_trail_that_all_runs_share_is_added_to() {
    let storage = TestStorage::new();
    let out = storage.dir().join("out");
    let ended = |run| [run_started(run), run_completed(run, Status::Succeeded)];
    for run in ["first", "second"] {
        let view = begin(&storage, run, "awf", &out, Existing::Refuse);
        storage.record(run, ended(run));
        view.finish().unwrap();
        assert!(out.join(format!("storage/transcripts/{run}.jsonl")).exists());
    }
    // A run that goes on is written again from its beginning.
    let view = begin(&storage, "first", "awf", &out, Existing::Replace);
    let (recorder, _) = storage.reopen("first").unwrap();
    for draft in ended("first") {
        let later = Some(Timestamp::from_micros(2_000_000_000_000_000));
        recorder.record(Draft { timestamp: later, ..draft }).unwrap();
    }
    drop(recorder);
    view.finish().unwrap();
    let trail = std::fs::read_to_string(out.join("storage/audit.jsonl")).unwrap();
    let runs = trail.lines().map(|line| {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        entry["execution_id"].as_str().unwrap().to_owned()
    });
    let expected = ["first", "first", "second", "second", "first", "first"];
    assert_eq!(runs.collect::<Vec<_>>(), expected);
}
