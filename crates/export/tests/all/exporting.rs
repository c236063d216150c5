//! Which runs are exported, and what is said of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_event::payload::Status;
use quipu_event::{Draft, Event, Kind};
use quipu_export::{
    Existing, ExportOptions, Exported, Exporter, Folder, LayoutEntry, Redaction, Told, Written,
};
use quipu_journal::Reader;
use quipu_testkit::{TestStorage, complete_run, run_completed, run_id, run_started, step_started};
use quipu_view::PriceTable;

/// The prices that come with Quipu.
pub(crate) fn prices() -> Arc<PriceTable> {
    Arc::new(PriceTable::built_in())
}

/// Exports `run` into `out` and returns what was told.
pub(crate) fn export(
    storage: &TestStorage,
    run: &str,
    to: &str,
    out: &Path,
    redaction: Option<Redaction>,
) -> (Vec<Exported>, Written) {
    let to = LayoutEntry::find(to).unwrap();
    let options = ExportOptions::new(out);
    let mut exporter = Exporter::new(&storage.layout, to, options, redaction);
    let mut folder = Folder::staged(out, Existing::Refuse).unwrap();
    let mut told = Vec::new();
    let keep = |one: Told| match one {
        Told::Run(run) => told.push(run),
        Told::Bytes(_) | Told::Missing(_) => {}
    };
    exporter.export(&run_id(run), &mut folder, keep).unwrap();
    exporter.finish(&mut folder);
    (told, folder.commit().unwrap())
}

/// Returns the events in a transcript that was exported.
pub(crate) fn events(path: PathBuf) -> Vec<Event> {
    Reader::open(path).unwrap().map(Result::unwrap).collect()
}

fn calling(child: &str) -> Draft {
    Draft::with_json(Kind::CallWorkflowStarted, quipu_event::Json::null())
        .at("c".into(), 0)
        .calling(run_id(child))
}

#[test]
fn a_run_comes_with_the_runs_it_calls() {
    let storage = TestStorage::new();
    let out = storage.dir().join("out");
    storage.record("child", [run_started("child"), run_completed("child", Status::Succeeded)]);
    storage.record("caller", complete_run(&run_id("child")));
    let (told, written) = export(&storage, "caller", "quipu", &out, None);
    let runs: Vec<_> = told.iter().map(|run| (run.run_id.as_str(), run.root.as_str())).collect();
    assert_eq!(runs, [("caller", "caller"), ("child", "caller")]);
    assert_eq!(written.files, 2);
    assert_eq!(events(out.join("transcripts/caller.jsonl")), storage.events("caller"));
    assert_eq!(events(out.join("transcripts/child.jsonl")), storage.events("child"));
}

#[test]
fn runs_that_call_each_other_in_a_circle_are_exported_once() {
    let storage = TestStorage::new();
    storage.record("a", [run_started("a"), calling("b"), calling("a")]);
    storage.record("b", [run_started("b"), calling("a"), calling("gone")]);
    let (told, written) = export(&storage, "a", "quipu", &storage.dir().join("out"), None);
    assert_eq!(told.len(), 2);
    assert_eq!(written.files, 2);
}

#[test]
fn damaged_lines_are_told_and_the_rest_is_exported() {
    let storage = TestStorage::new();
    storage.record("r", [run_started("r"), step_started("a")]);
    let mut bytes = storage.bytes("r");
    bytes.extend_from_slice(b"not an event\n{\"seq\":3,");
    std::fs::write(storage.path("r"), bytes).unwrap();
    let (told, _) = export(&storage, "r", "quipu", &storage.dir().join("out"), None);
    assert_eq!(told[0].events, 2);
    let lines: Vec<_> = told[0].damage.iter().map(|damage| damage.line).collect();
    assert_eq!(lines, [3, 4]);
}
