//! Many producers, one at the door: whoever holds it also carries what the others brought.
//!
//! A producer that finds the door free goes through. One that finds it taken leaves its job in
//! the queue, and whoever comes through next carries the whole queue in one go. Each producer
//! returns only when its own job is done. Knows nothing of files; see [`crate::recorder`].

use crate::sync::{
    Arc, AtomicBool, AtomicU8, AtomicUsize, Condvar, LOOKS_BEFORE_SLEEP, LOOKS_BEFORE_YIELD,
    LOOKS_FOR_COMPANY, Mutex, MutexGuard, Ordering, me, spin_loop, yield_now,
};

/// What the door leads to.
pub(crate) trait Sink {
    /// What a producer brings.
    type Job;
    /// What it takes home.
    type Outcome;

    /// Does all `jobs` in their order and tells `done` the outcome of each, in the same order.
    fn process(&mut self, jobs: &mut [&mut Self::Job], done: impl FnMut(Self::Outcome));
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
    /// Who went through last.
    leader: AtomicUsize,
    hurry: Hurry,
}

/// How long one who holds the door waits for company.
#[derive(Clone, Copy)]
pub(crate) enum Hurry {
    /// A moment: what is behind the door takes about as long as coming there.
    Great,
    /// Until everybody has come who came last time, within reason: what is behind it takes long.
    Small,
}

impl Hurry {
    fn looks_for_company(self) -> u32 {
        match self {
            Hurry::Great => LOOKS_FOR_COMPANY,
            Hurry::Small => 10 * LOOKS_FOR_COMPANY,
        }
    }
}

struct Waiting<S: Sink> {
    /// In a box, so that it stays where its producer put it until it goes back there.
    job: Box<S::Job>,
    slot: Arc<SlotOf<S>>,
}

type SlotOf<S> = Slot<<S as Sink>::Outcome, Box<<S as Sink>::Job>>;

impl<S: Sink> Combiner<S> {
    pub(crate) fn new(sink: S, hurry: Hurry) -> Self {
        Combiner {
            sink: Mutex::new(sink),
            queue: Mutex::new(Vec::new()),
            led: AtomicBool::new(false),
            queued: AtomicUsize::new(0),
            awake: AtomicUsize::new(0),
            company: AtomicUsize::new(1),
            leader: AtomicUsize::new(0),
            hurry,
        }
    }

    /// Brings `job` through the door and returns what came of it.
    pub(crate) fn submit(&self, job: S::Job) -> S::Outcome {
        if !self.leaves_it_to_another() && self.take_door() {
            return self.go_through(job);
        }
        let slot = Arc::new(Slot::new());
        let waiting = Waiting { job: Box::new(job), slot: Arc::clone(&slot) };
        let mut queue = lock(&self.queue);
        queue.push(waiting);
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
        let taken = !self.led.load(Ordering::SeqCst) && !self.led.swap(true, Ordering::SeqCst);
        if taken && self.leader.load(Ordering::Relaxed) != me() {
            self.leader.store(me(), Ordering::Relaxed);
        }
        taken
    }

    /// Tells whether one of several should rather let the last leader lead again.
    ///
    /// What is behind the door stays in the cache of the core that went through last.
    fn leaves_it_to_another(&self) -> bool {
        self.company.load(Ordering::Relaxed) > 1 && self.leader.load(Ordering::Relaxed) != me()
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
    fn go_through(&self, mut job: S::Job) -> S::Outcome {
        let others = self.gather();
        let own = self.carry(Some(&mut job), others);
        self.free_door();
        own.expect("a sink tells the outcome of every job")
    }

    /// Carries what others have brought, and one's own job if it is still among it.
    fn carry_queue(&self) {
        let others = self.take_queue();
        // Whoever waited at all is one of several.
        self.company.store(others.len().max(2), Ordering::Relaxed);
        self.carry(None, others);
        self.free_door();
    }

    /// Does the job at hand, if there is one, and those of `others`; returns the former's outcome.
    ///
    /// Each of the others gets its job back with the outcome: memory is freed where it was asked
    /// for, which is cheap, and not here, which is not.
    fn carry(&self, own: Option<&mut S::Job>, mut others: Vec<Waiting<S>>) -> Option<S::Outcome> {
        let mut outcome_of_own = None;
        if others.is_empty() {
            if let Some(job) = own {
                self.sink().process(&mut [job], |outcome| outcome_of_own = Some(outcome));
            }
            return outcome_of_own;
        }
        let alone = own.is_none();
        let mut outcomes = Vec::with_capacity(others.len());
        let mut jobs: Vec<&mut S::Job> = own.into_iter().collect();
        jobs.extend(others.iter_mut().map(|waiting| &mut *waiting.job));
        self.sink().process(&mut jobs, |outcome| match outcome_of_own {
            None if !alone => outcome_of_own = Some(outcome),
            _ => outcomes.push(outcome),
        });
        for (waiting, outcome) in others.into_iter().zip(outcomes) {
            waiting.slot.finish(outcome, waiting.job);
        }
        outcome_of_own
    }

    /// Takes the queue, having waited a moment for as many as came together last time.
    ///
    /// Two producers that run side by side fall into step this way and share every write; a lone
    /// producer never waits.
    fn gather(&self) -> Vec<Waiting<S>> {
        let expected = self.company.load(Ordering::Relaxed);
        if expected > 1 {
            for look in 0..self.hurry.looks_for_company() {
                if self.queued.load(Ordering::Relaxed) + 1 >= expected {
                    break;
                }
                if look < LOOKS_FOR_COMPANY { spin_loop() } else { yield_now() }
            }
        }
        let others = self.take_queue();
        if others.len() + 1 != expected {
            self.company.store(others.len() + 1, Ordering::Relaxed);
        }
        others
    }

    fn take_queue(&self) -> Vec<Waiting<S>> {
        if self.queued.load(Ordering::SeqCst) == 0 {
            return Vec::new();
        }
        let mut queue = lock(&self.queue);
        self.queued.store(0, Ordering::SeqCst);
        std::mem::take(&mut *queue)
    }

    /// Waits until the job behind `slot` is done, and carries the queue whenever the door is free.
    fn wait(&self, slot: &SlotOf<S>) -> S::Outcome {
        loop {
            self.awake.fetch_add(1, Ordering::SeqCst);
            for look in 0..LOOKS_BEFORE_SLEEP {
                if slot.has_news() {
                    break;
                }
                let patient = look < LOOKS_FOR_COMPANY && self.leaves_it_to_another();
                if !patient && self.take_door() {
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
struct Slot<O, J> {
    news: AtomicU8,
    held: Mutex<Held<O, J>>,
    woken: Condvar,
}

struct Held<O, J> {
    /// The outcome, and what is left of the job.
    done: Option<(O, J)>,
    asleep: bool,
}

const NO_NEWS: u8 = 0;
/// The door may be free and nobody else awake to see it.
const LOOK: u8 = 1;
const DONE: u8 = 2;

impl<O, J> Slot<O, J> {
    fn new() -> Self {
        Slot {
            news: AtomicU8::new(NO_NEWS),
            held: Mutex::new(Held { done: None, asleep: false }),
            woken: Condvar::new(),
        }
    }

    fn has_news(&self) -> bool {
        self.news.load(Ordering::Acquire) != NO_NEWS
    }

    fn finish(&self, outcome: O, job: J) {
        lock(&self.held).done = Some((outcome, job));
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
        if held.done.is_none() {
            self.news.store(NO_NEWS, Ordering::SeqCst);
        }
        held.done.take().map(|(outcome, _)| outcome)
    }
}

/// Locks without regard to poisoning: no code here panics while it holds a lock, and the state
/// behind each is whole at every step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
}
