//! Our side of an import: what the run's transcript holds already, and how more gets there.

use quipu_event::payload::{Payload, System};
use quipu_event::{Draft, Event, Kind, Raw, RunId, RunIdentity, Timestamp};
use quipu_journal::{Layout, Mask, OpenError, Options, Reader, Recorder};

use super::Request;
use super::error::ImportError;
use super::marks::Marks;
use super::pairs::Pairs;
use super::tally::Tally;

/// What a transcript holds.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) marks: Marks,
    pub(super) pairs: Pairs,
    pub(super) tally: Tally,
    /// Whether there is a start of the run in it.
    pub(super) has_started: bool,
    /// Whether its last word is the end of the run.
    pub(super) has_ended: bool,
    last_seq: u64,
    pub(super) began: Option<Timestamp>,
    masked: u64,
}

/// One run of ours, opened for writing only when there is something to write.
pub(super) struct Journal {
    layout: Layout,
    run: RunIdentity,
    options: Options,
    is_dry: bool,
    exists: bool,
    pub(super) held: Held,
    recorder: Option<Recorder>,
    /// How many events are new.
    pub(super) added: u64,
    masked: u64,
}

impl Journal {
    /// Looks at the run's transcript, if there is one.
    pub(super) fn look(
        layout: &Layout,
        run: RunIdentity,
        request: &Request,
    ) -> Result<Self, ImportError> {
        let exists = layout.transcript(&run.run_id).is_file();
        let held = if exists { Held::of(layout, &run.run_id)? } else { Held::default() };
        Ok(Journal {
            layout: layout.clone(),
            run,
            options: request.options.clone(),
            is_dry: request.dry_run,
            exists,
            held,
            recorder: None,
            added: 0,
            masked: 0,
        })
    }

    pub(super) fn run_id(&self) -> &RunId {
        &self.run.run_id
    }

    /// Hides what must be hidden. It is done here and not by the recorder, because what stands in the
    /// transcript is what a later import compares with.
    pub(super) fn mask(&self, draft: Draft) -> (Draft, u64) {
        match &self.options.mask {
            Some(mask) => Mask::mask(mask.as_ref(), draft),
            None => (draft, 0),
        }
    }

    /// Returns what of a record's bytes is kept.
    pub(super) fn as_kept(&self, record: &[u8]) -> Vec<u8> {
        as_kept(&self.options, record)
    }

    /// Counts places that were hidden in what is written.
    pub(super) fn count_masked(&mut self, hidden: u64) {
        self.masked += hidden;
    }

    /// Tells whether anything was, or would have been, written.
    pub(super) fn is_untouched(&self) -> bool {
        self.added == 0
    }

    /// Tells whether the run had been there before.
    pub(super) fn existed(&self) -> bool {
        self.exists
    }

    /// Returns how many places were hidden, those of earlier imports included.
    pub(super) fn masked(&self) -> u64 {
        self.held.masked + self.masked
    }

    /// Gets ready to write, which may close what an interrupted import left open.
    pub(super) fn open(&mut self) -> Result<(), ImportError> {
        if self.is_dry || self.recorder.is_some() {
            return Ok(());
        }
        let options = Options { mask: None, ..self.options.clone() };
        if !self.exists {
            let recorder = Recorder::create(&self.layout, self.run.clone(), options)?;
            self.recorder = Some(recorder);
            return Ok(());
        }
        let (recorder, recovery) = Recorder::take_up(&self.layout, &self.run, options)?;
        if recovery.last_seq != self.held.last_seq {
            return Err(ImportError::Meanwhile { run: self.run.run_id.clone() });
        }
        if recorder.last_seq() > recovery.last_seq {
            // What coming back had to say belongs to what the transcript holds.
            self.held.read(Reader::from_seq(recorder.path(), recovery.last_seq + 1)?)?;
        }
        self.recorder = Some(recorder);
        Ok(())
    }

    /// Writes one line.
    pub(super) fn write(&mut self, draft: Draft) -> Result<(), ImportError> {
        self.open()?;
        self.added += 1;
        self.held.tally.add(&draft.kind, &draft.payload);
        self.held.has_ended = draft.kind == Kind::RunCompleted;
        self.held.has_started |= draft.kind == Kind::RunStarted;
        match &self.recorder {
            Some(recorder) => recorder.record(draft).map(drop).map_err(Into::into),
            None => Ok(()),
        }
    }

    /// Lets go of the run.
    pub(super) fn close(&mut self) -> Result<(), ImportError> {
        match self.recorder.take() {
            Some(recorder) => recorder.close().map_err(Into::into),
            None => Ok(()),
        }
    }
}

impl Held {
    /// Reads the transcript of a run.
    pub(super) fn of(layout: &Layout, run: &RunId) -> Result<Self, ImportError> {
        let mut held = Held::default();
        held.read(Reader::open(layout.transcript(run))?)?;
        Ok(held)
    }

    fn read(&mut self, reader: Reader) -> Result<(), ImportError> {
        for event in reader {
            match event {
                Ok(event) => self.add(&event),
                Err(quipu_journal::ReadProblem::Io(error)) => return Err(error.into()),
                // A torn end is moved aside when the run is opened; other damage is for `verify`.
                Err(quipu_journal::ReadProblem::Damaged { .. }) => {}
            }
        }
        Ok(())
    }

    fn add(&mut self, event: &Event) {
        if let Some(origin) = &event.origin {
            let is_document = event.kind == Kind::System
                && event.payload.decode::<System>().is_ok_and(|said| said.subtype == "document");
            self.marks.add_written(origin, event.raw.as_ref(), is_document);
        }
        self.pairs.note(event);
        self.tally.add(&event.kind, &event.payload);
        self.has_started |= event.kind == Kind::RunStarted;
        self.has_ended = event.kind == Kind::RunCompleted;
        self.last_seq = event.seq;
        self.began.get_or_insert(event.timestamp);
        if let (Kind::RunCompleted, Ok(Payload::RunCompleted(end))) =
            (&event.kind, event.decode_payload())
        {
            self.masked = end.counts.map_or(self.masked, |counts| counts.masked);
        }
    }
}

/// Returns what of a record's bytes is kept under `options`.
pub(super) fn as_kept(options: &Options, record: &[u8]) -> Vec<u8> {
    let Some(mask) = &options.mask else { return record.to_vec() };
    let (draft, _) = Mask::mask(mask.as_ref(), Draft::unknown(record, None, ""));
    draft.raw.as_ref().and_then(Raw::bytes).unwrap_or_default()
}

/// Returns the first events of a run's transcript; none if there is no such run.
pub(super) fn first_events(layout: &Layout, run: &RunId) -> Result<Option<Vec<Event>>, OpenError> {
    const LOOKED_AT: usize = 8;
    let path = layout.transcript(run);
    if !path.is_file() {
        return Ok(None);
    }
    let reader = Reader::open(&path)
        .map_err(|error| OpenError::Io { path: error.path, source: error.source })?;
    Ok(Some(reader.take(LOOKED_AT).filter_map(Result::ok).collect()))
}
