//! Takes over the files of other recorders, so that nobody starts empty.
//!
//! The way of a record: [`find`] tells which runs a path holds and whose they are; a `Folder` gives
//! the bytes of their files, from a directory or from an archive; one file or folder per system turns
//! them into drafts; a teller gives each draft its origin, keeps starts and ends in pairs, and leaves
//! out what the journal holds already. Nothing here writes anywhere but through the recorder.
//!
//! What the journal holds decides: each event says which bytes of which file it was made from, so an
//! import that was killed is gone on with, and a run that has grown gets the rest.

mod awf;
mod detect;
mod documents;
mod error;
mod flow_studio;
mod folder;
mod identity;
mod journal;
mod kgent;
mod marks;
mod pairs;
mod record;
mod tally;
mod teller;
mod wink;
mod zipped;

use std::path::{Path, PathBuf};

use quipu_event::{Draft, RunId};
use quipu_journal::{Layout, Options};
use serde::Serialize;

pub use error::ImportError;

use folder::Folder;
use journal::Journal;
use teller::{Sink, Teller};

/// A recorder whose files are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum System {
    /// AWF: one transcript a run.
    Awf,
    /// Flow Studio: a folder of flows, steps and receipts.
    FlowStudio,
    /// kgent: a folder with an event log and a human-readable transcript.
    Kgent,
    /// WINK: a debug bundle.
    Wink,
}

impl System {
    /// Every system, in the order in which they are listed.
    pub const ALL: [System; 4] = [System::Awf, System::FlowStudio, System::Kgent, System::Wink];

    /// Returns the name under which an imported run is labelled.
    pub fn name(self) -> &'static str {
        match self {
            System::Awf => "awf",
            System::FlowStudio => "flow-studio",
            System::Kgent => "kgent",
            System::Wink => "wink",
        }
    }

    /// Returns what its files look like, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            System::Awf => "AWF transcripts (<run>.jsonl)",
            System::FlowStudio => {
                "Flow Studio runs (a folder with <flow>/llm, <flow>/receipts, events.jsonl, meta.json)"
            }
            System::Kgent => "kgent runs (a folder with events.jsonl, transcript.md, run.json)",
            System::Wink => "WINK debug bundles (.zip, or the unpacked debug_bundle folder)",
        }
    }
}

/// A foreign run that was found.
#[derive(Debug)]
pub struct Found {
    system: System,
    path: PathBuf,
    folder: Folder,
    /// Which run of the folder's files, where they hold several.
    only: Option<String>,
}

impl Found {
    /// Returns whose it is.
    pub fn system(&self) -> System {
        self.system
    }

    /// Returns where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// How an import goes about its work.
#[derive(Clone, Default)]
pub struct Request {
    /// How the recorder works, the mask included.
    pub options: Options,
    /// Find out what would be done, and do nothing.
    pub dry_run: bool,
}

/// What became of a foreign run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Done {
    /// It is a run of ours now.
    Imported,
    /// It was here in part; the rest was added.
    Extended,
    /// All of it was here.
    AlreadyThere,
}

/// Something in the foreign files that could not be read as it should.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file, as it is called within the run.
    pub file: String,
    /// The line, from 1, where the file has lines.
    pub line: Option<u64>,
    /// What is wrong.
    pub what: String,
}

/// What an import of one run came to.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Whose it was.
    pub system: System,
    /// Where it lay.
    pub path: PathBuf,
    /// What it was called there.
    pub foreign_id: String,
    /// What it is called here.
    pub run_id: RunId,
    /// What became of it.
    pub done: Done,
    /// How many events were added, or would be.
    pub added: u64,
    /// How many events the run has now, or would have.
    pub events: u64,
    /// What could not be read as it should; the bytes are kept all the same.
    pub problems: Vec<Problem>,
    /// How many problems there were beyond those listed.
    pub more_problems: u64,
}

/// Finds the foreign runs at `path`: a file, the folder of a run, or a folder that holds some.
///
/// Fails when there is nothing that is known, or when the disk refuses.
pub fn find(path: &Path) -> Result<Vec<Found>, ImportError> {
    detect::find(path)
}

/// Makes a run of ours of a foreign one, or adds what is new of it.
///
/// Fails when the disk refuses, or when somebody else writes the run; what was recorded until then
/// stays, and the next import goes on behind it.
pub fn import(layout: &Layout, found: &Found, request: &Request) -> Result<Outcome, ImportError> {
    let story = story(found.system, &found.folder, found.only.as_deref())?;
    let identity = identity::choose(layout, found, &story, &request.options)?;
    let journal = Journal::look(layout, identity, request)?;
    let run_id = journal.run_id().clone();
    let mut teller = Teller::new(&story, &found.path, Sink::Journal(Box::new(journal)));
    teller.map_ids(layout, found.system);
    tell(found.system, &found.folder, &story, &mut teller)?;
    let told = teller.finish()?;
    Ok(Outcome {
        system: found.system,
        path: found.path.clone(),
        foreign_id: story.id,
        run_id,
        done: told.done,
        added: told.added,
        events: told.events,
        problems: told.problems,
        more_problems: told.more_problems,
    })
}

/// Returns the events that `files` of `system` would become, and what is wrong with them.
///
/// Touches no disk. Files are named as they would be within the run's folder.
pub fn rehearse(
    system: System,
    files: Vec<(String, Vec<u8>)>,
) -> Result<(Vec<Draft>, Vec<Problem>), ImportError> {
    let folder = Folder::in_memory(files);
    let story = story(system, &folder, None)?;
    let mut teller = Teller::new(&story, Path::new(""), Sink::List(Vec::new()));
    tell(system, &folder, &story, &mut teller)?;
    let told = teller.finish()?;
    Ok((told.drafts, told.problems))
}

/// What must be known of a run before its first event.
#[derive(Clone, Debug, Default)]
struct Story {
    /// What it is called there.
    id: String,
    /// The run that called it.
    parent: Option<String>,
    /// The beginning of our run; labels are completed by the teller.
    started: quipu_event::payload::RunStarted,
    /// Whose it is, for the label.
    system: &'static str,
    /// When it began.
    at: Option<quipu_event::Timestamp>,
}

fn story(system: System, folder: &Folder, only: Option<&str>) -> Result<Story, ImportError> {
    let story = match system {
        System::Awf => awf::story(folder, only),
        System::FlowStudio => flow_studio::story(folder),
        System::Kgent => kgent::story(folder),
        System::Wink => wink::story(folder),
    }?;
    Ok(Story { system: system.name(), ..story })
}

fn tell(
    system: System,
    folder: &Folder,
    story: &Story,
    teller: &mut Teller,
) -> Result<(), ImportError> {
    folder.problems().iter().for_each(|problem| teller.problem(problem.clone()));
    match system {
        System::Awf => awf::tell(folder, story, teller),
        System::FlowStudio => flow_studio::tell(folder, story, teller),
        System::Kgent => kgent::tell(folder, story, teller),
        System::Wink => wink::tell(folder, story, teller),
    }
}
