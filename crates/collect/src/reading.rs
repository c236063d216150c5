//! A file of a session on its way into the run, whatever its agent does to it.

use quipu_event::Origin;

use crate::delivery::Stop;
use crate::document::Document;
use crate::error::CollectError;
use crate::forks::{self, Forks};
use crate::history::{History, SourceHistory, prints_of, records_of};
use crate::known::Known;
use crate::marks;
use crate::plan::{Session, SourceFile};
use crate::session_run::SessionRun;
use crate::source::{PIECE, Source};
use crate::store::Store;

/// A file that is being read.
pub(crate) struct Reading {
    pub(crate) file: SourceFile,
    store: Store,
    session: Session,
    form: Form,
    generation: u32,
}

enum Form {
    Lines(Box<Source>),
    Document(Box<Document>),
}

impl Reading {
    /// Opens `file` of `session`; `history` is what the session's transcript holds.
    pub(crate) fn open(
        store: &Store,
        session: &Session,
        file: SourceFile,
        history: &mut History,
        forks: &mut Forks,
        run: &mut SessionRun,
    ) -> Result<Self, CollectError> {
        let held = history.take_source(&file.key());
        let generation = held.generation;
        let (store, session) = (store.clone(), session.clone());
        let form = if file.is_document() {
            let records = records_of(&store.layout.transcript(&session.run_id), &file.key())?;
            let versions = records.into_iter().map(|(_, record)| record).collect();
            Form::Document(Box::new(Document::new(file.clone(), &store, held, versions)))
        } else if generation > 0 {
            Form::Lines(Box::new(open_later(&store, &session, &file, held)?))
        } else {
            let may_be_copied = session.may_be_copied(&file);
            let known = may_be_copied.then(|| forks.copied(&file, &held, &store.layout)).flatten();
            label(run, &session, known.as_ref());
            Form::Lines(Box::new(Source::open(file.clone(), held, known)?))
        };
        Ok(Reading { file, store, session, form, generation })
    }

    /// Takes what the file has more than before. `taken` is shown the bytes as they are taken.
    pub(crate) fn catch_up(
        &mut self,
        run: &mut SessionRun,
        buffer: &mut [u8],
        taken: &mut dyn FnMut(&[u8]),
    ) -> Result<(), CollectError> {
        let outcome = match &mut self.form {
            Form::Lines(source) => source.catch_up(run, buffer, taken),
            Form::Document(document) => document.catch_up(run, taken),
        };
        match outcome {
            Err(Stop::Changed(reason)) => self.begin_anew(reason, run, buffer, taken),
            outcome => done(outcome),
        }
    }

    /// Looks at a file that has been replaced or cut: from its beginning, as if after a restart.
    pub(crate) fn look_again(
        &mut self,
        run: &mut SessionRun,
        buffer: &mut [u8],
        taken: &mut dyn FnMut(&[u8]),
    ) -> Result<(), CollectError> {
        self.leave(run, buffer)?;
        let mut history = History::read(&self.store.layout.transcript(&self.session.run_id))?;
        let (session, file, mut forks) = (&self.session, self.file.clone(), Forks::default());
        *self = Reading::open(&self.store, session, file, &mut history, &mut forks, run)?;
        self.catch_up(run, buffer, taken)
    }

    /// Takes what is left of a file that another one has taken the place of.
    pub(crate) fn leave(
        &mut self,
        run: &mut SessionRun,
        buffer: &mut [u8],
    ) -> Result<(), CollectError> {
        if let Form::Lines(source) = &mut self.form
            && source.goes_on()
        {
            done(source.catch_up(run, buffer, &mut |_| ()))?;
        }
        self.finish(run)
    }

    /// Tells whether what was read last still stands where it was.
    pub(crate) fn goes_on(&mut self) -> bool {
        match &mut self.form {
            Form::Lines(source) => source.goes_on(),
            Form::Document(_) => true,
        }
    }

    /// Takes the file as another one of the same name: what it repeats is not recorded again.
    pub(crate) fn begin_anew(
        &mut self,
        reason: &str,
        run: &mut SessionRun,
        buffer: &mut [u8],
        taken: &mut dyn FnMut(&[u8]),
    ) -> Result<(), CollectError> {
        let origin = Origin::new(self.file.path.to_string_lossy(), 0, 0);
        let mark = marks::replaced(&self.file.path, reason).from_origin(origin);
        run.record(mark, self.file.agent.is_none())?;
        self.generation += 1;
        let held = SourceHistory { generation: self.generation, ..SourceHistory::default() };
        let mut source = open_later(&self.store, &self.session, &self.file, held)?;
        let outcome = source.catch_up(run, buffer, taken);
        self.form = Form::Lines(Box::new(source));
        done(outcome)
    }

    /// Gives what was held back because more might have come.
    pub(crate) fn settle(&mut self, run: &mut SessionRun) -> Result<(), CollectError> {
        self.give(run, Source::settle)
    }

    /// Takes the end of the file, as it is now.
    pub(crate) fn finish(&mut self, run: &mut SessionRun) -> Result<(), CollectError> {
        match &mut self.form {
            Form::Lines(_) => self.give(run, Source::finish),
            Form::Document(document) => done(document.finish(run)),
        }
    }

    /// Gives what is held back, which may be the first to tell that the file is another one.
    fn give(
        &mut self,
        run: &mut SessionRun,
        give: fn(&mut Source, &mut SessionRun) -> Result<(), Stop>,
    ) -> Result<(), CollectError> {
        let Form::Lines(source) = &mut self.form else { return Ok(()) };
        let reason = match give(source, run) {
            Err(Stop::Changed(reason)) => reason,
            outcome => return done(outcome),
        };
        self.begin_anew(reason, run, &mut vec![0; PIECE], &mut |_| ())?;
        let Form::Lines(source) = &mut self.form else { return Ok(()) };
        done(give(source, run))
    }

    /// Returns how many bytes of the file have been taken.
    pub(crate) fn position(&self) -> u64 {
        match &self.form {
            Form::Lines(source) => source.position(),
            Form::Document(document) => document.position(),
        }
    }

    /// Tells whether the file can grow.
    pub(crate) fn can_grow(&self) -> bool {
        match &self.form {
            Form::Lines(source) => source.can_grow(),
            Form::Document(_) => false,
        }
    }

    /// Returns how many bytes stand behind the last whole record.
    pub(crate) fn unfinished(&self) -> usize {
        match &self.form {
            Form::Lines(source) => source.unfinished(),
            Form::Document(_) => 0,
        }
    }

    /// Returns how many things are wrong with the file.
    pub(crate) fn problems(&self) -> u64 {
        match &self.form {
            Form::Lines(source) => source.problems(),
            Form::Document(document) => document.problems(),
        }
    }
}

/// Opens a file that has taken the place of another one of its name.
fn open_later(
    store: &Store,
    session: &Session,
    file: &SourceFile,
    held: SourceHistory,
) -> Result<Source, CollectError> {
    let mut records = records_of(&store.layout.transcript(&session.run_id), &file.key())?;
    records.retain(|(generation, _)| *generation < held.generation);
    let known = Known::Read(prints_of(&records));
    let mut source = Source::open(file.clone(), held, Some(known))?;
    source.remember(&records);
    Ok(source)
}

/// Says in the run's beginning which session it goes on from.
fn label(run: &mut SessionRun, session: &Session, known: Option<&Known>) {
    if let Some((from, run_id)) = known.and_then(forks::run_label) {
        run.label(forks::FORKED_FROM, run_id.as_str());
        run.label(forks::FORKED_FROM_SESSION, from);
    } else if let Some(from) = &session.forked_from {
        let run_id = crate::run_id::run_of_session(session.provider.name, from);
        run.label(forks::FORKED_FROM, run_id.as_str());
        run.label(forks::FORKED_FROM_SESSION, from);
    }
}

fn done(outcome: Result<(), Stop>) -> Result<(), CollectError> {
    match outcome {
        Ok(()) => Ok(()),
        Err(Stop::Failed(error)) => Err(error),
        // A file that changes faster than it can be read is read again when it next changes.
        Err(Stop::Changed(_)) => Ok(()),
    }
}
