//! Tells a foreign run's events, one after the other, to whoever takes them.
//!
//! Gives each its origin and its exact bytes once, a time, and its counterpart where one is missing;
//! leaves out what is there already; and keeps the run's end for the end.

use std::path::Path;

use quipu_event::payload::{RunCompleted, RunStarted, Status};
use quipu_event::{Draft, EncodeError, Kind, Origin, RunId, Timestamp};
use quipu_journal::Layout;
use serde_json::json;

use super::error::ImportError;
use super::identity::{self, FOREIGN_ID, FROM, PATH};
use super::journal::Journal;
use super::marks::Marks;
use super::pairs::{NO_END, Pairs};
use super::record::Record;
use super::tally::Tally;
use super::{Done, Problem, Story, System};

/// So many problems of one run are kept; the rest are counted.
const PROBLEMS_KEPT: usize = 1000;

/// Who takes the events.
pub(super) enum Sink {
    /// A run of ours.
    Journal(Box<Journal>),
    /// A list.
    List(Vec<Draft>),
}

/// See the top of this file.
pub(super) struct Teller {
    sink: Sink,
    started: RunStarted,
    began: Option<Timestamp>,
    latest: Option<Timestamp>,
    marks: Marks,
    /// What is open in a list; a journal knows for itself.
    pairs: Pairs,
    tally: Tally,
    end: Option<End>,
    problems: Vec<Problem>,
    more_problems: u64,
    ids: Option<(Layout, System)>,
}

/// The run's end, until all else is told.
struct End {
    draft: Draft,
    completed: RunCompleted,
    is_known: bool,
}

/// What was told.
pub(super) struct Told {
    pub(super) done: Done,
    pub(super) added: u64,
    pub(super) events: u64,
    pub(super) problems: Vec<Problem>,
    pub(super) more_problems: u64,
    pub(super) drafts: Vec<Draft>,
}

impl Teller {
    pub(super) fn new(story: &Story, path: &Path, sink: Sink) -> Self {
        let mut started = story.started.clone();
        let labels = started.labels.get_or_insert_default();
        labels.insert(FROM.to_owned(), story.system.to_owned());
        labels.insert(FOREIGN_ID.to_owned(), story.id.clone());
        if !path.as_os_str().is_empty() {
            labels.insert(PATH.to_owned(), identity::shown(path));
        }
        Teller {
            sink,
            started,
            began: story.at,
            latest: story.at,
            marks: Marks::default(),
            pairs: Pairs::default(),
            tally: Tally::default(),
            end: None,
            problems: Vec::new(),
            more_problems: 0,
            ids: None,
        }
    }

    /// Lets other foreign runs be named as they are here.
    pub(super) fn map_ids(&mut self, layout: &Layout, system: System) {
        self.ids = Some((layout.clone(), system));
    }

    /// Returns what another foreign run is called here.
    pub(super) fn run_called(&self, foreign: &str) -> Option<RunId> {
        match &self.ids {
            Some((layout, system)) => identity::run_id(layout, *system, foreign).ok(),
            None => RunId::parse(foreign).ok(),
        }
    }

    /// Begins the run, with the record that says so if there is one.
    pub(super) fn start(&mut self, record: Option<&Record<'_>>) -> Result<(), ImportError> {
        let draft = Draft::new(Kind::RunStarted, &self.started);
        if record.is_none() && self.has_started() {
            return Ok(());
        }
        match draft {
            Ok(draft) => self.tell(record, Ok(draft)),
            // Labels and names nest no deeper than they should, but inputs may.
            Err(_) => {
                self.started.inputs = None;
                self.tell(record, Draft::new(Kind::RunStarted, &self.started))
            }
        }
    }

    /// Says that the run was accepted. Who it is stands there too: nothing may come after it.
    pub(super) fn created(&mut self, record: &Record<'_>) -> Result<(), ImportError> {
        let RunStarted { name, kind, labels, .. } = &self.started;
        let facts = json!({ "name": name, "kind": kind, "labels": labels });
        self.tell(Some(record), Draft::new(Kind::RunCreated, &facts))
    }

    /// Tells the next event, made from `record` if any. One that cannot be a line becomes `unknown`.
    pub(super) fn tell(
        &mut self,
        record: Option<&Record<'_>>,
        draft: Result<Draft, EncodeError>,
    ) -> Result<(), ImportError> {
        let draft = match (draft, record) {
            (Ok(draft), _) if !draft.payload.nests_too_deep() => draft,
            (_, Some(record)) => return self.unknown(record, "nests too deep"),
            (_, None) => return Ok(()),
        };
        match self.dress(record, draft) {
            Some(draft) => self.hand_on(draft),
            None => Ok(()),
        }
    }

    /// Tells a record that was not understood, and that this is a problem.
    pub(super) fn unknown(&mut self, record: &Record<'_>, reason: &str) -> Result<(), ImportError> {
        self.problem(Problem {
            file: record.file.to_owned(),
            line: record.line,
            what: reason.to_owned(),
        });
        let draft = Draft::unknown(&[], None, reason);
        match self.dress(Some(record), Draft { raw: None, ..draft }) {
            Some(draft) => self.hand_on(draft),
            None => Ok(()),
        }
    }

    /// Keeps the run's end until all else is told. The last one counts.
    pub(super) fn end(
        &mut self,
        record: Option<&Record<'_>>,
        completed: RunCompleted,
        at: Option<Timestamp>,
    ) -> Result<(), ImportError> {
        if let Some(End { draft, .. }) = self.end.take()
            && draft.origin.is_some()
        {
            // Two records say that it ended: the first of them stays as a fact.
            let facts = draft.payload.decode().unwrap_or_default();
            if let Ok(system) = Draft::system("run_completed", facts) {
                self.hand_on(Draft { kind: system.kind, payload: system.payload, ..draft })?;
            }
        }
        let mut draft = Draft::with_json(Kind::RunCompleted, super::record::json(None));
        draft.timestamp = at;
        let latest = self.latest;
        let dressed = self.dress(record, draft.clone());
        // An end that is early or late dates nothing but itself.
        self.latest = latest;
        let is_known = dressed.is_none();
        self.end = Some(End { draft: dressed.unwrap_or(draft), completed, is_known });
        Ok(())
    }

    /// Notes something that is wrong.
    pub(super) fn problem(&mut self, problem: Problem) {
        if self.problems.len() < PROBLEMS_KEPT {
            self.problems.push(problem);
        } else {
            self.more_problems += 1;
        }
    }

    /// Says, if it is so, that a file of lines does not end in a line feed.
    pub(super) fn check_last_line(&mut self, file: &str, bytes: &[u8]) -> Result<(), ImportError> {
        if bytes.is_empty() || bytes.ends_with(b"\n") {
            return Ok(());
        }
        let end = Record { file, line: None, offset: bytes.len() as u64, bytes: b"" };
        self.tell(Some(&end), Draft::system("no_line_feed", json!({ "file": file })))
    }

    /// Begins a file of lines. One that was written anew since an earlier import is told anew as a
    /// whole, so that it stands somewhere in one piece.
    pub(super) fn begin_file(&mut self, file: &str, bytes: &[u8]) {
        let Sink::Journal(journal) = &mut self.sink else { return };
        let is_told_otherwise =
            !journal.held.marks.agree_with(file, bytes, |record| journal.as_kept(record));
        if is_told_otherwise && !bytes.is_empty() {
            journal.held.marks.forget(file);
        }
    }

    /// Ends the run and returns what was told.
    pub(super) fn finish(mut self) -> Result<Told, ImportError> {
        let is_complete = match &self.sink {
            Sink::Journal(journal) => {
                let end_is_known = self.end.as_ref().is_none_or(|end| end.is_known);
                journal.is_untouched() && journal.held.has_ended && end_is_known
            }
            Sink::List(_) => false,
        };
        if !is_complete {
            self.close_run()?;
        }
        let mut told = Told {
            done: Done::Imported,
            added: 0,
            events: 0,
            problems: self.problems,
            more_problems: self.more_problems,
            drafts: Vec::new(),
        };
        match self.sink {
            Sink::Journal(mut journal) => {
                journal.close()?;
                told.added = journal.added;
                told.events = journal.held.tally.events();
                told.done = match (journal.existed(), journal.is_untouched()) {
                    (_, true) => Done::AlreadyThere,
                    (true, false) => Done::Extended,
                    (false, false) => Done::Imported,
                };
            }
            Sink::List(drafts) => {
                (told.added, told.events) = (drafts.len() as u64, drafts.len() as u64);
                told.drafts = drafts;
            }
        }
        Ok(told)
    }

    fn close_run(&mut self) -> Result<(), ImportError> {
        if let Sink::Journal(journal) = &mut self.sink {
            journal.open()?;
        }
        if !self.has_started() {
            self.start(None)?;
        }
        let end = self.end.take();
        let at = self.latest;
        for draft in self.open_pairs().close_all(at) {
            self.write(draft)?;
        }
        let (draft, completed) = match end {
            Some(End { draft, completed, is_known }) => {
                // Its record stands there already, before what has come since.
                let draft =
                    if is_known { Draft { raw: None, origin: None, ..draft } } else { draft };
                (draft, completed)
            }
            None => {
                let draft = Draft::with_json(Kind::RunCompleted, super::record::json(None));
                let (status, error) = (Some(Status::Aborted), Some(NO_END.to_owned()));
                (draft, RunCompleted { status, error, ..RunCompleted::default() })
            }
        };
        self.begin_again()?;
        let at = draft.timestamp.or(self.latest);
        let draft = Draft { timestamp: at, ..draft };
        let mut draft = self.summed_up(draft, completed);
        // Its bytes are masked already.
        let (origin, raw) = (draft.origin.take(), draft.raw.take());
        let draft = Draft { origin, raw, ..self.masked(draft) };
        self.open_pairs().fit(draft).into_iter().try_for_each(|draft| self.write(draft))
    }

    /// Fills in what the last line says of all others.
    fn summed_up(&self, draft: Draft, completed: RunCompleted) -> Draft {
        let (tally, masked, began) = match &self.sink {
            Sink::Journal(journal) => {
                (&journal.held.tally, journal.masked(), journal.held.began.or(self.began))
            }
            Sink::List(_) => (&self.tally, 0, self.began),
        };
        let lasted = began.zip(draft.timestamp).map(|(began, ended)| ended.millis_since(began));
        let completed = RunCompleted {
            name: self.started.name.clone(),
            kind: self.started.kind.clone(),
            duration_ms: completed.duration_ms.or(lasted),
            usage: tally.usage(),
            counts: Some(tally.counts(masked)),
            ..completed
        };
        let plain = RunCompleted { result: None, ..completed.clone() };
        let made = Draft::new(Kind::RunCompleted, &completed)
            .or_else(|_| Draft::new(Kind::RunCompleted, &plain));
        match made {
            Ok(made) => Draft { payload: made.payload, ..draft },
            Err(_) => draft,
        }
    }

    /// Gives a draft its origin, bytes and time; nothing if it is there already.
    fn dress(&mut self, record: Option<&Record<'_>>, mut draft: Draft) -> Option<Draft> {
        draft.timestamp = draft.timestamp.or(self.latest);
        self.latest = draft.timestamp;
        self.began = self.began.or(draft.timestamp);
        let Some(record) = record else { return Some(self.masked(draft)) };
        let (offset, len) = (record.offset, record.bytes.len() as u64);
        let file = record.file.to_owned();
        let origin = Origin::new(file, offset, len);
        let draft = draft.from_origin(origin.clone());
        // Nothing is not worth keeping.
        let draft = if record.bytes.is_empty() { draft } else { draft.with_raw(record.bytes) };
        let (mut draft, hidden) = match &self.sink {
            Sink::Journal(journal) => journal.mask(draft),
            Sink::List(_) => (draft, 0),
        };
        let place = draft.origin.as_deref().unwrap_or(&origin);
        let (key, before) = self.marks.add(place, draft.raw.as_ref());
        if let Sink::Journal(journal) = &mut self.sink {
            if before < journal.held.marks.count(key) {
                return None;
            }
            journal.count_masked(hidden);
        }
        if before > 0 {
            draft.raw = None;
        }
        Some(draft)
    }

    fn hand_on(&mut self, draft: Draft) -> Result<(), ImportError> {
        if let Sink::Journal(journal) = &mut self.sink {
            journal.open()?;
        }
        let begins = matches!(draft.kind, Kind::RunStarted | Kind::RunCreated);
        if !begins && !self.has_started() {
            self.start(None)?;
        }
        self.begin_again()?;
        self.open_pairs().fit(draft).into_iter().try_for_each(|draft| self.write(draft))
    }

    /// Takes up a run that had ended before more of it was there.
    fn begin_again(&mut self) -> Result<(), ImportError> {
        let Sink::Journal(journal) = &self.sink else { return Ok(()) };
        if !journal.held.has_started || journal.held.pairs.is_running() {
            return Ok(());
        }
        let mut started = self.started.clone();
        started.labels.get_or_insert_default().insert("resumed".to_owned(), "true".to_owned());
        let Ok(draft) = Draft::new(Kind::RunStarted, &started) else { return Ok(()) };
        let draft = self.masked(Draft { timestamp: self.latest, ..draft });
        self.open_pairs().fit(draft).into_iter().try_for_each(|draft| self.write(draft))
    }

    /// Hides what must be hidden in a draft that was made from nothing.
    fn masked(&mut self, draft: Draft) -> Draft {
        let Sink::Journal(journal) = &mut self.sink else { return draft };
        let (draft, hidden) = journal.mask(draft);
        journal.count_masked(hidden);
        draft
    }

    fn has_started(&self) -> bool {
        match &self.sink {
            Sink::Journal(journal) => journal.held.has_started,
            Sink::List(drafts) => drafts.iter().take(8).any(|d| d.kind == Kind::RunStarted),
        }
    }

    fn open_pairs(&mut self) -> &mut Pairs {
        match &mut self.sink {
            Sink::Journal(journal) => &mut journal.held.pairs,
            Sink::List(_) => &mut self.pairs,
        }
    }

    fn write(&mut self, draft: Draft) -> Result<(), ImportError> {
        match &mut self.sink {
            Sink::Journal(journal) => journal.write(draft),
            Sink::List(drafts) => {
                self.tally.add(&draft.kind, &draft.payload);
                drafts.push(draft);
                Ok(())
            }
        }
    }
}
