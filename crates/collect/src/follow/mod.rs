//! Sessions as they grow: what an agent writes is in the transcript a moment later.
//!
//! The kernel says which file has changed. A slow look at everything is the safety net, and all
//! there is where the kernel says nothing (network file systems, too many folders).

mod live;
mod watch;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use quipu_event::RunId;

use crate::batch::Observer;
use crate::collector::Collector;
use crate::error::CollectError;
use live::Live;
use watch::{News, Watch};

/// A file that has been silent for so long gives what it holds back. Lines that an agent writes at
/// once are less than this apart, and whoever waits for one must not wait for milliseconds.
const SILENCE: Duration = Duration::from_micros(700);
/// So often everything is looked at, whatever the kernel says.
const LOOK: Duration = Duration::from_secs(20);
/// So often where the kernel says nothing, and for folders that are not there yet.
const LOOK_BLIND: Duration = Duration::from_secs(1);
/// So soon after a folder has come to be.
const LOOK_SOON: Duration = Duration::from_millis(250);
/// So long at most until somebody who asks for the end is heard.
const HEARING: Duration = Duration::from_millis(200);

/// Is told how following goes on.
pub trait FollowObserver: Observer {
    /// Everything there was has been collected; from now on it is news.
    fn caught_up(&self);
    /// Changes below `folder` are not told by the kernel, so it is looked at every second.
    fn blind(&self, folder: &std::path::Path, reason: &str);
    /// Events of a session have been recorded.
    fn news(&self, news: &SessionNews);
    /// A session is not being recorded any more.
    fn ends(&self, _run: &RunId) {}
    /// A session could not be recorded.
    fn failed(&self, path: &std::path::Path, error: &CollectError);
}

/// What is new in a session.
#[derive(Clone, Debug)]
pub struct SessionNews {
    /// The run it is recorded as.
    pub run_id: RunId,
    /// Whose session it is.
    pub provider: &'static str,
    /// The agent's own name for it.
    pub session: String,
    /// The file that has grown.
    pub path: PathBuf,
    /// How many events were recorded.
    pub events: u64,
}

impl Collector {
    /// Collects everything there is, then what comes, until `stop` is set.
    ///
    /// At the end everything complete is drained and every run that is open is ended.
    pub fn follow(
        &self,
        stop: &AtomicBool,
        observer: &dyn FollowObserver,
    ) -> Result<(), CollectError> {
        // Whatever happens while the rest is collected is heard afterwards.
        let mut watch = Watch::new(self.roots(), observer)?;
        self.collect(self.plan(), observer);
        let mut live = Live::new(self, observer);
        observer.caught_up();
        let until_look = |watch: &Watch| if watch.is_blind() { LOOK_BLIND } else { LOOK };
        let mut next_look = Instant::now() + until_look(&watch);
        let mut renewed = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            let patience = if live.is_unsettled() { SILENCE } else { HEARING };
            match watch.next(patience) {
                News::Changed(paths) => {
                    // What comes to be in a new folder before it is watched is not told.
                    if paths.iter().any(|path| path.is_dir()) {
                        next_look = next_look.min(Instant::now() + LOOK_SOON);
                    }
                    paths.iter().for_each(|path| live.look_at(path));
                }
                News::Lost => live.look_at_all(),
                News::Silence => {}
            }
            live.settle(SILENCE);
            if renewed.elapsed() >= LOOK_BLIND {
                renewed = Instant::now();
                if watch.renew(observer) {
                    live.look_at_all();
                }
            }
            if Instant::now() >= next_look {
                live.look_at_all();
                live.retire();
                next_look = Instant::now() + until_look(&watch);
            }
        }
        // What the kernel has not told yet is there all the same.
        live.look_at_all();
        live.end();
        Ok(())
    }
}
