//! Many producers, one at the door: whoever holds it also carries what the others brought.
//!
//! A producer that finds the door free goes through alone. One that finds it taken leaves its job
//! in the queue, and the leader takes the whole queue through in one go. Each producer returns
//! only when its own job is done. Knows nothing of files; see [`crate::recorder`] for those.

use crate::sync::{
    Arc, AtomicU8, Condvar, LOOKS_BEFORE_SLEEP, LOOKS_BEFORE_YIELD, Mutex, MutexGuard, Ordering,
    spin_loop, yield_now,
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
    queue: Mutex<Queue<S>>,
    /// How many batches one producer may carry for others before it goes home.
    patience: usize,
}

struct Queue<S: Sink> {
    /// Whether somebody is at the door. Whoever sets it leads until it is unset or handed over.
    led: bool,
    waiting: Vec<Waiting<S>>,
}

struct Waiting<S: Sink> {
    job: S::Job,
    slot: Arc<Slot<S::Outcome>>,
}

impl<S: Sink> Combiner<S> {
    pub(crate) fn new(sink: S, patience: usize) -> Self {
        let queue = Queue { led: false, waiting: Vec::new() };
        Combiner { sink: Mutex::new(sink), queue: Mutex::new(queue), patience }
    }

    /// Brings `job` through the door and returns what came of it.
    pub(crate) fn submit(&self, job: S::Job) -> S::Outcome {
        let mut queue = lock(&self.queue);
        if !queue.led {
            queue.led = true;
            drop(queue);
            let mut own = None;
            self.sink().process(std::iter::once(job), |outcome| own = Some(outcome));
            self.lead_others();
            return own.expect("a sink tells the outcome of every job");
        }
        let slot = Arc::new(Slot::new());
        queue.waiting.push(Waiting { job, slot: Arc::clone(&slot) });
        drop(queue);
        loop {
            match slot.wait() {
                News::Done(outcome) => return outcome,
                News::Lead => self.lead_others(),
            }
        }
    }

    /// Waits for the door and holds it, for those who come with something other than a job.
    pub(crate) fn sink(&self) -> MutexGuard<'_, S> {
        lock(&self.sink)
    }

    /// Carries what waits, at least one batch, then frees the door or hands it to the next in line.
    fn lead_others(&self) {
        for carried in 0.. {
            let mut queue = lock(&self.queue);
            if queue.waiting.is_empty() {
                queue.led = false;
                return;
            }
            if carried >= self.patience {
                queue.waiting[0].slot.appoint();
                return;
            }
            let batch = std::mem::take(&mut queue.waiting);
            drop(queue);
            let (jobs, slots): (Vec<_>, Vec<_>) =
                batch.into_iter().map(|waiting| (waiting.job, waiting.slot)).unzip();
            let mut slots = slots.iter();
            self.sink().process(jobs.into_iter(), |outcome| {
                if let Some(slot) = slots.next() {
                    slot.finish(outcome);
                }
            });
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
const LEAD: u8 = 1;
const DONE: u8 = 2;

enum News<O> {
    Done(O),
    Lead,
}

impl<O> Slot<O> {
    fn new() -> Self {
        Slot {
            news: AtomicU8::new(NO_NEWS),
            held: Mutex::new(Held { outcome: None, asleep: false }),
            woken: Condvar::new(),
        }
    }

    fn finish(&self, outcome: O) {
        lock(&self.held).outcome = Some(outcome);
        self.tell(DONE);
    }

    fn appoint(&self) {
        self.tell(LEAD);
    }

    fn tell(&self, news: u8) {
        let held = lock(&self.held);
        self.news.store(news, Ordering::Release);
        // Waking costs a system call even when nobody sleeps.
        if held.asleep {
            self.woken.notify_one();
        }
    }

    fn wait(&self) -> News<O> {
        for look in 0..LOOKS_BEFORE_SLEEP {
            if self.news.load(Ordering::Acquire) != NO_NEWS {
                break;
            }
            if look < LOOKS_BEFORE_YIELD { spin_loop() } else { yield_now() }
        }
        let mut held = lock(&self.held);
        while self.news.load(Ordering::Acquire) == NO_NEWS {
            held.asleep = true;
            held = self.woken.wait(held).unwrap_or_else(|broken| broken.into_inner());
            held.asleep = false;
        }
        match held.outcome.take() {
            Some(outcome) => News::Done(outcome),
            None => {
                self.news.store(NO_NEWS, Ordering::Release);
                News::Lead
            }
        }
    }
}

/// Locks without regard to poisoning: no code here panics while it holds a lock, and the state
/// behind each is whole at every step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
}
