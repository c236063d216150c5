//! What agents write is recorded while one watches. It says nothing: the screen belongs to others.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use quipu_collect::{
    CollectError, Collector, FollowObserver, Homes, Observer, SessionNews, SessionReport, Store,
    collectable,
};

use super::ears::Tongue;
use crate::Context;
use crate::commands::record::Keeping;

/// How long the collector may take to come to its end. What it leaves open is gone on with by the
/// next one.
const PATIENCE: Duration = Duration::from_secs(2);
/// Sessions that have changed within so long are collected before all others.
const FIRST: Duration = Duration::from_secs(3600);

/// A collector at work in a thread of its own.
pub(super) struct Collecting {
    stop: Arc<AtomicBool>,
    note: Arc<Mutex<Option<String>>>,
    done: Receiver<()>,
}

impl Collecting {
    /// Begins to collect what lies below `homes`; `tongue` is used when there is something new to
    /// be said about it.
    pub(super) fn start(
        context: &Context,
        homes: &Homes,
        recent: Duration,
        tongue: Tongue,
    ) -> anyhow::Result<Self> {
        let first = collector(context, homes)?.since(before(recent.max(FIRST)));
        let all = collector(context, homes)?;
        let stop = Arc::new(AtomicBool::new(false));
        let note = Arc::new(Mutex::new(Some("collecting sessions…".to_owned())));
        let (say_done, done) = channel();
        let silent = Silent { note: Arc::clone(&note), tongue };
        let stop_asked = Arc::clone(&stop);
        std::thread::spawn(move || {
            first.collect(first.plan(), &silent);
            if let Err(error) = all.follow(&stop_asked, &silent) {
                silent.say(Some(format!("sessions are not recorded: {error}")));
            }
            // Nobody listens any more if it took too long.
            let _ = say_done.send(());
        });
        Ok(Collecting { stop, note, done })
    }

    /// Returns what a person should know about it.
    pub(super) fn note(&self) -> Option<String> {
        self.note.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets it come to its end.
    pub(super) fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        // If it is not done by then, transcripts are whole up to their last line all the same.
        let _ = self.done.recv_timeout(PATIENCE);
    }
}

/// Collects what has changed lately, once.
pub(super) fn collect_once(
    context: &Context,
    homes: &Homes,
    recent: Duration,
) -> anyhow::Result<()> {
    struct Nobody;
    impl Observer for Nobody {
        fn bytes(&self, _: u64) {}
        fn session(&self, _: SessionReport) {}
    }
    let collector = collector(context, homes)?.since(before(recent.max(FIRST)));
    collector.collect(collector.plan(), &Nobody);
    Ok(())
}

fn before(span: Duration) -> SystemTime {
    SystemTime::now().checked_sub(span).unwrap_or(SystemTime::UNIX_EPOCH)
}

fn collector(context: &Context, homes: &Homes) -> anyhow::Result<Collector> {
    let options = Keeping::default().options_of_copies(context)?;
    let store = Store::new(context.settings.layout(), options);
    Ok(Collector::new(store, homes, &collectable()))
}

/// Hears everything and says next to nothing.
struct Silent {
    note: Arc<Mutex<Option<String>>>,
    tongue: Tongue,
}

impl Silent {
    fn say(&self, note: Option<String>) {
        *self.note.lock().unwrap_or_else(PoisonError::into_inner) = note;
        self.tongue.nudge();
    }
}

impl Observer for Silent {
    fn bytes(&self, _: u64) {}

    fn session(&self, _: SessionReport) {}
}

impl FollowObserver for Silent {
    fn caught_up(&self) {
        self.say(None);
    }

    fn blind(&self, _: &Path, _: &str) {}

    fn news(&self, _: &SessionNews) {}

    /// A run that another process writes is read from its transcript like any other; a file that
    /// cannot be read is for `quipu collect` to tell.
    fn failed(&self, _: &Path, _: &CollectError) {}
}
