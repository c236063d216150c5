//! Many producers, one at the door: whoever holds it also carries what the others brought.
//!
//! A producer that finds the door free goes through. One that finds it taken leaves its job in
//! the queue, and whoever comes through next carries the whole queue in one go. Each producer
//! returns only when its own job is done. Knows nothing of files; see [`crate::recorder`].

use crate::sync::{
    Arc, AtomicBool, AtomicU8, AtomicUsize, Condvar, LOOKS_BEFORE_SLEEP, LOOKS_BEFORE_YIELD,
    LOOKS_FOR_COMPANY, Mutex, MutexGuard, Ordering, spin_loop, yield_now,
};

/// What the door leads to.
pub(crate) trait Sink {
    /// What a producer brings.
    type Job;
    /// What it takes home.
    type Outcome;

    /// Does all `jobs` in their order and tells `done` the outcome of each, in the same order.
    fn process(&mut self, jobs: impl Iterator<Item = Self::Job>, done: impl FnMut(Self::Outcome));
}

/// The door.
pub(crate) struct Combiner<S: Sink> {
    sink: Mutex<S>,
    queue: Mutex<Vec<Waiting<S>>>,
    /// Whether somebody is at the door.
    led: AtomicBool,
    /// How many jobs are in the queue, readable without its lock.
    queued: AtomicUsize,
    /// How many of those who wait are awake and will see when the door is free.
    awake: AtomicUsize,
    /// How many came through together last time.
    company: AtomicUsize,
}

struct Waiting<S: Sink> {
    job: S::Job,
    slot: Arc<Slot<S::Outcome>>,
}

/// What stood in the queue: the jobs, and who waits for each.
type Taken<S> = (Vec<<S as Sink>::Job>, Vec<Arc<Slot<<S as Sink>::Outcome>>>);

impl<S: Sink> Combiner<S> {
    pub(crate) fn new(sink: S) -> Self {
        Combiner {
            sink: Mutex::new(sink),
            queue: Mutex::new(Vec::new()),
            led: AtomicBool::new(false),
            queued: AtomicUsize::new(0),
            awake: AtomicUsize::new(0),
            company: AtomicUsize::new(1),
        }
    }

    /// Brings `job` through the door and returns what came of it.
    pub(crate) fn submit(&self, job: S::Job) -> S::Outcome {
        if self.take_door() {
            return self.go_through(job);
        }
        let slot = Arc::new(Slot::new());
        let mut queue = lock(&self.queue);
        queue.push(Waiting { job, slot: Arc::clone(&slot) });
        self.queued.store(queue.len(), Ordering::SeqCst);
        drop(queue);
        self.wait(&slot)
    }

    /// Waits for the sink and holds it, for those who come with something other than a job.
    pub(crate) fn sink(&self) -> MutexGuard<'_, S> {
        lock(&self.sink)
    }

    /// Goes to the door if nobody is there.
    ///
    /// The look is as strong as the swap: a sleeper's last one must not be older than its
    /// declaration that it is no longer awake.
    fn take_door(&self) -> bool {
        !self.led.load(Ordering::SeqCst) && !self.led.swap(true, Ordering::SeqCst)
    }

    /// Frees the door, and sees to it that somebody comes for what is still in the queue.
    ///
    /// Whoever waits and is awake looks at the door by itself. A sleeper declares itself not
    /// awake before its last look at the door, and here the door is freed before the count is
    /// read: one of the two sees the other.
    fn free_door(&self) {
        self.led.store(false, Ordering::SeqCst);
        self.call_next();
    }

    /// Has the first in the queue look at the door, if nobody awake will.
    fn call_next(&self) {
        if self.queued.load(Ordering::SeqCst) > 0
            && self.awake.load(Ordering::SeqCst) == 0
            && let Some(first) = lock(&self.queue).first()
        {
            first.slot.tell(LOOK);
        }
    }

    /// Carries one's own job and what others have brought.
    fn go_through(&self, job: S::Job) -> S::Outcome {
        let (jobs, slots) = self.gather();
        let mut slots = slots.iter();
        let mut own = None;
        self.sink().process(std::iter::once(job).chain(jobs), |outcome| {
            if own.is_none() {
                own = Some(outcome);
            } else if let Some(slot) = slots.next() {
                slot.finish(outcome);
            }
        });
        self.free_door();
        own.expect("a sink tells the outcome of every job")
    }

    /// Carries what others have brought, and one's own job if it is still among it.
    fn carry_queue(&self) {
        let (jobs, slots) = self.take_queue();
        // Whoever waited at all is one of several.
        self.company.store(jobs.len().max(2), Ordering::Relaxed);
        let mut slots = slots.iter();
        self.sink().process(jobs.into_iter(), |outcome| {
            if let Some(slot) = slots.next() {
                slot.finish(outcome);
            }
        });
        self.free_door();
    }

    /// Takes the queue, having waited a moment for as many as came together last time.
    ///
    /// Two producers that run side by side fall into step this way and share every write; a lone
    /// producer never waits.
    fn gather(&self) -> Taken<S> {
        let expected = self.company.load(Ordering::Relaxed);
        if expected > 1 {
            for _ in 0..LOOKS_FOR_COMPANY {
                if self.queued.load(Ordering::Relaxed) + 1 >= expected {
                    break;
                }
                spin_loop();
            }
        }
        let taken = self.take_queue();
        if taken.0.len() + 1 != expected {
            self.company.store(taken.0.len() + 1, Ordering::Relaxed);
        }
        taken
    }

    fn take_queue(&self) -> Taken<S> {
        if self.queued.load(Ordering::SeqCst) == 0 {
            return (Vec::new(), Vec::new());
        }
        let mut queue = lock(&self.queue);
        self.queued.store(0, Ordering::SeqCst);
        queue.drain(..).map(|waiting| (waiting.job, waiting.slot)).unzip()
    }

    /// Waits until the job behind `slot` is done, and carries the queue whenever the door is free.
    fn wait(&self, slot: &Slot<S::Outcome>) -> S::Outcome {
        loop {
            self.awake.fetch_add(1, Ordering::SeqCst);
            for look in 0..LOOKS_BEFORE_SLEEP {
                if slot.has_news() {
                    break;
                }
                if self.take_door() {
                    self.carry_queue();
                    break;
                }
                if look < LOOKS_BEFORE_YIELD { spin_loop() } else { yield_now() }
            }
            self.awake.fetch_sub(1, Ordering::SeqCst);
            if slot.has_news() {
                // Somebody may have freed the door and counted on this one to see it.
                if !self.led.load(Ordering::SeqCst) {
                    self.call_next();
                }
            } else if self.take_door() {
                self.carry_queue();
            }
            if let Some(outcome) = slot.sleep() {
                return outcome;
            }
        }
    }
}

/// Where one producer waits for news.
struct Slot<O> {
    news: AtomicU8,
    held: Mutex<Held<O>>,
    woken: Condvar,
}

struct Held<O> {
    outcome: Option<O>,
    asleep: bool,
}

const NO_NEWS: u8 = 0;
/// The door may be free and nobody else awake to see it.
const LOOK: u8 = 1;
const DONE: u8 = 2;

impl<O> Slot<O> {
    fn new() -> Self {
        Slot {
            news: AtomicU8::new(NO_NEWS),
            held: Mutex::new(Held { outcome: None, asleep: false }),
            woken: Condvar::new(),
        }
    }

    fn has_news(&self) -> bool {
        self.news.load(Ordering::Acquire) != NO_NEWS
    }

    fn finish(&self, outcome: O) {
        lock(&self.held).outcome = Some(outcome);
        self.tell(DONE);
    }

    fn tell(&self, news: u8) {
        let held = lock(&self.held);
        self.news.fetch_max(news, Ordering::SeqCst);
        // Waking costs a system call even when nobody sleeps.
        if held.asleep {
            self.woken.notify_one();
        }
    }

    /// Sleeps until there is news; returns the outcome, or nothing if the news is to look again.
    fn sleep(&self) -> Option<O> {
        let mut held = lock(&self.held);
        while !self.has_news() {
            held.asleep = true;
            held = self.woken.wait(held).unwrap_or_else(|broken| broken.into_inner());
            held.asleep = false;
        }
        if held.outcome.is_none() {
            self.news.store(NO_NEWS, Ordering::SeqCst);
        }
        held.outcome.take()
    }
}

/// Locks without regard to poisoning: no code here panics while it holds a lock, and the state
/// behind each is whole at every step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
}
