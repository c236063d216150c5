//! The recorder: under one lock it numbers, dates, writes and publishes.
//!
//! It does nothing else. Finding runs, reading them back and coming back to them after a crash
//! have their own files.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quipu_event::{Draft, Letterhead, LineForm, Raw, RunId, RunIdentity, Timestamp};

use crate::clock::{Clock, SystemClock};
use crate::combine::Combiner;
use crate::durability::{Durability, Syncer};
use crate::error::{OpenError, RecordError};
use crate::fanout::{DEFAULT_BUFFER, SubscriberStats, Subscription};
use crate::layout::{FILE_MODE, Layout, narrow};
use crate::lock;
use crate::mask::{Mask, apply};
use crate::open::must_be_a_file;
use crate::recovery::{self, Recovery, Remains};
use crate::replay::Replay;
use crate::sink::{DiskSink, Position};
use crate::sync::Patience;

/// A form that one giant line has blown up beyond this is not kept.
const FORM_KEPT: usize = 4 * 1024 * 1024;

/// How a recorder goes about its work.
#[derive(Clone)]
pub struct Options {
    /// When lines are forced onto the disk.
    pub durability: Durability,
    /// What is hidden before anything reaches disk or subscribers.
    pub mask: Option<Arc<dyn Mask>>,
    /// How many events a subscriber may leave unread.
    pub buffer: usize,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            durability: Durability::default(),
            mask: None,
            buffer: DEFAULT_BUFFER,
            clock: Arc::new(SystemClock),
        }
    }
}

/// What becomes of what had started and not completed when somebody comes back to a run.
enum Open {
    /// It died with its recorder.
    IsAborted,
    /// It lives elsewhere, and will be heard of again.
    GoesOn,
}

/// What a recorder has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The number of the last line written.
    pub last_seq: u64,
    /// Bytes written by this recorder.
    pub bytes: u64,
    /// Places that the mask hid.
    pub masked: u64,
    /// Events that passed some subscriber by, over all subscribers there ever were.
    pub dropped: u64,
    /// Each subscriber there is.
    pub subscribers: Vec<SubscriberStats>,
    /// Why the recorder stopped numbering, if it had to.
    pub poisoned: Option<String>,
}

/// Writes one run. Cheap to clone; all clones are the same recorder.
///
/// The run's lock is held until [`Recorder::close`] or until the last clone is gone.
#[derive(Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
}

struct Shared {
    door: Combiner<DiskSink>,
    run: RunIdentity,
    letterhead: Letterhead,
    path: PathBuf,
    mask: Option<Arc<dyn Mask>>,
    masked: AtomicU64,
    buffer: usize,
}

impl Recorder {
    /// Begins a new run and takes its lock. Writes no line by itself.
    ///
    /// Fails when the run exists already or the disk refuses.
    pub fn create(layout: &Layout, run: RunIdentity, options: Options) -> Result<Self, OpenError> {
        let path = layout.transcript(&run.run_id);
        layout.prepare().map_err(|source| io_error(&layout.transcripts(), source))?;
        let file = OpenOptions::new()
            .append(true)
            .read(true)
            .create_new(true)
            .mode(FILE_MODE)
            .open(&path)
            .map_err(|source| match source.kind() {
                io::ErrorKind::AlreadyExists => {
                    OpenError::Exists { run: run.run_id.clone(), path: path.clone() }
                }
                _ => io_error(&path, source),
            })?;
        narrow(&path, FILE_MODE).map_err(|source| io_error(&path, source))?;
        take_lock(&file, &run.run_id, &path)?;
        if options.durability != Durability::Never {
            // A file that survives a power failure needs its name to survive too.
            sync_dir(&layout.transcripts())?;
            sync_dir(layout.storage())?;
        }
        Recorder::start(file, path, run, Position::default(), options)
    }

    /// Comes back to a run: takes its lock, puts its end in order and continues its count.
    ///
    /// Bytes behind the last event are moved to `<run-id>.torn`. If there were any, or if
    /// something had started and not completed, a `system` event of subtype `recovered` says so,
    /// and each such start gets its end with status `aborted`.
    ///
    /// Fails when there is no such run, when another recorder holds it, when none of the file's
    /// lines is an event, or when the disk refuses.
    pub fn reopen(
        layout: &Layout,
        run: &RunId,
        options: Options,
    ) -> Result<(Self, Recovery), OpenError> {
        let identity = RunIdentity { run_id: run.clone(), parent_run_id: None };
        Recorder::reopen_as(layout, &identity, options)
    }

    /// Comes back to a run whose parent is known: a crash may have come before the first line, which
    /// would have said it. Otherwise like [`Recorder::reopen`]; what the file says holds.
    pub fn reopen_as(
        layout: &Layout,
        identity: &RunIdentity,
        options: Options,
    ) -> Result<(Self, Recovery), OpenError> {
        Recorder::come_back(layout, identity, options, Open::IsAborted)
    }

    /// Takes up a run whose producer outlived its recorder: what has started and not completed goes
    /// on. Otherwise like [`Recorder::reopen_as`].
    pub fn take_up(
        layout: &Layout,
        identity: &RunIdentity,
        options: Options,
    ) -> Result<(Self, Recovery), OpenError> {
        Recorder::come_back(layout, identity, options, Open::GoesOn)
    }

    fn come_back(
        layout: &Layout,
        identity: &RunIdentity,
        options: Options,
        open: Open,
    ) -> Result<(Self, Recovery), OpenError> {
        let run = &identity.run_id;
        let path = layout.transcript(run);
        let file =
            OpenOptions::new().append(true).read(true).open(&path).map_err(
                |source| match source.kind() {
                    io::ErrorKind::NotFound => {
                        OpenError::Missing { run: run.clone(), path: path.clone() }
                    }
                    _ => io_error(&path, source),
                },
            )?;
        let file = must_be_a_file(file).map_err(|source| io_error(&path, source))?;
        take_lock(&file, run, &path)?;
        let tail = recovery::find_tail(&file)
            .map_err(|source| io_error(&path, source))?
            .ok_or_else(|| OpenError::NotATranscript { path: path.clone() })?;
        // Only what is a transcript is ours to close to others.
        layout.prepare().map_err(|source| io_error(&layout.transcripts(), source))?;
        narrow(&path, FILE_MODE).map_err(|source| io_error(&path, source))?;
        let remains = match open {
            Open::IsAborted => recovery::find_remains(&file, tail.end),
            Open::GoesOn => Ok(Remains::default()),
        };
        let remains = remains.map_err(|source| io_error(&path, source))?;
        let torn_path = layout.torn(run);
        let torn = match tail.torn {
            0 => None,
            _ => Some(
                recovery::move_torn_bytes(&file, &tail, &torn_path)
                    .map_err(|source| io_error(&torn_path, source))?,
            ),
        };
        let last_seq = tail.last.as_ref().map_or(0, |last| last.seq);
        let heard_until = tail.last.as_ref().map(|last| last.timestamp);
        let aborted = remains.open.clone().into_innermost_first();
        let found = Recovery { last_seq, torn, aborted };
        let parent_run_id = match &tail.last {
            Some(last) => last.parent_run_id.clone(),
            None => identity.parent_run_id.clone(),
        };
        let identity = RunIdentity { run_id: run.clone(), parent_run_id };
        let position = Position { last_seq, end: tail.end };
        let recorder = Recorder::start(file, path, identity, position, options)?;
        recorder.tell(&found, &remains, heard_until)?;
        Ok((recorder, found))
    }

    fn start(
        file: File,
        path: PathBuf,
        run: RunIdentity,
        position: Position,
        options: Options,
    ) -> Result<Self, OpenError> {
        let syncer = match options.durability {
            Durability::Interval(interval) => {
                let started = file.try_clone().and_then(|file| Syncer::start(file, interval));
                Some(started.map_err(|source| io_error(&path, source))?)
            }
            Durability::Never | Durability::Always => None,
        };
        let sink = DiskSink::new(
            Box::new(file),
            path.clone(),
            position,
            options.clock,
            options.durability,
            syncer,
        );
        let patience = match options.durability {
            Durability::Always => Patience::LONG,
            Durability::Never | Durability::Interval(_) => Patience::SHORT,
        };
        let shared = Shared {
            door: Combiner::new(sink, patience),
            letterhead: Letterhead::of(&run),
            run,
            path,
            mask: options.mask,
            masked: AtomicU64::new(0),
            buffer: options.buffer,
        };
        Ok(Recorder { shared: Arc::new(shared) })
    }

    /// Records what recovery found; nothing when the run had been left in order.
    fn tell(
        &self,
        found: &Recovery,
        remains: &Remains,
        heard_until: Option<Timestamp>,
    ) -> Result<(), OpenError> {
        if found.is_clean() {
            return Ok(());
        }
        let torn_name = format!("{}.torn", self.shared.run.run_id);
        let heard_until = heard_until.unwrap_or_else(|| self.shared.door.sink().now());
        let drafts = recovery::closing_drafts(found, remains, &torn_name, heard_until)
            .map_err(|error| io_error(self.path(), io::Error::other(error)))?;
        for draft in drafts {
            self.record(draft)?;
        }
        Ok(())
    }

    /// Records `draft` and returns its number.
    ///
    /// When this returns, the line is written, and on disk as far as the durability promises;
    /// subscribers have it or have it counted as dropped.
    ///
    /// Fails when the disk refuses (said once), and ever after; when the recorder is closed; when
    /// the payload nests too deep; when the mask hook fails. A failure uses up no number.
    pub fn record(&self, draft: Draft) -> Result<u64, RecordError> {
        let draft = match &self.shared.mask {
            Some(mask) => {
                let (draft, hidden) = apply(mask.as_ref(), draft)?;
                self.shared.masked.fetch_add(hidden, Ordering::Relaxed);
                draft
            }
            None => draft,
        };
        let raw = draft.raw.as_ref();
        if draft.payload.nests_too_deep() || raw.is_some_and(Raw::nests_too_deep) {
            return Err(RecordError::TooDeep);
        }
        // A thread that is about to end has none, and keeps none.
        let mut form = FORM.try_with(Cell::take).unwrap_or_default();
        form.draw(&draft, &self.shared.letterhead);
        let outcome = self.shared.door.submit(&mut form);
        if form.capacity() <= FORM_KEPT {
            let _ = FORM.try_with(|kept| kept.set(form));
        }
        outcome
    }

    /// Returns how many places the mask would hide in `draft`: a run's end tells how many were
    /// hidden, its own included.
    pub fn would_mask(&self, draft: &Draft) -> Result<u64, RecordError> {
        match &self.shared.mask {
            Some(mask) => apply(mask.as_ref(), draft.clone()).map(|(_, hidden)| hidden),
            None => Ok(0),
        }
    }

    /// Subscribes to the events recorded from now on.
    pub fn subscribe(&self) -> Subscription {
        self.subscribe_with_buffer(self.shared.buffer)
    }

    /// Subscribes with a buffer of `capacity` events, at least one.
    pub fn subscribe_with_buffer(&self, capacity: usize) -> Subscription {
        self.shared.door.sink().fanout.subscribe(capacity, self.path())
    }

    /// Subscribes to all events from number `seq` on: those on disk first, then live ones.
    ///
    /// Nothing is missed and nothing comes twice: what passed the buffer by is read from disk.
    pub fn subscribe_from(&self, seq: u64) -> Replay {
        Replay::new(self.subscribe(), self.path().to_owned(), seq, self.last_seq())
    }

    /// Returns what the recorder has done so far.
    pub fn stats(&self) -> Stats {
        let masked = self.shared.masked.load(Ordering::Relaxed);
        Stats { masked, ..self.shared.door.sink().stats() }
    }

    /// Returns the number of the last line written.
    pub fn last_seq(&self) -> u64 {
        self.shared.door.sink().last_seq()
    }

    /// Returns the transcript's path.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Returns whose lines it writes.
    pub fn run(&self) -> &RunIdentity {
        &self.shared.run
    }

    /// Ends recording, syncs unless durability is `Never`, and lets go of the run's lock.
    ///
    /// Closing twice is fine: the second time does nothing.
    pub fn close(&self) -> Result<(), RecordError> {
        self.shared.door.sink().close()
    }
}

thread_local! {
    /// What a thread makes its lines in, one after the other.
    static FORM: Cell<LineForm> = const { Cell::new(LineForm::new()) };
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Nobody is left to tell; those who must know call `close` themselves.
        let _ = self.door.sink().close();
    }
}

fn take_lock(file: &File, run: &RunId, path: &Path) -> Result<(), OpenError> {
    lock::take(file)
        .map_err(|source| io_error(path, source))?
        .map_err(|holder| OpenError::Locked { run: run.clone(), holder })
}

fn sync_dir(dir: &Path) -> Result<(), OpenError> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(|source| io_error(dir, source))
}

fn io_error(path: &Path, source: io::Error) -> OpenError {
    OpenError::Io { path: path.to_owned(), source }
}
