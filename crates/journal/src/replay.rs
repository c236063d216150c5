//! A subscription that begins on disk and never misses anything.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quipu_event::Event;

use crate::fanout::{Received, Subscription};
use crate::reader::{ReadProblem, Reader};

/// All events of a run from some number on: from disk first, then live.
///
/// Every event comes exactly once and in order. What the live buffer had to drop is read from
/// disk, where it is by the time anybody can know of it.
pub struct Replay {
    live: Subscription,
    path: PathBuf,
    /// The number of the event to return next.
    next: u64,
    disk: Option<Catching>,
    /// A live event that waits for the ones before it to be read from disk.
    held: VecDeque<Arc<Event>>,
}

/// Reading from disk up to a number.
struct Catching {
    reader: Reader,
    until: u64,
}

impl Replay {
    /// Starts at `seq`, knowing that numbers up to `written` are on disk.
    pub(crate) fn new(live: Subscription, path: PathBuf, seq: u64, written: u64) -> Self {
        let mut replay = Replay { live, path, next: seq.max(1), disk: None, held: VecDeque::new() };
        replay.catch_up(written);
        replay
    }

    /// Waits for the next event; nothing more comes after the recorder is closed.
    pub fn recv(&mut self) -> Option<Arc<Event>> {
        loop {
            match self.receive(None) {
                Received::Event(event) => return Some(event),
                Received::Closed => return None,
                Received::Nothing => {}
            }
        }
    }

    /// Waits for the next event, but no longer than `patience`.
    pub fn recv_timeout(&mut self, patience: Duration) -> Received {
        self.receive(Some(Instant::now() + patience))
    }

    /// Returns how many events passed the live buffer by. They were read from disk instead.
    pub fn refilled(&self) -> u64 {
        self.live.dropped()
    }

    /// Stops the subscription. Closing twice is fine.
    pub fn close(&self) {
        self.live.close();
    }

    fn receive(&mut self, deadline: Option<Instant>) -> Received {
        loop {
            if let Some(event) = self.next_on_disk() {
                return self.deliver(event);
            }
            if let Some(event) = self.held.pop_front() {
                return self.deliver(event);
            }
            match self.next_live(deadline) {
                Received::Event(event) if event.seq < self.next => {}
                Received::Event(event) if event.seq == self.next => return self.deliver(event),
                Received::Event(event) => {
                    self.catch_up(event.seq - 1);
                    self.held.push_back(event);
                }
                Received::Nothing | Received::Closed if self.live.newest() >= self.next => {
                    self.catch_up(self.live.newest());
                }
                nothing => return nothing,
            }
        }
    }

    /// Looks at the live buffer, and waits there only if nothing is known to be on disk.
    fn next_live(&mut self, deadline: Option<Instant>) -> Received {
        match self.live.try_recv() {
            Received::Nothing if self.live.newest() < self.next => match deadline {
                Some(deadline) => {
                    self.live.recv_timeout(deadline.saturating_duration_since(Instant::now()))
                }
                None => self.live.recv_timeout(Duration::from_secs(1)),
            },
            found => found,
        }
    }

    fn deliver(&mut self, event: Arc<Event>) -> Received {
        self.next = event.seq + 1;
        Received::Event(event)
    }

    /// Starts reading from disk what is numbered from `next` to `until`.
    fn catch_up(&mut self, until: u64) {
        self.disk = None;
        if until < self.next {
            return;
        }
        match Reader::from_seq(&self.path, self.next) {
            Ok(reader) => self.disk = Some(Catching { reader, until }),
            Err(error) => {
                tracing::error!(%error, from = self.next, until, "cannot read back events");
                self.next = until + 1;
            }
        }
    }

    fn next_on_disk(&mut self) -> Option<Arc<Event>> {
        let Catching { reader, until } = self.disk.as_mut()?;
        while self.next <= *until {
            match reader.next_settled() {
                Some(Ok(event)) if event.seq >= self.next => return Some(Arc::new(event)),
                Some(Ok(_)) => {}
                Some(Err(problem @ ReadProblem::Damaged { .. })) => {
                    tracing::error!(%problem, "passed over while reading back");
                }
                Some(Err(ReadProblem::Io(error))) => {
                    tracing::error!(%error, from = self.next, until, "cannot read back events");
                    self.next = *until + 1;
                }
                None => {
                    // Somebody cut the file: what is not there cannot be waited for.
                    tracing::error!(from = self.next, until, "events to read back are not there");
                    self.next = *until + 1;
                }
            }
        }
        self.disk = None;
        None
    }
}

impl Iterator for Replay {
    type Item = Arc<Event>;

    fn next(&mut self) -> Option<Arc<Event>> {
        self.recv()
    }
}
