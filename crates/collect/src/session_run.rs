//! The run that a session is recorded as: begun, gone on with and ended around its events.
//!
//! The transcript is opened with the first event that it does not hold yet, so that looking at a
//! session that has not changed leaves its transcript untouched.

use std::fs;
use std::path::Path;

use quipu_event::payload::{
    Agent, Counts, Payload, RunCompleted, RunKind, RunStarted, Status, TokenCounts,
};
use quipu_event::{Draft, Kind, RunIdentity, Timestamp};
use quipu_journal::{RecordError, Recorder};

use crate::error::CollectError;
use crate::history::{History, note_count};
use crate::marks;
use crate::plan::Session;
use crate::store::Store;

/// The label of a run that was taken up again after its end.
const RESUMED: &str = "resumed";

/// A session's run.
pub(crate) struct SessionRun {
    store: Store,
    identity: RunIdentity,
    provider: &'static str,
    session: String,
    /// Labels that collecting adds to what the agent says of itself.
    labels: Vec<(String, String)>,
    recorder: Option<Recorder>,
    /// The number of the transcript's last line when it was read.
    last_seq: u64,
    started: Option<RunStarted>,
    /// How it ended last, if it has ended, and whether nothing came since.
    end: Option<RunCompleted>,
    has_ended: bool,
    usage: TokenCounts,
    counts: Counts,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    recorded: u64,
}

impl SessionRun {
    /// Makes the run of `session`, of which the transcript holds `history`.
    pub(crate) fn new(store: &Store, session: &Session, history: &History) -> Self {
        SessionRun {
            store: store.clone(),
            identity: RunIdentity { run_id: session.run_id.clone(), parent_run_id: None },
            provider: session.provider.name,
            session: session.session.clone(),
            labels: Vec::new(),
            recorder: None,
            last_seq: history.last_seq,
            started: history.started.clone(),
            end: history.end.clone(),
            has_ended: history.has_ended,
            usage: history.usage,
            counts: history.counts.clone(),
            first: history.first,
            last: history.last,
            recorded: 0,
        }
    }

    /// Adds a label to the run's beginning, unless that is told already.
    pub(crate) fn label(&mut self, name: &str, value: &str) {
        self.labels.push((name.to_owned(), value.to_owned()));
    }

    /// Tells whether secrets are hidden, so that what is recorded is not what was said.
    pub(crate) fn is_masked(&self) -> bool {
        self.store.options.mask.is_some()
    }

    /// Returns how many events have been recorded.
    pub(crate) fn recorded(&self) -> u64 {
        self.recorded
    }

    /// Returns the tokens of all its events.
    pub(crate) fn usage(&self) -> &TokenCounts {
        &self.usage
    }

    /// Records what an agent's file says. `from_main` tells whether the main agent speaks.
    pub(crate) fn record(&mut self, draft: Draft, from_main: bool) -> Result<(), CollectError> {
        let draft = match draft.kind {
            Kind::RunStarted if from_main && self.started.is_none() => self.begin(draft),
            Kind::RunStarted => marks::source_started(draft),
            _ => draft,
        };
        self.open()?;
        if draft.kind != Kind::RunStarted && self.started.is_none() {
            let named = RunStarted::new(self.provider, RunKind::Session);
            let provider = Some(self.provider.to_owned());
            let agent = Some(Agent { provider, ..Agent::default() });
            let started = RunStarted { agent, session_id: Some(self.session.clone()), ..named };
            let beginning = self.begin(date(run_started(&started), draft.timestamp));
            self.write(beginning)?;
        } else if self.has_ended {
            let again = self.again(draft.timestamp);
            self.write(again)?;
        }
        self.write(draft)
    }

    /// Takes how the main agent's file ends, for when the run does.
    pub(crate) fn take_end(&mut self, draft: &Draft) {
        if let Some(Payload::RunCompleted(completed)) = marks::payload(draft) {
            self.end = Some(*completed);
            self.last = self.last.max(draft.timestamp);
        }
    }

    /// Ends the run if it goes on, and lets go of its transcript.
    pub(crate) fn close(&mut self) -> Result<(), CollectError> {
        if self.started.is_some() && !self.has_ended {
            self.open()?;
            let end = self.ending();
            // What is short enough to be an end neither nests nor has keys of its own.
            if let Ok(draft) = Draft::new(Kind::RunCompleted, &end) {
                self.write(date(draft, self.last))?;
            }
        }
        if let Some(recorder) = self.recorder.take() {
            recorder.close()?;
        }
        Ok(())
    }

    fn ending(&self) -> RunCompleted {
        let started = self.started.clone().unwrap_or_default();
        let RunCompleted { status, error, result, .. } = self.end.clone().unwrap_or_default();
        let counts = Counts { events: self.counts.events + 1, ..self.counts.clone() };
        let between = self.last.zip(self.first).map(|(last, first)| last.millis_since(first));
        RunCompleted {
            name: started.name,
            kind: started.kind,
            status: status.or(Some(Status::Succeeded)),
            error,
            result,
            duration_ms: between,
            usage: Some(self.usage).filter(|usage| !usage.is_empty()),
            counts: Some(counts),
        }
    }

    /// Makes `draft` the beginning of the run, with what collecting knows of it.
    fn begin(&mut self, draft: Draft) -> Draft {
        let Some(mut started) = marks::started(&draft) else { return draft };
        let project = started.cwd.as_deref().map(Path::new).and_then(Path::file_name);
        if let Some(project) = project.and_then(|name| name.to_str()) {
            project.clone_into(&mut started.name);
        }
        // A file may hold what others said before; the session is the one it is named after.
        started.session_id = Some(self.session.clone());
        if !self.labels.is_empty() {
            let labels = started.labels.get_or_insert_default();
            labels.extend(self.labels.iter().cloned());
        }
        let Draft { timestamp, source, origin, raw, .. } = draft;
        let draft = Draft { timestamp, source, origin, raw, ..run_started(&started) };
        self.started = Some(started);
        draft
    }

    /// Makes the beginning of a run that goes on after its end.
    fn again(&self, time: Option<Timestamp>) -> Draft {
        let mut started = self.started.clone().unwrap_or_default();
        started.labels.get_or_insert_default().insert(RESUMED.to_owned(), "true".to_owned());
        date(run_started(&started), time)
    }

    fn open(&mut self) -> Result<(), CollectError> {
        if self.recorder.is_some() {
            return Ok(());
        }
        let options = self.store.options.clone();
        let layout = &self.store.layout;
        let run = &self.identity.run_id;
        let recorder = if layout.transcript(run).exists() {
            let (recorder, found) = Recorder::take_up(layout, &self.identity, options)?;
            // Until now nobody was kept from writing to it.
            if found.last_seq != self.last_seq {
                return Err(CollectError::Overtaken { run: run.clone() });
            }
            recorder
        } else {
            let recorder = Recorder::create(layout, self.identity.clone(), options)?;
            // Between its making and its locking somebody else may have found it empty.
            if fs::metadata(layout.transcript(run)).is_ok_and(|found| found.len() > 0) {
                return Err(CollectError::Overtaken { run: run.clone() });
            }
            recorder
        };
        self.recorder = Some(recorder);
        Ok(())
    }

    fn write(&mut self, draft: Draft) -> Result<(), CollectError> {
        let Some(recorder) = &self.recorder else { return Ok(()) };
        let (kind, time) = (draft.kind.clone(), draft.timestamp);
        if kind == Kind::Usage
            && let Some(Payload::Usage(usage)) = marks::payload(&draft)
        {
            self.usage.add(&usage.tokens());
        }
        match recorder.record(draft) {
            // Foreign values are bounded where they are taken over, so this is not expected.
            Err(RecordError::TooDeep) => {
                recorder.record(Draft::unknown(&[], None, "it nests too deep"))?
            }
            recorded => recorded?,
        };
        note_count(&mut self.counts, &kind);
        self.has_ended = kind == Kind::RunCompleted;
        self.first = self.first.or(time);
        self.last = self.last.max(time);
        self.recorded += 1;
        Ok(())
    }
}

fn run_started(started: &RunStarted) -> Draft {
    // Names and labels neither nest nor have keys that are not text.
    Draft::new(Kind::RunStarted, started)
        .unwrap_or_else(|_| Draft::with_json(Kind::RunStarted, quipu_event::Json::default()))
}

fn date(draft: Draft, time: Option<Timestamp>) -> Draft {
    Draft { timestamp: time.or(draft.timestamp), ..draft }
}
