//! What a plan found, into transcripts, by several threads.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quipu_event::RunId;

use crate::collector::{Collector, Plan};
use crate::error::CollectError;
use crate::forks::Forks;
use crate::history::History;
use crate::plan::{Session, SourceFile};
use crate::reading::Reading;
use crate::report::{SessionReport, Totals};
use crate::session_run::SessionRun;
use crate::source::PIECE;
use crate::store::Store;

/// So often a session is begun with that somebody else records at the same time.
const TRIES: u32 = 3;

/// Is told how collecting goes on, by several threads.
pub trait Observer: Sync {
    /// A session is about to be recorded.
    fn begins(&self, _run: &RunId) {}
    /// Bytes have been read.
    fn bytes(&self, read: u64);
    /// A session is done.
    fn session(&self, report: SessionReport);
}

impl Collector {
    /// Records what `plan` found. Sessions that fail are reported and keep nobody else back.
    pub fn collect(&self, plan: Plan, observer: &dyn Observer) -> BTreeMap<&'static str, Totals> {
        let Plan { families, identities, mut cache, unchanged, .. } = plan;
        let outcome = Mutex::new(Outcome::default());
        for (provider, files) in unchanged {
            lock(&outcome).totals.entry(provider).or_default().unchanged_files = files;
        }
        let next = AtomicUsize::new(0);
        let work = || {
            let mut worker = Worker::new(self.store(), observer);
            while let Some(family) = families.get(next.fetch_add(1, Ordering::Relaxed)) {
                worker.forks = Forks::default();
                for session in family {
                    let report = worker.collect(session);
                    lock(&outcome).add(&report);
                    observer.session(report);
                }
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        std::thread::scope(|scope| {
            for _ in 1..threads.min(families.len()) {
                scope.spawn(work);
            }
            work();
        });
        let Outcome { totals, failed } =
            outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        for file in identities.iter().filter(|file| !failed.contains(&file.run)) {
            cache.note(file, &self.store().layout);
        }
        // A cache that cannot be kept costs time, and nothing else.
        let _ = cache.write();
        totals
    }
}

#[derive(Default)]
struct Outcome {
    totals: BTreeMap<&'static str, Totals>,
    failed: Vec<RunId>,
}

impl Outcome {
    fn add(&mut self, report: &SessionReport) {
        self.totals.entry(report.provider).or_default().add(report);
        if report.error.is_some() {
            self.failed.push(report.run_id.clone());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One thread that collects sessions.
struct Worker<'a> {
    store: &'a Store,
    observer: &'a dyn Observer,
    forks: Forks,
    buffer: Vec<u8>,
}

impl<'a> Worker<'a> {
    fn new(store: &'a Store, observer: &'a dyn Observer) -> Self {
        Worker { store, observer, forks: Forks::default(), buffer: vec![0; PIECE] }
    }

    fn collect(&mut self, session: &Session) -> SessionReport {
        let is_new = !self.store.layout.transcript(&session.run_id).exists();
        self.observer.begins(&session.run_id);
        let mut tries = 0;
        loop {
            let mut report = SessionReport::of(session, is_new);
            report.error = self.read(session, &mut report).err();
            tries += 1;
            if report.error.is_some() {
                self.forks.forget(&session.session);
            }
            match &report.error {
                Some(error) if error.is_overtaken() && tries < TRIES => {}
                _ => return report,
            }
        }
    }

    fn read(&mut self, session: &Session, report: &mut SessionReport) -> Result<(), CollectError> {
        let mut history = History::read(&self.store.layout.transcript(&session.run_id))?;
        let mut run = SessionRun::new(self.store, session, &history);
        let mut outcome = Ok(());
        for file in &session.sources {
            outcome = self.read_file(session, file, &mut history, &mut run, report);
            if outcome.is_err() {
                break;
            }
        }
        let outcome = outcome.and_then(|()| run.close());
        (report.events, report.usage) = (run.recorded(), *run.usage());
        outcome
    }

    fn read_file(
        &mut self,
        session: &Session,
        file: &SourceFile,
        history: &mut History,
        run: &mut SessionRun,
        report: &mut SessionReport,
    ) -> Result<(), CollectError> {
        let forks = &mut self.forks;
        let mut reading = Reading::open(self.store, session, file.clone(), history, forks, run)?;
        let mut scan = session.may_be_copied(file).then(|| forks.scan(&session.session));
        let mut taken = |bytes: &[u8]| {
            if let Some(scan) = &mut scan {
                forks.note(scan, bytes);
            }
            report.bytes += bytes.len() as u64;
            self.observer.bytes(bytes.len() as u64);
        };
        reading.catch_up(run, &mut self.buffer, &mut taken)?;
        reading.finish(run)?;
        report.files += 1;
        report.problems += reading.problems();
        report.unfinished += u64::from(reading.unfinished() > 0);
        Ok(())
    }
}
