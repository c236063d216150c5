//! Tells the recorder of a run: one beginning, what was heard, one end.
//!
//! The agent's own beginning and end are part of the run's. A recorder that refuses is asked no more,
//! and why is told at the end; the agent does not notice.

use std::path::Path;
use std::time::Instant;

use quipu_event::payload::{Agent, Counts, RunCompleted, RunStarted, Status, TokenCounts, Usage};
use quipu_event::{Draft, EncodeError, Json, Kind, Payload, Timestamp};
use quipu_journal::{Clock, Layout, RecordError, Recorder, SystemClock, take_up_notes};
use serde_json::{Map, Value, json};

use super::ending::{Ending, Told};
use super::follow::Followed;
use super::head::DOUBT;

/// A run that is being told.
pub(super) struct Telling {
    recorder: Recorder,
    started: RunStarted,
    began: (Instant, Timestamp),
    /// What waits for the run's beginning to be told.
    waiting: Option<Vec<Draft>>,
    end: Option<Draft>,
    last_error: Option<String>,
    usage: TokenCounts,
    counts: Counts,
    failure: Option<RecordError>,
}

impl Telling {
    /// Tells of a run that begins now. Nothing is recorded yet.
    pub(super) fn new(recorder: Recorder, started: RunStarted) -> Self {
        Telling {
            recorder,
            started,
            began: (Instant::now(), SystemClock.now()),
            waiting: Some(Vec::new()),
            end: None,
            last_error: None,
            usage: TokenCounts::default(),
            counts: Counts::default(),
            failure: None,
        }
    }

    /// Returns when the run began.
    pub(super) fn began(&self) -> Timestamp {
        self.began.1
    }

    /// Returns until when the agent may tell of its session before the run's beginning is recorded.
    pub(super) fn due(&self) -> Option<Instant> {
        self.waiting.as_ref().map(|_| self.began.0 + DOUBT)
    }

    /// Records the run's beginning, with what is known by now.
    pub(super) fn open(&mut self) {
        self.open_with(None);
    }

    /// Takes what the agent said.
    pub(super) fn hear(&mut self, draft: Draft) {
        match draft.kind {
            Kind::RunStarted => return self.session_started(draft),
            Kind::RunCompleted => {
                self.end = Some(draft);
                return;
            }
            Kind::Error => {
                if let Ok(Payload::Error(report)) = Payload::decode(&draft.kind, &draft.payload) {
                    self.last_error = Some(report.message).filter(|message| !message.is_empty());
                }
            }
            _ => {}
        }
        self.open();
        self.record(draft);
    }

    /// Takes what came beside the agent's own words: it does not make the run begin.
    pub(super) fn note(&mut self, draft: Draft) {
        match &mut self.waiting {
            Some(waiting) => waiting.push(draft.dated(SystemClock.now())),
            None => self.record(draft),
        }
    }

    /// Records a fact.
    pub(super) fn note_fact(&mut self, subtype: &str, facts: Value) {
        if let Ok(draft) = Draft::system(subtype, facts) {
            self.note(draft);
        }
    }

    /// Records the run's end and lets go of it. Returns how it ended, and what was not recorded.
    pub(super) fn close(
        mut self,
        ending: &Ending,
        followed: Option<&Followed>,
    ) -> (Status, Option<RecordError>) {
        self.open();
        let draft = self.end.take();
        let said: RunCompleted =
            draft.as_ref().and_then(|end| end.payload.decode().ok()).unwrap_or_default();
        let mut result = match said.result.as_ref().map(Json::decode) {
            Some(Ok(Value::Object(facts))) => facts,
            Some(Ok(other)) => Map::from_iter([("output".to_owned(), other)]),
            _ => Map::new(),
        };
        ending.note(&mut result);
        if let Some(followed) = followed {
            result.insert("session_runs".to_owned(), json!(followed.runs));
            result.insert("note".to_owned(), json!(followed.note));
        }
        let told =
            Told { status: said.status, error: said.error, last_error: self.last_error.take() };
        self.take_up_notes();
        let (status, error) = ending.verdict(&told);
        let usage = said.usage.unwrap_or(self.usage);
        let mut completed = RunCompleted {
            name: self.started.name.clone(),
            kind: self.started.kind.clone(),
            status: Some(status.clone()),
            error,
            result: Json::encode(&result).ok(),
            duration_ms: Some(
                u64::try_from(self.began.0.elapsed().as_millis()).unwrap_or(u64::MAX),
            ),
            usage: Some(usage).filter(|usage| !usage.is_empty()),
            counts: Some(self.final_counts()),
        };
        let raw = draft.and_then(|draft| draft.raw);
        let end = |completed: &RunCompleted| {
            let draft = Draft::new(Kind::RunCompleted, completed)?;
            Ok::<_, EncodeError>(Draft { raw: raw.clone(), ..draft })
        };
        if let (Ok(draft), Some(counts)) = (end(&completed), &mut completed.counts) {
            // A mask that fails is told when the line itself is recorded.
            counts.masked += self.recorder.would_mask(&draft).unwrap_or_default();
        }
        if let Ok(draft) = end(&completed) {
            self.record(draft);
        }
        if let Err(failure) = self.recorder.close() {
            self.failure.get_or_insert(failure);
        }
        (status, self.failure)
    }

    fn final_counts(&self) -> Counts {
        let label = self.started.agent.as_ref().and_then(Agent::label);
        Counts {
            events: self.recorder.last_seq() + 1,
            masked: self.recorder.stats().masked,
            agents: label.map(|label| (label.to_owned(), 1)).into_iter().collect(),
            ..self.counts.clone()
        }
    }

    fn session_started(&mut self, draft: Draft) {
        let theirs: RunStarted = draft.payload.decode().unwrap_or_default();
        if self.waiting.is_some() {
            self.started.session_id = theirs.session_id;
            self.started.agent = theirs.agent.or(self.started.agent.take());
            return self.open_with(Some(draft));
        }
        let agent = theirs.agent.unwrap_or_default();
        let mut facts = json!({
            "provider": agent.provider,
            "adapter": agent.adapter,
            "session_id": theirs.session_id,
            "model": agent.model,
            "cwd": theirs.cwd,
            "cli_version": agent.cli_version,
        });
        if let Value::Object(facts) = &mut facts {
            facts.retain(|_, fact| !fact.is_null());
        }
        self.started.agent = Some(agent);
        if let Ok(fact) = Draft::system("session_started", facts) {
            self.record(Draft { kind: fact.kind, payload: fact.payload, ..draft });
        }
    }

    /// Records the run's beginning with the bytes of the agent's own, and what waited for it.
    fn open_with(&mut self, theirs: Option<Draft>) {
        let Some(waiting) = self.waiting.take() else { return };
        if let Ok(draft) = Draft::new(Kind::RunStarted, &self.started) {
            let raw = theirs.and_then(|theirs| theirs.raw);
            self.record(Draft { raw, ..draft.dated(self.began.1) });
        }
        waiting.into_iter().for_each(|draft| self.record(draft));
    }

    /// Records the notes that others left for the run so far, so that they stand before its end.
    fn take_up_notes(&mut self) {
        let path = self.recorder.path().to_owned();
        let Some(layout) = path.parent().and_then(Path::parent).map(Layout::new) else { return };
        let run = self.recorder.run().run_id.clone();
        // What cannot be taken up goes on waiting, for whoever asks next.
        let _ = take_up_notes(&layout, &run, Some(&path), |draft| {
            self.record(draft);
            self.failure.is_none()
        });
    }

    fn record(&mut self, draft: Draft) {
        if matches!(
            self.failure,
            Some(
                RecordError::Write { .. }
                    | RecordError::Poisoned { .. }
                    | RecordError::Closed { .. }
            )
        ) {
            return;
        }
        let counted = Counted::of(&draft);
        match self.recorder.record(draft) {
            Ok(_) => self.count(counted),
            Err(failure) => {
                self.failure.get_or_insert(failure);
            }
        }
    }

    fn count(&mut self, counted: Counted) {
        match counted {
            Counted::Message => self.counts.messages += 1,
            Counted::Call => self.counts.tool_calls += 1,
            Counted::Error => self.counts.errors += 1,
            Counted::Unknown => self.counts.unknown += 1,
            Counted::Usage(tokens) => self.usage.add(&tokens),
            Counted::Other => {}
        }
    }
}

/// What a draft adds to the counts at the end.
enum Counted {
    Message,
    Call,
    Error,
    Unknown,
    Usage(TokenCounts),
    Other,
}

impl Counted {
    fn of(draft: &Draft) -> Self {
        match draft.kind {
            Kind::MessageUser | Kind::MessageAssistant => Counted::Message,
            Kind::ToolCall => Counted::Call,
            Kind::Error => Counted::Error,
            Kind::Unknown => Counted::Unknown,
            Kind::Usage => {
                Counted::Usage(draft.payload.decode::<Usage>().unwrap_or_default().tokens())
            }
            _ => Counted::Other,
        }
    }
}
