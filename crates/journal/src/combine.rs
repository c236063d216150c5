//! Many producers, one at the door: whoever holds it also carries what the others brought.
//!
//! A producer that finds the door free goes through. One that finds it taken leaves its job in
//! the queue, and whoever comes through next carries the whole queue in one go. Each producer
//! returns only when its own job is done. Knows nothing of files; see [`crate::recorder`].

use crate::bell::Bell;
use crate::sync::{
    Arc, AtomicBool, AtomicUsize, Mutex, MutexGuard, Ordering, Patience, me, spin_loop, yield_now,
};

/// How often the door must be passed alone before one believes to be alone.
const OFTEN: usize = 32;

/// What the door leads to.
pub(crate) trait Sink {
    /// What a producer brings. An empty one stands in its place while it is on its way.
    type Job: Default;
    /// What it takes home.
    type Outcome;

    /// Does all `jobs` in their order and tells `done` the outcome of each, in the same order.
    fn process<'a>(
        &mut self,
        jobs: impl Iterator<Item = &'a Self::Job>,
        done: impl FnMut(Self::Outcome),
    ) where
        Self::Job: 'a;
}

/// The door.
///
/// What two cores write in turns stands on other lines of memory than what they mostly read, and
/// both on others than what is the leader's alone.
pub(crate) struct Combiner<S: Sink> {
    entrance: Entrance<S>,
    habit: Habit,
    behind: Behind<S>,
}

/// What changes with every job.
#[repr(align(128))]
struct Entrance<S: Sink> {
    /// Whether somebody is at the door.
    led: AtomicBool,
    /// How many jobs are in the queue, readable without its lock.
    queued: AtomicUsize,
    queue: Mutex<Vec<Waiting<S>>>,
}

/// What stays the same for a while.
#[repr(align(128))]
struct Habit {
    /// How many come through together.
    company: AtomicUsize,
    /// Who went through last.
    leader: AtomicUsize,
    /// All sleep in the same place, so that one call wakes all whose jobs are done.
    bell: Bell,
    patience: Patience,
}

/// What is for the one at the door.
#[repr(align(128))]
struct Behind<S: Sink> {
    sink: Mutex<S>,
    hands: Mutex<Hands<S>>,
    /// How often in a row somebody came alone.
    alone: AtomicUsize,
}

/// Kept from one time to the next, so that carrying asks for no memory.
struct Hands<S: Sink> {
    others: Vec<Waiting<S>>,
    outcomes: Vec<S::Outcome>,
}

struct Waiting<S: Sink> {
    job: S::Job,
    slot: Arc<Slot<S>>,
}

/// Where a producer waits. One thread uses one at a time, for one job after the other.
pub(crate) struct Place<S: Sink>(Arc<Slot<S>>);

struct Slot<S: Sink> {
    is_done: AtomicBool,
    /// The outcome, and the job it is of.
    done: Mutex<Option<(S::Outcome, S::Job)>>,
}

impl<S: Sink> Default for Place<S> {
    fn default() -> Self {
        Place(Arc::new(Slot { is_done: AtomicBool::new(false), done: Mutex::new(None) }))
    }
}

impl<S: Sink> Combiner<S> {
    pub(crate) fn new(sink: S, patience: Patience) -> Self {
        Combiner {
            entrance: Entrance {
                led: AtomicBool::new(false),
                queued: AtomicUsize::new(0),
                queue: Mutex::new(Vec::new()),
            },
            habit: Habit {
                company: AtomicUsize::new(1),
                leader: AtomicUsize::new(0),
                bell: Bell::new(),
                patience,
            },
            behind: Behind {
                sink: Mutex::new(sink),
                hands: Mutex::new(Hands { others: Vec::new(), outcomes: Vec::new() }),
                alone: AtomicUsize::new(0),
            },
        }
    }

    /// Brings `job` through the door and returns what came of it. `place` is the caller's own.
    pub(crate) fn submit(&self, place: &Place<S>, job: &mut S::Job) -> S::Outcome {
        if !self.leaves_it_to_another() && self.take_door() {
            let own = self.lead(Some(job));
            return own.expect("a sink tells the outcome of every job");
        }
        let slot = &place.0;
        let waiting = Waiting { job: std::mem::take(job), slot: Arc::clone(slot) };
        let mut queue = lock(&self.entrance.queue);
        queue.push(waiting);
        self.entrance.queued.store(queue.len(), Ordering::SeqCst);
        drop(queue);
        self.wait(slot);
        slot.is_done.store(false, Ordering::Relaxed);
        let (outcome, back) = lock(&slot.done).take().expect("what is done has an outcome");
        *job = back;
        outcome
    }

    /// Waits for the sink and holds it, for those who come with something other than a job.
    pub(crate) fn sink(&self) -> MutexGuard<'_, S> {
        lock(&self.behind.sink)
    }

    /// Goes to the door if nobody is there.
    ///
    /// The look is as strong as the swap: a sleeper's last one must not be older than its
    /// declaration that it sleeps.
    fn take_door(&self) -> bool {
        let led = &self.entrance.led;
        let taken = !led.load(Ordering::SeqCst) && !led.swap(true, Ordering::SeqCst);
        if taken && self.habit.leader.load(Ordering::Relaxed) != me() {
            self.habit.leader.store(me(), Ordering::Relaxed);
        }
        taken
    }

    /// Tells whether one of several should rather let the last leader lead again.
    ///
    /// What is behind the door stays in the cache of the core that went through last.
    fn leaves_it_to_another(&self) -> bool {
        let Habit { company, leader, .. } = &self.habit;
        company.load(Ordering::Relaxed) > 1 && leader.load(Ordering::Relaxed) != me()
    }

    /// Carries one's own job, if it is not in the queue, and what others have brought; then frees
    /// the door and wakes who has to know. Returns what came of one's own.
    ///
    /// Whoever waits and is awake looks at its job and at the door by itself.
    fn lead(&self, own: Option<&S::Job>) -> Option<S::Outcome> {
        let mut outcome = None;
        let has_company = self.gather(usize::from(own.is_some()));
        if has_company {
            outcome = self.carry_all(own);
        } else if let Some(own) = own {
            self.sink().process(std::iter::once(own), |done| outcome = Some(done));
        }
        let Entrance { led, queued, .. } = &self.entrance;
        led.store(false, Ordering::SeqCst);
        if has_company {
            self.habit.bell.ring_for_all();
        } else if queued.load(Ordering::SeqCst) > 0 {
            self.habit.bell.ring_for_one();
        }
        outcome
    }

    /// Waits a moment for as many as usual; tells whether anybody is in the queue.
    fn gather(&self, own: usize) -> bool {
        let Patience { for_company, before_yield, .. } = self.habit.patience;
        let expected = self.habit.company.load(Ordering::Relaxed);
        let mut queued = self.entrance.queued.load(Ordering::SeqCst);
        for look in 0..for_company {
            if queued + own >= expected {
                break;
            }
            if look < before_yield {
                spin_loop()
            } else {
                yield_now()
            }
            queued = self.entrance.queued.load(Ordering::SeqCst);
        }
        self.learn(expected, queued + own);
        queued > 0
    }

    /// Learns how many come together, and forgets it only when it is often otherwise.
    fn learn(&self, expected: usize, came: usize) {
        let came = if self.habit.patience.for_company == 0 { came.min(2) } else { came };
        if came == expected {
            return;
        }
        let alone = &self.behind.alone;
        let times = if came > 1 { 0 } else { alone.load(Ordering::Relaxed) + 1 };
        alone.store(times, Ordering::Relaxed);
        if came > 1 || times > OFTEN {
            self.habit.company.store(came, Ordering::Relaxed);
        }
    }

    /// Does one's own job, if it is not in the queue, and all that are.
    ///
    /// Each of the others gets its job back with the outcome: memory stays with the thread that
    /// asked for it.
    fn carry_all(&self, own: Option<&S::Job>) -> Option<S::Outcome> {
        let mut hands = lock(&self.behind.hands);
        let Hands { others, outcomes } = &mut *hands;
        let mut queue = lock(&self.entrance.queue);
        std::mem::swap(&mut *queue, others);
        self.entrance.queued.store(0, Ordering::SeqCst);
        drop(queue);
        let jobs = own.into_iter().chain(others.iter().map(|waiting| &waiting.job));
        self.sink().process(jobs, |outcome| outcomes.push(outcome));
        let mut outcomes = outcomes.drain(..);
        let outcome = own.and_then(|_| outcomes.next());
        for (Waiting { job, slot }, outcome) in others.drain(..).zip(outcomes) {
            *lock(&slot.done) = Some((outcome, job));
            slot.is_done.store(true, Ordering::SeqCst);
        }
        outcome
    }

    /// Waits until the job in `slot` is done, and carries the queue whenever the door is free.
    fn wait(&self, slot: &Slot<S>) {
        let Patience { for_leader, before_yield, before_sleep, .. } = self.habit.patience;
        let mut look = 0;
        while !slot.is_done.load(Ordering::SeqCst) {
            let patient = look < for_leader && self.leaves_it_to_another();
            if !patient && self.take_door() {
                self.lead(None);
                continue;
            }
            look += 1;
            if look < before_yield {
                spin_loop();
            } else if look < before_sleep {
                yield_now();
            } else {
                let is_led = || self.entrance.led.load(Ordering::SeqCst);
                let is_done = || slot.is_done.load(Ordering::SeqCst);
                self.habit.bell.sleep_until(|| is_done() || !is_led());
            }
        }
    }
}

/// Locks without regard to poisoning: no code here panics while it holds a lock, and the state
/// behind each is whole at every step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
}
