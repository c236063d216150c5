//! Everything that a player hears while it waits, in one queue: keys and signals.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;

/// Hears keys and signals.
pub(super) struct Ears {
    news: Receiver<News>,
}

/// What was heard.
#[derive(Debug)]
pub(super) enum News {
    Keys(Vec<u8>),
    /// The program is to be suspended.
    Suspend,
    /// Somebody asked for the end.
    End,
}

impl Ears {
    /// Listens to signals, and to keys if there are any.
    pub(super) fn new(has_keys: bool) -> anyhow::Result<Self> {
        let (tell, news) = channel();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGTSTP])?;
        if has_keys {
            let tell = tell.clone();
            std::thread::spawn(move || read_keys(&tell));
        }
        std::thread::spawn(move || {
            for signal in signals.forever() {
                let news = if signal == SIGTSTP { News::Suspend } else { News::End };
                if tell.send(news).is_err() {
                    return;
                }
            }
        });
        Ok(Ears { news })
    }

    /// Waits for news, at most for `patience`.
    pub(super) fn next(&self, patience: Duration) -> Option<News> {
        match self.news.recv_timeout(patience) {
            Ok(news) => Some(news),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(News::End),
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
    // The terminal went away. Whoever has stopped listening is not told.
    let _ = tell.send(News::End);
}
