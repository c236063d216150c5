//! Everything that is waited for, in one queue: transcripts that change, keys, signals.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;

/// Changes within so short a time are shown together.
const TOGETHER: Duration = Duration::from_millis(40);
/// So often everything is looked at, whatever the system tells.
const LOOK: Duration = Duration::from_secs(10);
/// So often where it tells nothing.
const LOOK_DEAF: Duration = Duration::from_secs(1);

/// Hears what happens.
pub(super) struct Ears {
    news: Receiver<News>,
    tell: Sender<News>,
    folder: PathBuf,
    /// Tells of changes in the folder, once that is there.
    watcher: Option<RecommendedWatcher>,
}

/// What has been heard since the last time.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Transcripts that have changed.
    pub(super) changed: BTreeSet<PathBuf>,
    /// Whether more has changed than was told.
    pub(super) is_lost: bool,
    /// Whether the terminal has another size.
    pub(super) is_resized: bool,
    /// Whether the program is to be suspended.
    pub(super) is_suspended: bool,
    /// Whether somebody asked for the end.
    pub(super) is_over: bool,
}

enum News {
    Changed(Vec<PathBuf>),
    /// More has changed than is told: everything is to be looked at.
    Look,
    Signal(i32),
    Keys(Vec<u8>),
    /// The terminal went away.
    HungUp,
}

/// Lets others be heard.
#[derive(Clone)]
pub(super) struct Tongue(Sender<News>);

impl Tongue {
    /// Says that it is time to look again.
    pub(super) fn nudge(&self) {
        // Whoever has stopped listening is not told.
        let _ = self.0.send(News::Look);
    }
}

impl Ears {
    /// Listens to changes in `folder` and to signals; to keys too if there is a terminal.
    pub(super) fn new(folder: PathBuf, has_terminal: bool) -> anyhow::Result<Self> {
        let (tell, news) = channel();
        let mut awaited = vec![SIGINT, SIGTERM, SIGHUP];
        if has_terminal {
            awaited.extend([SIGWINCH, SIGTSTP]);
        }
        let mut signals = Signals::new(awaited)?;
        let tell_signals = tell.clone();
        std::thread::spawn(move || {
            for signal in signals.forever() {
                if tell_signals.send(News::Signal(signal)).is_err() {
                    return;
                }
            }
        });
        if has_terminal && std::io::stdin().is_terminal() {
            let tell_keys = tell.clone();
            std::thread::spawn(move || read_keys(&tell_keys));
        }
        let mut ears = Ears { news, tell, folder, watcher: None };
        ears.renew();
        Ok(ears)
    }

    /// Returns the means to be heard.
    pub(super) fn tongue(&self) -> Tongue {
        Tongue(self.tell.clone())
    }

    /// Watches the folder if it has come to be since.
    pub(super) fn renew(&mut self) {
        if !self.folder.is_dir() {
            self.watcher = None;
        } else if self.watcher.is_none() {
            self.watcher = watch(&self.folder, self.tell.clone()).ok();
        }
    }

    /// Returns how long everything need not be looked at.
    pub(super) fn rest(&self) -> Duration {
        if self.watcher.is_some() { LOOK } else { LOOK_DEAF }
    }

    /// Waits for news, at most for `patience`, and takes all there are.
    pub(super) fn next(&mut self, patience: Duration) -> Heard {
        let mut heard = Heard::default();
        let Ok(first) = self.news.recv_timeout(patience) else { return heard };
        heard.take(first);
        let end = Instant::now() + TOGETHER;
        while !heard.is_over && !heard.is_resized {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(news) = self.news.recv_timeout(left) else { break };
            heard.take(news);
        }
        heard
    }
}

impl Heard {
    fn take(&mut self, news: News) {
        match news {
            News::Changed(paths) => self.changed.extend(paths),
            News::Look => self.is_lost = true,
            News::Signal(SIGWINCH) => self.is_resized = true,
            News::Signal(SIGTSTP) => self.is_suspended = true,
            News::Signal(_) | News::HungUp => self.is_over = true,
            // An escape begins what the terminal sends for a key that is no character.
            News::Keys(keys) if keys.first() == Some(&0x1b) => {}
            News::Keys(keys) => self.is_over |= keys.iter().any(|key| matches!(key, b'q' | b'Q')),
        }
    }
}

fn read_keys(tell: &Sender<News>) {
    let mut keys = [0; 64];
    while let Ok(count @ 1..) = std::io::stdin().lock().read(&mut keys) {
        if tell.send(News::Keys(keys[..count].to_vec())).is_err() {
            return;
        }
    }
    // Whoever has stopped listening is not told.
    let _ = tell.send(News::HungUp);
}

fn watch(folder: &Path, tell: Sender<News>) -> notify::Result<RecommendedWatcher> {
    let told = move |event: notify::Result<notify::Event>| {
        let news = match event {
            Ok(event) if event.need_rescan() => News::Look,
            Ok(event) if is_change(&event.kind) => News::Changed(event.paths),
            Ok(_) => return,
            Err(_) => News::Look,
        };
        // Whoever has stopped listening is not told.
        let _ = tell.send(news);
    };
    let mut watcher = notify::recommended_watcher(told)?;
    watcher.watch(folder, RecursiveMode::NonRecursive)?;
    Ok(watcher)
}

/// Others, and we ourselves, may read as much as they like.
fn is_change(kind: &EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}
