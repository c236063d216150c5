//! The sessions that are being written: their runs stay open while they grow.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use quipu_event::RunId;

use super::{FollowObserver, SessionNews};
use crate::cache::Cache;
use crate::collector::{Collector, Part};
use crate::discover::{self, FileStamp, Found};
use crate::error::CollectError;
use crate::forks::Forks;
use crate::history::History;
use crate::identity::Identity;
use crate::plan::{Session, SourceFile, plan};
use crate::reading::Reading;
use crate::session_run::SessionRun;
use crate::source::PIECE;
use crate::store::Store;

/// A session that has been silent for so long is over until it is heard of again.
const IDLE: Duration = Duration::from_secs(120);

/// The sessions that are being written.
pub(super) struct Live<'a> {
    collector: &'a Collector,
    observer: &'a dyn FollowObserver,
    open: HashMap<RunId, OpenSession>,
    /// Whose session a file is, and how it stood when it was last looked at.
    files: HashMap<PathBuf, Known>,
    cache: Cache,
    buffer: Vec<u8>,
}

struct Known {
    stamp: FileStamp,
    identity: Identity,
    run: RunId,
}

struct OpenSession {
    session: Session,
    run: SessionRun,
    history: History,
    readings: HashMap<PathBuf, OpenFile>,
    touched: Instant,
}

struct OpenFile {
    reading: Reading,
    stamp: FileStamp,
    /// Since when it may hold something back.
    unsettled: Option<Instant>,
}

impl<'a> Live<'a> {
    pub(super) fn new(collector: &'a Collector, observer: &'a dyn FollowObserver) -> Self {
        let cache = Cache::read(&collector.store().layout);
        Live {
            collector,
            observer,
            open: HashMap::new(),
            files: HashMap::new(),
            cache,
            buffer: vec![0; PIECE],
        }
    }

    /// Tells whether a file may hold something back.
    pub(super) fn is_unsettled(&self) -> bool {
        let mut files = self.open.values().flat_map(|open| open.readings.values());
        files.any(|file| file.unsettled.is_some())
    }

    /// Looks at what has changed at `path`: a session's file, or a folder with such files.
    pub(super) fn look_at(&mut self, path: &Path) {
        if path.is_dir() {
            let found = discover::discover(self.collector.roots());
            found.into_iter().filter(|found| found.path.starts_with(path)).for_each(|found| {
                self.take(found);
            });
        } else if let Some(found) = discover::look_at(self.collector.roots(), path) {
            self.take(found);
        } else if let Some(known) = self.files.remove(path)
            && let Err(error) = self.drain(path, &known.run)
        {
            self.abandon(&known.run);
            self.observer.failed(path, &error);
        }
    }

    /// Looks at every file there is.
    pub(super) fn look_at_all(&mut self) {
        for found in discover::discover(self.collector.roots()) {
            self.take(found);
        }
    }

    /// Gives what files hold back that have been silent for `silence`.
    pub(super) fn settle(&mut self, silence: Duration) {
        let mut failed = Vec::new();
        for open in self.open.values_mut() {
            let before = open.run.recorded();
            for (path, file) in &mut open.readings {
                if file.unsettled.is_none_or(|since| since.elapsed() < silence) {
                    continue;
                }
                file.unsettled = None;
                if let Err(error) = file.reading.settle(&mut open.run) {
                    failed.push(open.session.run_id.clone());
                    self.observer.failed(path, &error);
                }
            }
            tell(self.observer, open, before, None);
        }
        failed.iter().for_each(|run| self.abandon(run));
    }

    /// Ends the runs of sessions that have been silent for long.
    pub(super) fn retire(&mut self) {
        let idle = self.open.iter().filter(|(_, open)| open.touched.elapsed() > IDLE);
        let idle: Vec<RunId> = idle.map(|(run, _)| run.clone()).collect();
        for run in &idle {
            self.close(run);
        }
        if !idle.is_empty() {
            // A cache that cannot be kept costs time, and nothing else.
            let _ = self.cache.write();
        }
    }

    /// Takes what is there, and ends all runs.
    pub(super) fn end(&mut self) {
        let runs: Vec<RunId> = self.open.keys().cloned().collect();
        for run in runs {
            let paths: Vec<PathBuf> = match self.open.get(&run) {
                Some(open) => open.readings.keys().cloned().collect(),
                None => continue,
            };
            paths.iter().for_each(|path| self.look_at(path));
            self.close(&run);
        }
        let _ = self.cache.write();
    }

    /// Takes what a file has more than before, if it has changed.
    fn take(&mut self, found: Found) {
        let path = found.path.clone();
        let is_same = match self.files.get(&path) {
            Some(known) => known.stamp == found.stamp,
            None => self.is_cached(&found),
        };
        if is_same || self.collector.is_too_old(&found) {
            return;
        }
        if let Err(error) = self.read(found) {
            if let Some(run) = self.files.remove(&path).map(|known| known.run) {
                self.abandon(&run);
            }
            self.observer.failed(&path, &error);
        }
    }

    /// Lets go of a session that could not be recorded: it is begun with again, from what its
    /// transcript holds, when everything is looked at.
    fn abandon(&mut self, run: &RunId) {
        self.open.remove(run);
        self.files.retain(|_, known| known.run != *run);
    }

    fn is_cached(&self, found: &Found) -> bool {
        let layout = &self.collector.store().layout;
        self.cache.unchanged(&found.path, found.stamp, layout).is_some()
    }

    fn read(&mut self, found: Found) -> Result<(), CollectError> {
        let (path, stamp) = (found.path.clone(), found.stamp);
        // Another form of the file may have taken its place meanwhile.
        let is_open = |known: &Known| {
            self.open.get(&known.run).is_some_and(|open| open.readings.contains_key(&path))
        };
        let run = match self.files.get_mut(&path) {
            Some(known) if is_open(known) => {
                known.stamp = stamp;
                known.run.clone()
            }
            _ => match self.open_file(found)? {
                Some(run) => run,
                None => return Ok(()),
            },
        };
        self.advance(&run, &path, |file, run, buffer, taken| file.take(stamp, run, buffer, taken))
    }

    /// Takes what is left of a file that has been deleted.
    fn drain(&mut self, path: &Path, run: &RunId) -> Result<(), CollectError> {
        self.advance(run, path, |file, run, buffer, taken| {
            file.reading.catch_up(run, buffer, taken)?;
            file.reading.settle(run)
        })
    }

    fn advance(
        &mut self,
        run: &RunId,
        path: &Path,
        step: impl FnOnce(
            &mut OpenFile,
            &mut SessionRun,
            &mut [u8],
            &mut dyn FnMut(&[u8]),
        ) -> Result<(), CollectError>,
    ) -> Result<(), CollectError> {
        let Some(open) = self.open.get_mut(run) else { return Ok(()) };
        let before = open.run.recorded();
        open.touched = Instant::now();
        let mut taken = |bytes: &[u8]| self.observer.bytes(bytes.len() as u64);
        let outcome = match open.readings.get_mut(path) {
            Some(file) => step(file, &mut open.run, &mut self.buffer, &mut taken),
            None => Ok(()),
        };
        tell(self.observer, open, before, Some(path));
        outcome
    }

    /// Opens a file and its session; returns the run, unless nobody can say yet whose it is.
    fn open_file(&mut self, found: Found) -> Result<Option<RunId>, CollectError> {
        let (path, stamp) = (found.path.clone(), found.stamp);
        let Some(identity) = Identity::of(&found) else { return Ok(None) };
        let mut memory = self.cache.memory();
        let known = self.files.values().map(|known| (found.provider.name, known.identity.clone()));
        memory.sessions.extend(known);
        let Some(session) = plan(vec![(found, identity.clone())], &memory).pop() else {
            return Ok(None);
        };
        let run = session.run_id.clone();
        self.open_session(&session)?;
        self.files.insert(path, Known { stamp, identity, run: run.clone() });
        let store = self.collector.store();
        let (Some(open), Some(file)) =
            (self.open.get_mut(&run), session.sources.into_iter().next())
        else {
            return Ok(None);
        };
        open.add(store, file, &mut self.buffer)?;
        Ok(Some(run))
    }

    fn open_session(&mut self, session: &Session) -> Result<(), CollectError> {
        if self.open.contains_key(&session.run_id) {
            return Ok(());
        }
        self.observer.begins(&session.run_id);
        let store = self.collector.store();
        let history = History::read(&store.layout.transcript(&session.run_id))?;
        let run = SessionRun::new(store, session, &history);
        let (session, readings, touched) = (session.clone(), HashMap::new(), Instant::now());
        let open = OpenSession { session, run, history, readings, touched };
        self.open.insert(open.session.run_id.clone(), open);
        Ok(())
    }

    fn close(&mut self, run: &RunId) {
        let Some(mut open) = self.open.remove(run) else { return };
        let before = open.run.recorded();
        for (path, file) in &mut open.readings {
            if let Err(error) = file.reading.finish(&mut open.run) {
                self.observer.failed(path, &error);
            }
        }
        if let Err(error) = open.run.close() {
            self.observer.failed(Path::new(&open.session.session), &error);
        }
        for (path, file) in &open.readings {
            if let Some(known) = self.files.get(path) {
                let file = Part {
                    path: path.clone(),
                    stamp: file.stamp,
                    identity: known.identity.clone(),
                    provider: open.session.provider.name,
                    root: open.session.session.clone(),
                    run: run.clone(),
                };
                self.cache.note(&file, &self.collector.store().layout);
            }
        }
        tell(self.observer, &open, before, None);
        self.observer.ends(run);
    }
}

impl OpenSession {
    /// Opens one more file of the session. One that was renamed or compressed takes the place of
    /// what it was before.
    fn add(
        &mut self,
        store: &Store,
        file: SourceFile,
        buffer: &mut [u8],
    ) -> Result<(), CollectError> {
        let (path, key) = (file.path.clone(), file.key());
        let before = self.readings.iter().find(|(_, open)| open.reading.file.key() == key);
        if let Some(before) = before.map(|(path, _)| path.clone())
            && let Some(mut file) = self.readings.remove(&before)
        {
            file.reading.leave(&mut self.run, buffer)?;
            self.history = History::read(&store.layout.transcript(&self.session.run_id))?;
        }
        let mut forks = Forks::default();
        let (session, history) = (&self.session, &mut self.history);
        let reading = Reading::open(store, session, file, history, &mut forks, &mut self.run)?;
        let stamp = FileStamp::default();
        self.readings.insert(path, OpenFile { reading, stamp, unsettled: None });
        Ok(())
    }
}

impl OpenFile {
    fn take(
        &mut self,
        stamp: FileStamp,
        run: &mut SessionRun,
        buffer: &mut [u8],
        taken: &mut dyn FnMut(&[u8]),
    ) -> Result<(), CollectError> {
        let before = std::mem::replace(&mut self.stamp, stamp);
        let is_first = before == FileStamp::default();
        let is_other = (stamp.inode, stamp.device) != (before.inode, before.device);
        let is_shorter = stamp.size < self.reading.position() && self.reading.can_grow();
        self.unsettled = Some(Instant::now());
        if !is_first && (is_other || is_shorter || !self.reading.goes_on()) {
            return self.reading.look_again(run, buffer, taken);
        }
        self.reading.catch_up(run, buffer, taken)
    }
}

fn tell(observer: &dyn FollowObserver, open: &OpenSession, before: u64, path: Option<&Path>) {
    let events = open.run.recorded() - before;
    let main = open.session.sources.first().map(|file| &*file.path);
    if events > 0 {
        observer.news(&SessionNews {
            run_id: open.session.run_id.clone(),
            provider: open.session.provider.name,
            session: open.session.session.clone(),
            path: path.or(main).map(Path::to_owned).unwrap_or_default(),
            events,
        });
    }
}
