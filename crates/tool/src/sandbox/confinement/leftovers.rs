//! What a confined program leaves running, wherever it went: found by the restrictions it cannot shed.
//!
//! A process that has moved to a session of its own, with other variables and a parent that is gone,
//! is still in the domain that Landlock put it in. A thread of ours in the same domain can signal that
//! process and, besides ourselves, no other: so the kernel says who is left.

use std::fs;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, getppid, kill_process, test_kill_process};

/// How often it is looked again, for those who were started in between.
const ROUNDS: usize = 100;
/// How long those who were killed have to be gone.
const PAUSE: Duration = Duration::from_millis(2);

/// Somebody who can end all that a confined program leaves running. It happens when it is dropped.
#[derive(Clone, Default)]
pub(super) struct Watch(Arc<Mutex<Option<Post>>>);

/// A thread in the domain of the program.
struct Post {
    orders: Sender<Vec<Pid>>,
    hits: Receiver<Vec<Pid>>,
}

impl Watch {
    /// Leaves a thread behind in the domain of this one.
    pub(super) fn stay(&self) -> io::Result<()> {
        let (orders, ordered) = channel::<Vec<Pid>>();
        let (hit, hits) = channel();
        let builder = thread::Builder::new().name("leftovers".to_owned());
        builder.spawn(move || {
            // A parent that can be signaled from here means that nobody is told apart.
            let is_blind = getppid().is_none_or(|parent| test_kill_process(parent).is_ok());
            for pids in ordered {
                let mut hits = pids;
                hits.retain(|pid| !is_blind && kill_process(*pid, Signal::KILL).is_ok());
                if hit.send(hits).is_err() {
                    return;
                }
            }
        })?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Post { orders, hits });
        Ok(())
    }

    /// Ends everybody who is left, and waits for it.
    pub(super) fn end_leftovers(&self) {
        let post = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Post { orders, hits }) = post else { return };
        for _ in 0..ROUNDS {
            // The thread cannot look for itself: it may not see processes.
            if orders.send(others()).is_err() {
                return;
            }
            let hits = hits.recv().unwrap_or_default();
            if !hits.into_iter().any(is_alive) {
                return;
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Returns all processes but this one.
fn others() -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(Pid::from_raw).filter(|pid| *pid != getpid()).collect()
}

/// Tells whether a process is there and not only waiting for somebody to take note of its end.
fn is_alive(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    let state = stat.ok().and_then(|stat| stat.rsplit_once(") ").map(|(_, rest)| rest.to_owned()));
    state.is_some_and(|state| !state.starts_with(['Z', 'X']))
}
