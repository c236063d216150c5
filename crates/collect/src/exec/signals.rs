//! Signals that we get are the agent's: they are handed on.
//!
//! The agent is in our process group, so what a terminal sends (Ctrl-C, Ctrl-Z) reaches it without us,
//! and is not handed on: a second Ctrl-C means something else than the first. Signals that were
//! ignored when we were started stay ignored, for the agent too: that is how `nohup` works.

use std::io;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use signal_hook::consts::{
    SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGSTOP, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGXFSZ,
};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;
use signal_hook::low_level::{raise, siginfo::Origin};

use super::news::News;

/// What is handed on.
const HANDED_ON: &[i32] = &[SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT];
/// What asks for an end.
const ENDING: &[i32] = &[SIGINT, SIGTERM, SIGHUP, SIGQUIT];
/// How often, and how many times, an agent that was told to stop is looked at.
const LOOK: Duration = Duration::from_millis(20);
const LOOKS: u32 = 50;

/// The agent's process, as long as its number is its own.
#[derive(Clone, Default)]
pub(super) struct Agent(Arc<Mutex<Option<Pid>>>);

/// Signals that are caught and not handed on yet.
pub(super) struct Caught(SignalsInfo<WithOrigin>);

impl Caught {
    /// Begins to catch signals, before there is anybody to hand them on to.
    ///
    /// From here on a file that grows beyond its limit is an error to be told, not a signal that
    /// kills.
    pub(super) fn begin() -> io::Result<Self> {
        signal_hook::flag::register(SIGXFSZ, Arc::default())?;
        let ignored = ignored_signals();
        let is_ignored = |signal: &i32| ignored & (1 << (signal - 1)) != 0;
        let signals = HANDED_ON.iter().filter(|signal| !is_ignored(signal));
        Ok(Caught(SignalsInfo::new(signals)?))
    }

    /// Hands on what was caught, and what will be.
    pub(super) fn hand_on(mut self, agent: Agent, news: SyncSender<News>) -> io::Result<()> {
        let hand_on = move || {
            for origin in self.0.forever() {
                agent.receive(&origin);
                if ENDING.contains(&origin.signal) && news.send(News::Asked(origin.signal)).is_err()
                {
                    return;
                }
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(hand_on)?;
        Ok(())
    }
}

impl Agent {
    /// Takes note of its process.
    pub(super) fn begin(&self, pid: u32) {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = pid;
    }

    /// Waits until it has ended. Its number stays its own until somebody asks how it ended.
    pub(super) fn wait(&self) {
        let Some(pid) = self.pid() else { return };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn pid(&self) -> Option<Pid> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn receive(&self, origin: &Origin) {
        let from_terminal = matches!(origin.cause, Cause::Kernel) && origin.signal != SIGCONT;
        if let (false, Some(signal)) = (from_terminal, Signal::from_named_raw(origin.signal)) {
            // Held while it is sent: the number must not become another's in between.
            let pid = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // An error means that it is gone, or has become another user.
            let _ = pid.map(|pid| kill_process(pid, signal));
        }
        if origin.signal == SIGTSTP && self.has_stopped() {
            // Whoever waits for us is to see that the job has stopped. A job that nobody could
            // wake again is not stopped by the system, and then not by us.
            let _ = raise(SIGSTOP);
        }
    }

    /// Waits a moment for the agent to stop, and tells whether it did.
    fn has_stopped(&self) -> bool {
        let Some(pid) = self.pid() else { return false };
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        (0..LOOKS).any(|look| {
            if look > 0 {
                thread::sleep(LOOK);
            }
            matches!(waitid(WaitId::Pid(pid), options), Ok(Some(status)) if status.stopped())
        })
    }
}

/// Returns the signals that this process ignores, a bit each; none where the system does not say.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
