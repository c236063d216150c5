//! Live subscribers: bounded, never waited for, drops counted.
//!
//! A subscriber that falls behind loses the newest events and can see it from the jump in `seq`.
//! Reading them back from disk is [`crate::replay`]'s work, not this file's.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use quipu_event::Event;

use crate::page::{LinePlace, Page};

/// How many events a subscriber may leave unread before new ones pass it by.
pub const DEFAULT_BUFFER: usize = 256;

/// A subscriber that finds nothing looks again this often before it goes to sleep, so that a
/// stream of events is not slowed by a wake-up call for each of them.
const NAPS_BEFORE_SLEEP: u32 = 10;
const NAP: Duration = Duration::from_micros(50);

/// What became of the events meant for one subscriber.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubscriberStats {
    /// Names the subscriber among those of its recorder.
    pub id: u64,
    /// Events handed to it.
    pub delivered: u64,
    /// Events that passed it by because its buffer was full.
    pub dropped: u64,
}

/// All subscribers of one recorder.
#[derive(Default)]
pub(crate) struct Fanout {
    mailboxes: Vec<Arc<Mailbox>>,
    subscribed: u64,
    dropped_by_departed: u64,
    closed: bool,
}

impl Fanout {
    pub(crate) fn is_idle(&self) -> bool {
        self.mailboxes.is_empty()
    }

    /// Adds a subscriber of the transcript at `path`; one that comes after the end sees the end
    /// at once.
    pub(crate) fn subscribe(&mut self, capacity: usize, path: &Path) -> Subscription {
        self.subscribed += 1;
        let mailbox = Arc::new(Mailbox::new(self.subscribed, capacity.max(1)));
        if self.closed {
            mailbox.close();
        } else {
            self.mailboxes.push(Arc::clone(&mailbox));
        }
        Subscription { mailbox, taken: VecDeque::new(), page: Page::of(path) }
    }

    /// Tells every subscriber that has room where the next line is.
    ///
    /// Lines are on disk by now, and that is where subscribers read them, each in its own thread:
    /// live and disk cannot differ, and a writer pays for a place, not for a copy.
    pub(crate) fn publish(&mut self, line: LinePlace) {
        let departed = &mut self.dropped_by_departed;
        self.mailboxes.retain(|mailbox| match mailbox.deliver(line) {
            Delivery::Delivered => true,
            Delivery::Dropped { warn: Some(dropped) } => {
                warn(mailbox.id, line.seq, dropped);
                true
            }
            Delivery::Dropped { warn: None } => true,
            Delivery::Gone => {
                *departed += mailbox.lock().dropped;
                false
            }
        });
    }

    pub(crate) fn stats(&self) -> (Vec<SubscriberStats>, u64) {
        let each: Vec<_> = self.mailboxes.iter().map(|mailbox| mailbox.stats()).collect();
        let total = self.dropped_by_departed + each.iter().map(|stats| stats.dropped).sum::<u64>();
        (each, total)
    }

    pub(crate) fn close(&mut self) {
        self.closed = true;
        // The mailboxes stay listed so that their counters can still be read.
        for mailbox in &self.mailboxes {
            mailbox.close();
        }
    }
}

fn warn(subscriber: u64, seq: u64, dropped: u64) {
    tracing::warn!(subscriber, seq, dropped, "a slow subscriber misses events; they are on disk");
}

enum Delivery {
    Delivered,
    Dropped { warn: Option<u64> },
    Gone,
}

/// One subscriber's letters.
///
/// No two share a line of memory: else one that is read would slow the delivery to all others.
#[repr(align(128))]
pub(crate) struct Mailbox {
    id: u64,
    capacity: usize,
    letters: Mutex<Letters>,
    arrived: Condvar,
}

#[derive(Default)]
struct Letters {
    waiting: VecDeque<LinePlace>,
    closed: bool,
    asleep: bool,
    delivered: u64,
    dropped: u64,
    newest: u64,
    warned: Option<Instant>,
}

impl Letters {
    /// Returns how many were dropped, if it is time to say so again.
    ///
    /// The first drop is told at once. After that the clock is looked at only now and then: it
    /// costs as much as the drop itself.
    fn warning(&mut self) -> Option<u64> {
        if self.dropped % 64 != 1 {
            return None;
        }
        let now = Instant::now();
        let due = self.warned.is_none_or(|last| now - last >= Duration::from_secs(1));
        due.then(|| self.warned = Some(now)).map(|()| self.dropped)
    }
}

impl Mailbox {
    fn new(id: u64, capacity: usize) -> Self {
        Mailbox { id, capacity, letters: Mutex::default(), arrived: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Letters> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn deliver(&self, line: LinePlace) -> Delivery {
        let mut letters = self.lock();
        if letters.closed {
            return Delivery::Gone;
        }
        letters.newest = line.seq;
        if letters.waiting.len() >= self.capacity {
            letters.dropped += 1;
            return Delivery::Dropped { warn: letters.warning() };
        }
        letters.waiting.push_back(line);
        letters.delivered += 1;
        if letters.asleep {
            self.arrived.notify_one();
        }
        Delivery::Delivered
    }

    fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_one();
    }

    fn stats(&self) -> SubscriberStats {
        let letters = self.lock();
        SubscriberStats { id: self.id, delivered: letters.delivered, dropped: letters.dropped }
    }
}

/// One subscriber's end. Dropping it unsubscribes.
pub struct Subscription {
    mailbox: Arc<Mailbox>,
    taken: VecDeque<LinePlace>,
    page: Page,
}

/// What a subscriber found when it looked.
#[derive(Clone, Debug)]
pub enum Received {
    /// The next event.
    Event(Arc<Event>),
    /// Nothing within the time it had.
    Nothing,
    /// The recorder is closed and everything delivered has been read.
    Closed,
}

impl Subscription {
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

    /// Looks for an event without waiting.
    pub fn try_recv(&mut self) -> Received {
        self.receive(Some(Instant::now()))
    }

    /// Returns how many events have passed this subscriber by.
    pub fn dropped(&self) -> u64 {
        self.mailbox.lock().dropped
    }

    /// Stops the subscription; what was delivered can still be read. Closing twice is fine.
    pub fn close(&self) {
        self.mailbox.close();
    }

    /// Returns the number of the newest event that was published, delivered or not.
    pub(crate) fn newest(&self) -> u64 {
        self.mailbox.lock().newest
    }

    fn receive(&mut self, deadline: Option<Instant>) -> Received {
        let mut naps = 0;
        loop {
            if let Some(line) = self.taken.pop_front() {
                match self.page.event_at(line, self.taken.back().copied()) {
                    Ok(event) => return Received::Event(Arc::new(event)),
                    Err(error) => {
                        tracing::error!(seq = line.seq, %error, "cannot read an event back")
                    }
                }
                continue;
            }
            let mut letters = self.mailbox.lock();
            if !letters.waiting.is_empty() {
                std::mem::swap(&mut letters.waiting, &mut self.taken);
                continue;
            }
            if letters.closed {
                return Received::Closed;
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Received::Nothing;
            }
            if naps < NAPS_BEFORE_SLEEP {
                drop(letters);
                naps += 1;
                std::thread::sleep(left.map_or(NAP, |left| left.min(NAP)));
            } else {
                self.mailbox.sleep(letters, left);
            }
        }
    }
}

impl Mailbox {
    fn sleep(&self, mut letters: MutexGuard<'_, Letters>, longest: Option<Duration>) {
        letters.asleep = true;
        let mut letters = match longest {
            None => self.arrived.wait(letters).unwrap_or_else(PoisonError::into_inner),
            Some(longest) => {
                self.arrived
                    .wait_timeout(letters, longest)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0
            }
        };
        letters.asleep = false;
    }
}

impl Iterator for Subscription {
    type Item = Arc<Event>;

    fn next(&mut self) -> Option<Arc<Event>> {
        self.recv()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.close();
    }
}
