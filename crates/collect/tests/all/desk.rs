//! A home with sessions, a storage for their transcripts, and a collector between them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use quipu_collect::{
    CollectError, Collector, FollowObserver, Homes, Observer, SessionNews, SessionReport, Store,
    Totals, collectable,
};
use quipu_event::payload::{Payload, TokenCounts};
use quipu_event::{Event, Kind, Raw, RunId};
use quipu_journal::{Layout, Options, Reader, verify_run};
use quipu_testkit::homes;
use tempfile::TempDir;

/// What is waited for takes so long at most, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A home and a storage that vanish with the test.
#[derive(Clone)]
pub(crate) struct Desk {
    dir: Arc<TempDir>,
    home: PathBuf,
    pub(crate) layout: Layout,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let dir = Arc::new(tempfile::tempdir().unwrap());
        let home = dir.path().join("home");
        fs::create_dir(&home).unwrap();
        Desk { home, layout: Layout::new(dir.path().join("storage")), dir }
    }

    /// Takes a home that is somewhere else.
    pub(crate) fn over(home: &Path) -> Self {
        Desk { home: home.to_owned(), ..Desk::new() }
    }

    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// Returns where the session of Claude Code lies.
    pub(crate) fn claude(&self, session: &str) -> PathBuf {
        self.home.join(".claude/projects/p").join(format!("{session}.jsonl"))
    }

    /// Returns a path beside home and storage.
    pub(crate) fn aside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn collector(&self) -> Collector {
        let store = Store::new(self.layout.clone(), Options::default());
        Collector::new(store, &Homes::below(&self.home), &collectable())
    }

    /// Collects all there is, which must not fail.
    pub(crate) fn collect(&self) -> BTreeMap<&'static str, Totals> {
        let (collector, told) = (self.collector(), Told::default());
        let totals = collector.collect(collector.plan(), &told);
        told.must_be_without_failure();
        totals
    }

    /// Follows while `meanwhile` goes on.
    pub(crate) fn follow<T>(&self, meanwhile: impl FnOnce() -> T) -> T {
        let (collector, told, stop) = (self.collector(), Told::default(), AtomicBool::new(false));
        let outcome = thread::scope(|scope| {
            let following = scope.spawn(|| collector.follow(&stop, &told));
            // Also a test that fails has to stop it.
            let _stop = StopAtEnd(&stop);
            wait_until("everything has been collected", || told.has_caught_up());
            let outcome = meanwhile();
            stop.store(true, Ordering::Relaxed);
            following.join().unwrap().unwrap();
            outcome
        });
        told.must_be_without_failure();
        outcome
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.layout.storage().join("cache/collect.json")
    }

    /// Deletes the cache.
    pub(crate) fn forget(&self) {
        let _ = fs::remove_file(self.cache());
    }

    /// Returns the transcripts to the byte.
    pub(crate) fn transcripts(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let files = homes::files_below(&self.layout.transcripts());
        files.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
    }

    /// Returns the events of `run`, of which the last line may be torn.
    pub(crate) fn events(&self, run: &RunId) -> Vec<Event> {
        match Reader::open(self.layout.transcript(run)) {
            Ok(reader) => reader.filter_map(Result::ok).collect(),
            Err(_) => Vec::new(),
        }
    }

    /// Returns the lines of agents that `run` keeps, in its order.
    pub(crate) fn kept(&self, run: &RunId) -> Vec<Vec<u8>> {
        kept(&self.events(run))
    }

    /// Checks that nothing is wrong with `run`.
    pub(crate) fn verify(&self, run: &RunId) {
        let report = verify_run(&self.layout, run).unwrap();
        let findings: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
        assert!(report.is_sound(), "{run}: {findings:#?}\n{}", self.outline(run));
    }

    /// Returns what stands in `run`, in short.
    pub(crate) fn outline(&self, run: &RunId) -> String {
        let line = |event: Event| {
            let origin = event.origin.as_ref().map(|o| (o.offset, o.len, o.until));
            let payload: String = event.payload.as_str().chars().take(90).collect();
            format!("{} {} {origin:?} {payload}\n", event.seq, event.kind.as_str())
        };
        self.events(run).into_iter().map(line).collect()
    }
}

pub(crate) fn kept(events: &[Event]) -> Vec<Vec<u8>> {
    let raws = events.iter().filter_map(|event| event.raw.as_ref().and_then(Raw::bytes));
    raws.flat_map(|raw| raw.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>())
        .filter(|line| !line.is_empty())
        .collect()
}

/// Returns the tokens of all usage events.
pub(crate) fn usage(events: &[Event]) -> TokenCounts {
    let mut sum = TokenCounts::default();
    for event in events.iter().filter(|event| event.kind == Kind::Usage) {
        if let Ok(Payload::Usage(usage)) = event.decode_payload() {
            sum.add(&usage.tokens());
        }
    }
    sum
}

/// Waits until something is so.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "it never came to be that {what}");
        thread::sleep(Duration::from_millis(3));
    }
}

struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Told {
    failures: Mutex<Vec<String>>,
    has_caught_up: AtomicBool,
}

impl Told {
    fn has_caught_up(&self) -> bool {
        self.has_caught_up.load(Ordering::Relaxed)
    }

    fn fail(&self, path: &Path, error: &CollectError) {
        // What is deleted while it is looked at is not there.
        if matches!(error, CollectError::Read { source, .. } if source.kind() == io::ErrorKind::NotFound)
        {
            return;
        }
        self.failures.lock().unwrap().push(format!("{}: {error:?}", path.display()));
    }

    fn must_be_without_failure(&self) {
        assert_eq!(*self.failures.lock().unwrap(), Vec::<String>::new());
    }
}

impl Observer for Told {
    fn bytes(&self, _: u64) {}

    fn session(&self, report: SessionReport) {
        if let Some(error) = &report.error {
            self.fail(&report.path, error);
        }
    }
}

impl FollowObserver for Told {
    fn caught_up(&self) {
        self.has_caught_up.store(true, Ordering::Relaxed);
    }

    fn blind(&self, _: &Path, _: &str) {}

    fn news(&self, _: &SessionNews) {}

    fn failed(&self, path: &Path, error: &CollectError) {
        self.fail(path, error);
    }
}

/// Is told how collecting goes on, and does not listen.
pub(crate) struct Deaf;

impl Observer for Deaf {
    fn bytes(&self, _: u64) {}

    fn session(&self, _: SessionReport) {}
}
