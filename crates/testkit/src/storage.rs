//! A storage directory that vanishes with the test.

use std::path::PathBuf;
use std::sync::Arc;

use quipu_event::{Draft, Event, RunId, RunIdentity};
use quipu_journal::{Layout, OpenError, Options, Reader, Recorder, Recovery};

use crate::clock::SteppingClock;

/// A storage directory in a temporary place.
pub struct TestStorage {
    dir: tempfile::TempDir,
    /// Where runs lie in it.
    pub layout: Layout,
}

impl TestStorage {
    /// Makes an empty one.
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory can be made");
        let layout = Layout::new(dir.path().join("storage"));
        TestStorage { dir, layout }
    }

    /// Returns the directory that holds it.
    pub fn dir(&self) -> &std::path::Path {
        self.dir.path()
    }

    /// Makes an empty one in memory where the system offers that, for tests that sync a lot.
    pub fn in_memory() -> Self {
        let Ok(dir) = tempfile::tempdir_in("/dev/shm") else { return Self::new() };
        let layout = Layout::new(dir.path().join("storage"));
        TestStorage { dir, layout }
    }

    /// Begins the run `id` with a stepping clock.
    pub fn create(&self, id: &str) -> Recorder {
        self.create_with(id, options())
    }

    /// Begins the run `id`, called by the run `parent`.
    pub fn create_child(&self, id: &str, parent: &str) -> Recorder {
        let run = RunIdentity { run_id: run_id(id), parent_run_id: Some(run_id(parent)) };
        Recorder::create(&self.layout, run, options()).expect("a new run can be made")
    }

    /// Comes back to the run `id` with a stepping clock.
    pub fn reopen(&self, id: &str) -> Result<(Recorder, Recovery), OpenError> {
        Recorder::reopen(&self.layout, &run_id(id), options())
    }

    /// Takes up the run `id`, whose producer goes on.
    pub fn take_up(&self, id: &str) -> Result<(Recorder, Recovery), OpenError> {
        let identity = RunIdentity { run_id: run_id(id), parent_run_id: None };
        Recorder::take_up(&self.layout, &identity, options())
    }

    /// Records `drafts` as the run `id` and closes it.
    pub fn record(&self, id: &str, drafts: impl IntoIterator<Item = Draft>) {
        let recorder = self.create(id);
        for draft in drafts {
            recorder.record(draft).expect("a new run can be written");
        }
        recorder.close().expect("a run can be closed");
    }

    /// Returns the transcript of the run `id`.
    pub fn path(&self, id: &str) -> PathBuf {
        self.layout.transcript(&run_id(id))
    }

    /// Begins the run `id`.
    pub fn create_with(&self, id: &str, options: Options) -> Recorder {
        let run_id = run_id(id);
        let run = RunIdentity { run_id, parent_run_id: None };
        Recorder::create(&self.layout, run, options).expect("a new run can be made")
    }

    /// Reads the run `id`, which must be without damage.
    pub fn events(&self, id: &str) -> Vec<Event> {
        let reader = Reader::open(self.layout.transcript(&run_id(id))).expect("the run exists");
        reader.map(|event| event.expect("the run is without damage")).collect()
    }

    /// Returns the bytes of the run `id`.
    pub fn bytes(&self, id: &str) -> Vec<u8> {
        std::fs::read(self.layout.transcript(&run_id(id))).expect("the run exists")
    }
}

impl Default for TestStorage {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns default options with a stepping clock.
fn options() -> Options {
    Options { clock: Arc::new(SteppingClock::default()), ..Options::default() }
}

/// Takes `id` as a run id.
pub fn run_id(id: &str) -> RunId {
    RunId::parse(id).expect("tests use proper ids")
}
