//! AWF: a transcript a run, in nearly our own words.
//!
//! Numbers may be out of order or begin again, times carry an offset, messages stand at the name of
//! the workflow instead of their step, and one file may hold several runs.

mod line;

use std::collections::{BTreeMap, HashSet};

use quipu_event::payload::{RunCompleted, RunKind, RunStarted, Status};
use quipu_event::{Draft, Event, Kind, decode_line};
use serde_json::Value;

use super::Story;
use super::error::ImportError;
use super::folder::Folder;
use super::record::{Record, lines, owned};
use super::teller::Teller;

/// Returns the runs in a folder of transcripts, each with the files that speak of it.
pub(super) fn runs(folder: &Folder) -> Result<BTreeMap<String, Vec<String>>, ImportError> {
    let mut runs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, _) in folder.files() {
        let bytes = folder.read(name)?.unwrap_or_default();
        for record in lines(name, &bytes) {
            let Ok(event) = decode_line(record.bytes) else { continue };
            let files = runs.entry(event.run_id.as_str().to_owned()).or_default();
            if files.last().is_none_or(|last| last != name) {
                files.push(name.to_owned());
            }
        }
    }
    Ok(runs)
}

/// Returns what is known of a run before its first event.
pub(super) fn story(folder: &Folder, only: Option<&str>) -> Result<Story, ImportError> {
    let mut story = Story::default();
    let mut workflow = None;
    for (name, _) in folder.files() {
        let bytes = folder.read(name)?.unwrap_or_default();
        for record in lines(name, &bytes) {
            let Ok(event) = decode_line(record.bytes) else { continue };
            let run = event.run_id.as_str();
            if only.is_some_and(|only| only != run) || !story.id.is_empty() && story.id != run {
                continue;
            }
            story.id = run.to_owned();
            story.at = Some(story.at.map_or(event.timestamp, |at| at.min(event.timestamp)));
            let parent = event.parent_run_id.as_ref().map(|parent| parent.as_str().to_owned());
            story.parent = story.parent.or(parent);
            if matches!(event.kind, Kind::MessageUser | Kind::MessageAssistant) {
                workflow = workflow.or(Some(event.path.as_str().to_owned()));
            }
        }
    }
    let workflow = workflow.filter(|workflow| !workflow.is_empty());
    if story.id.is_empty() {
        story.id = "awf".to_owned();
    }
    let name = workflow.unwrap_or_else(|| story.id.clone());
    story.started = RunStarted::new(name, RunKind::Workflow);
    Ok(story)
}

/// Tells the events of the run, in the order of their numbers.
pub(super) fn tell(folder: &Folder, story: &Story, teller: &mut Teller) -> Result<(), ImportError> {
    let names: Vec<_> = folder.files().map(|(name, _)| name.to_owned()).collect();
    let mut files = Vec::new();
    for name in &names {
        files.push((name, folder.read(name)?.unwrap_or_default()));
    }
    // A resumed run goes on in another file, whose name says nothing of the order.
    let beginning = |bytes: &[u8]| {
        lines("", bytes).find_map(|record| decode_line(record.bytes).ok().map(|e| e.timestamp))
    };
    files.sort_by_key(|(name, bytes)| (beginning(bytes), (*name).clone()));
    let is_call = |record: Record<'_>| decode_line(record.bytes).is_ok_and(is_call_of(&story.id));
    let routed = files.iter().any(|(name, bytes)| lines(name, bytes).any(is_call));
    let mut telling = Telling { steps: line::Steps::default(), story, routed };
    for (name, bytes) in &files {
        for entry in in_order(lines(name, bytes).collect(), story) {
            telling.take(&entry, teller)?;
        }
        if is_main(name, bytes, story) {
            teller.check_last_line(name, bytes)?;
        }
    }
    Ok(())
}

fn is_call_of(run: &str) -> impl Fn(Event) -> bool {
    move |event| event.kind == Kind::ToolCall && event.run_id.as_str() == run
}

/// Tells whether the file is the run's own, so that what cannot be read in it belongs to the run.
fn is_main(name: &str, bytes: &[u8], story: &Story) -> bool {
    let first = lines(name, bytes).find_map(|record| decode_line(record.bytes).ok());
    first.is_none_or(|first| first.run_id.as_str() == story.id)
}

/// A line of the run, or one that nobody can read.
enum Entry<'a> {
    Event(Record<'a>, Box<Event>),
    Broken(Record<'a>),
}

/// Sorts lines by number. A number that comes twice begins a new series: the run was resumed.
fn in_order<'a>(records: Vec<Record<'a>>, story: &Story) -> Vec<Entry<'a>> {
    let mut entries = Vec::new();
    let (mut series, mut seen, mut last) = (0_u64, HashSet::new(), 0);
    let first = records.iter().find_map(|record| decode_line(record.bytes).ok());
    let is_main = first.is_none_or(|first| first.run_id.as_str() == story.id);
    for record in records {
        match decode_line(record.bytes) {
            Ok(event) if event.run_id.as_str() == story.id => {
                if !seen.insert(event.seq) {
                    series += 1;
                    seen = HashSet::from([event.seq]);
                }
                last = event.seq;
                entries.push(((series, last), Entry::Event(record, Box::new(event))));
            }
            Ok(_) => {}
            Err(_) if is_main => entries.push(((series, last), Entry::Broken(record))),
            Err(_) => {}
        }
    }
    entries.sort_by_key(|(order, _)| *order);
    entries.into_iter().map(|(_, entry)| entry).collect()
}

struct Telling<'a> {
    steps: line::Steps,
    story: &'a Story,
    /// Whether calls passed the router: then what an agent says of calls is of those.
    routed: bool,
}

impl Telling<'_> {
    fn take(&mut self, entry: &Entry<'_>, teller: &mut Teller) -> Result<(), ImportError> {
        let (record, event) = match entry {
            Entry::Event(record, event) => (record, event),
            Entry::Broken(record) => return teller.unknown(record, "is no transcript line"),
        };
        match event.kind {
            Kind::RunStarted => teller.start(Some(record)),
            Kind::RunCompleted => {
                let payload: Value = event.payload.decode().unwrap_or_default();
                let error = owned(&payload, &["error"]);
                let status = error.as_ref().map_or(Status::Succeeded, |_| Status::Failed);
                let completed =
                    RunCompleted { status: Some(status), error, ..RunCompleted::default() };
                teller.end(Some(record), completed, Some(event.timestamp))
            }
            _ => {
                let child = event.child_run_id.as_ref().map(|child| child.as_str());
                let child = child.and_then(|child| teller.run_called(child));
                let draft = self.steps.draft(event, &self.story.started.name);
                let draft = draft.map(|draft| Draft { child_run_id: child, ..draft });
                let calls = match &draft {
                    Ok(draft) if !self.routed => line::calls(draft),
                    _ => Vec::new(),
                };
                teller.tell(Some(record), draft)?;
                calls.into_iter().try_for_each(|call| teller.tell(Some(record), call))
            }
        }
    }
}
