//! Follows the session file of an agent that has the terminal, as collecting does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use quipu_event::RunId;
use quipu_event::payload::Payload;
use quipu_journal::{Layout, look_at};
use quipu_provider::find_provider;

use super::follow::{FollowHint, Followed, Following, NoFollower, SessionFollower};
use crate::batch::Observer;
use crate::collector::Collector;
use crate::error::CollectError;
use crate::follow::{FollowObserver, SessionNews};
use crate::homes::Homes;
use crate::report::SessionReport;
use crate::store::Store;

/// Clocks of files are coarse: one that changed so little before the agent began may be its own.
const COARSE: Duration = Duration::from_secs(1);

/// Follows the sessions of agents below some homes.
pub struct CollectingFollower {
    /// Where the session's own run goes.
    pub store: Store,
    /// Where agents leave their sessions.
    pub homes: Homes,
}

impl SessionFollower for CollectingFollower {
    fn start(&self, hint: FollowHint) -> Box<dyn Following> {
        let provider =
            hint.provider.and_then(find_provider).filter(|found| !found.files.is_empty());
        let Some(provider) = provider else { return NoFollower.start(hint) };
        let began = u64::try_from(hint.started_at.as_micros()).unwrap_or(0);
        let since = SystemTime::UNIX_EPOCH + Duration::from_micros(began) - COARSE;
        let collector = Collector::new(self.store.clone(), &self.homes, &[provider]).since(since);
        let (stop, heard) = (Arc::new(AtomicBool::new(false)), Arc::new(Heard::default()));
        let thread = {
            let (stop, heard) = (Arc::clone(&stop), Arc::clone(&heard));
            std::thread::Builder::new()
                .name("session".to_owned())
                .spawn(move || collector.follow(&stop, &*heard))
        };
        match thread {
            Ok(thread) => {
                let (layout, cwd) = (self.store.layout.clone(), hint.cwd);
                Box::new(FollowedSession { stop, heard, thread, layout, cwd })
            }
            Err(_) => NoFollower.start(hint),
        }
    }
}

struct FollowedSession {
    stop: Arc<AtomicBool>,
    heard: Arc<Heard>,
    thread: JoinHandle<Result<(), CollectError>>,
    layout: Layout,
    cwd: PathBuf,
}

impl Following for FollowedSession {
    fn finish(self: Box<Self>) -> Followed {
        self.stop.store(true, Ordering::Relaxed);
        let failure = match self.thread.join() {
            Ok(Ok(())) => self.heard.take(|told| told.failure.take()),
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("following the session panicked".to_owned()),
        };
        let runs = self.heard.take(|told| std::mem::take(&mut told.runs));
        let runs: Vec<RunId> =
            runs.into_iter().filter(|run| is_in(&self.layout, run, &self.cwd)).collect();
        let note = match (runs.is_empty(), failure) {
            (_, Some(failure)) => Some(format!("the session is not recorded whole: {failure}")),
            (true, None) => Some("the agent has left no session".to_owned()),
            (false, None) => None,
        };
        Followed { runs, note }
    }
}

/// Tells whether a run's agent worked in `cwd`; one that does not say may have.
fn is_in(layout: &Layout, run: &RunId, cwd: &Path) -> bool {
    let first = look_at(layout, run).ok().and_then(|found| found.first);
    match first.map(|event| event.decode_payload()) {
        Some(Ok(Payload::RunStarted(started))) => {
            started.cwd.is_none_or(|found| Path::new(&found) == cwd)
        }
        _ => true,
    }
}

/// What was heard of the sessions that were followed.
#[derive(Default)]
struct Heard {
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    runs: BTreeSet<RunId>,
    failure: Option<String>,
}

impl Heard {
    fn take<T>(&self, take: impl FnOnce(&mut Told) -> T) -> T {
        take(&mut self.told.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Observer for Heard {
    fn bytes(&self, _: u64) {}

    fn session(&self, report: SessionReport) {
        self.take(|told| match report.error {
            Some(error) => told.failure = Some(error.to_string()),
            None if report.events > 0 => _ = told.runs.insert(report.run_id),
            None => {}
        });
    }
}

impl FollowObserver for Heard {
    fn caught_up(&self) {}

    fn blind(&self, _: &Path, _: &str) {}

    fn news(&self, news: &SessionNews) {
        self.take(|told| told.runs.insert(news.run_id.clone()));
    }

    fn failed(&self, path: &Path, error: &CollectError) {
        self.take(|told| told.failure = Some(format!("{}: {error}", path.display())));
    }
}
