//! Many producers, one at the door: whoever holds it also carries what the others brought.
//!
//! A producer that finds the door free goes through. One that finds it taken adds its job to the load
//! that stands there, and whoever comes through next carries the whole load in one go. Each producer
//! returns only when its own job is done. Knows nothing of files; see [`crate::recorder`].
//!
//! What two cores write in turns costs more than anything else here: every line of memory that has to
//! follow from one to the other takes as long as a good part of a write. So a job is numbered and put
//! with the others where it waits, and nothing but one number comes back.

use std::ops::{Deref, DerefMut};

use crate::bell::Bell;
use crate::sync::{
    AtomicBool, AtomicU64, AtomicUsize, Mutex, MutexGuard, Ordering, Patience, TryLockError, fence,
    me, spin_loop, yield_now,
};

/// How often the door must be passed alone before one believes to be alone.
const OFTEN: usize = 32;

/// Jobs that are carried through the door together.
pub(crate) trait Load {
    /// What a producer brings.
    type Job;

    /// Adds a job behind those that are there. What the producer has afterwards is of no use to others.
    fn add(&mut self, job: &mut Self::Job);

    /// Tells whether `job` is small enough to stand here, and there is room for it.
    fn has_room_for(&self, job: &Self::Job) -> bool;

    /// Returns how many jobs there are.
    fn count(&self) -> usize;
}

/// What the door leads to.
pub(crate) trait Sink {
    /// What is carried there.
    type Load: Load;
    /// What a producer takes home.
    type Outcome;

    /// Makes a load with nothing in it.
    fn empty_load(&self) -> Self::Load;

    /// Returns the number of the next job.
    fn next_number(&self) -> u64;

    /// Does all jobs of `load`, in their order, and takes them out, and one's own behind them. The first
    /// has the number `first`.
    fn carry(&mut self, first: u64, load: &mut Self::Load, own: Option<&mut JobOf<Self>>);

    /// Does one job.
    fn carry_alone(&mut self, number: u64, job: &mut <Self::Load as Load>::Job);

    /// Tells whether all jobs so far were done and the next will be.
    fn is_sound(&self) -> bool;

    /// Returns the outcome of a job that was done.
    fn done(number: u64) -> Self::Outcome;

    /// Returns what became of a job, after something went wrong with this or another.
    fn outcome(&mut self, number: u64) -> Self::Outcome;
}

/// The door.
///
/// What two cores write in turns stands on other lines of memory than what they mostly read, and
/// both on others than what is the leader's alone.
pub(crate) struct Combiner<S: Sink> {
    entrance: Entrance<S>,
    exit: Exit,
    habit: Habit,
    behind: Behind<S>,
}

/// What changes with every job.
#[repr(C, align(128))]
struct Entrance<S: Sink> {
    queue: Mutex<Queue<S::Load>>,
    /// How many jobs are in the queue, readable without its lock; kept for those who wait for company.
    queued: AtomicUsize,
}

/// What those who wait look at.
#[repr(align(128))]
struct Exit {
    /// Every job up to this number that was in the queue has its outcome.
    settled: AtomicU64,
}

/// What waits at the door.
#[repr(C)]
struct Queue<L> {
    /// The number of the next job.
    next: u64,
    load: L,
}

/// What stays the same for a while.
#[repr(align(128))]
struct Habit {
    /// How many come through together.
    company: AtomicUsize,
    /// Who went through last.
    leader: AtomicUsize,
    /// Whether an outcome has to be asked for.
    is_troubled: AtomicBool,
    /// All sleep in the same place, so that one call wakes all whose jobs are done.
    bell: Bell,
    patience: Patience,
}

/// What is for the one at the door.
#[repr(align(128))]
struct Behind<S: Sink> {
    room: Mutex<Room<S>>,
    /// How often in a row somebody came alone.
    alone: AtomicUsize,
}

/// What is behind the door. Who has locked it is at the door.
struct Room<S: Sink> {
    sink: S,
    /// Stands in for the load that was carried last, so that carrying asks for no memory.
    spare: S::Load,
}

type JobOf<S> = <<S as Sink>::Load as Load>::Job;

impl<S: Sink> Combiner<S> {
    pub(crate) fn new(sink: S, patience: Patience) -> Self {
        let queue = Queue { next: sink.next_number(), load: sink.empty_load() };
        let spare = sink.empty_load();
        Combiner {
            entrance: Entrance { queue: Mutex::new(queue), queued: AtomicUsize::new(0) },
            exit: Exit { settled: AtomicU64::new(0) },
            habit: Habit {
                company: AtomicUsize::new(1),
                leader: AtomicUsize::new(0),
                is_troubled: AtomicBool::new(false),
                bell: Bell::new(),
                patience,
            },
            behind: Behind { room: Mutex::new(Room { sink, spare }), alone: AtomicUsize::new(0) },
        }
    }

    /// Brings `job` through the door and returns what came of it.
    pub(crate) fn submit(&self, job: &mut JobOf<S>) -> S::Outcome {
        let number = self.bring(job);
        if self.habit.is_troubled.load(Ordering::Acquire) {
            self.sink().outcome(number)
        } else {
            S::done(number)
        }
    }

    /// Waits for the sink and holds it, for those who come with something other than a job.
    pub(crate) fn sink(&self) -> Visit<'_, S> {
        Visit { door: self, room: Some(lock(&self.behind.room)) }
    }

    /// Returns when `job` has its outcome, and its number.
    fn bring(&self, job: &mut JobOf<S>) -> u64 {
        if !self.leaves_it_to_another()
            && let Some(room) = self.enter()
        {
            return self.lead(room, job);
        }
        let mut queue = lock(&self.entrance.queue);
        if !queue.load.has_room_for(job) {
            drop(queue);
            return self.lead(self.wait_for_door(), job);
        }
        let number = queue.take_number();
        queue.load.add(job);
        self.count_queued(queue.load.count());
        drop(queue);
        self.wait(number);
        number
    }

    /// Goes to the door if nobody is there.
    fn enter(&self) -> Option<MutexGuard<'_, Room<S>>> {
        let room = match self.behind.room.try_lock() {
            Ok(room) => room,
            Err(TryLockError::Poisoned(broken)) => broken.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        if self.habit.leader.load(Ordering::Relaxed) != me() {
            self.habit.leader.store(me(), Ordering::Relaxed);
        }
        Some(room)
    }

    /// Tells whether one of several should rather let the last leader lead again.
    ///
    /// What is behind the door stays in the cache of the core that went through last.
    fn leaves_it_to_another(&self) -> bool {
        let Habit { company, leader, .. } = &self.habit;
        company.load(Ordering::Relaxed) > 1 && leader.load(Ordering::Relaxed) != me()
    }

    /// Carries one's own job and what others have brought. Returns the number of one's own.
    fn lead(&self, mut room: MutexGuard<'_, Room<S>>, job: &mut JobOf<S>) -> u64 {
        self.gather(1);
        let Room { sink, spare } = &mut *room;
        let mut queue = lock(&self.entrance.queue);
        let number = queue.take_number();
        let others = queue.load.count();
        let goes_along = others > 0 && queue.load.has_room_for(job);
        if others > 0 {
            self.take_load(&mut queue, spare);
        }
        drop(queue);
        self.learn(others + 1);
        if others > 0 {
            let own = goes_along.then_some(&mut *job);
            sink.carry(number - others as u64, spare, own);
        }
        if !goes_along {
            sink.carry_alone(number, job);
        }
        self.leave(room, (others > 0).then_some(number));
        number
    }

    /// Carries what others have brought.
    fn lead_others(&self, mut room: MutexGuard<'_, Room<S>>) {
        self.gather(0);
        let Room { sink, spare } = &mut *room;
        let mut queue = lock(&self.entrance.queue);
        let (next, others) = (queue.next, queue.load.count());
        self.take_load(&mut queue, spare);
        drop(queue);
        // Who had to wait before it could lead was not alone.
        self.learn(others.max(2));
        sink.carry(next - others as u64, spare, None);
        self.leave(room, Some(next - 1));
    }

    fn take_load(&self, queue: &mut Queue<S::Load>, spare: &mut S::Load) {
        std::mem::swap(&mut queue.load, spare);
        self.count_queued(0);
    }

    /// Says how many jobs are in the queue, if anybody waits for company.
    fn count_queued(&self, count: usize) {
        if self.habit.patience.for_company > 0 {
            self.entrance.queued.store(count, Ordering::Relaxed);
        }
    }

    /// Tells those who wait up to where jobs are `settled`, frees the door and wakes who has to know.
    ///
    /// Whoever waits and is awake looks at its job and at the door by itself.
    fn leave(&self, room: MutexGuard<'_, Room<S>>, settled: Option<u64>) {
        if !room.sink.is_sound() {
            self.habit.is_troubled.store(true, Ordering::Release);
        }
        if let Some(settled) = settled {
            self.exit.settled.store(settled, Ordering::Release);
        }
        drop(room);
        // Who goes to sleep says so before its last look at its job and at the door.
        fence(Ordering::SeqCst);
        if settled.is_some() {
            self.habit.bell.ring_for_all();
        } else {
            self.habit.bell.ring_for_one();
        }
    }

    /// Waits a moment for as many as usual.
    fn gather(&self, own: usize) {
        let Patience { for_company, before_yield, .. } = self.habit.patience;
        for look in 0..for_company {
            let queued = self.entrance.queued.load(Ordering::Relaxed);
            if queued + own >= self.habit.company.load(Ordering::Relaxed) {
                break;
            }
            if look < before_yield { spin_loop() } else { yield_now() }
        }
    }

    /// Learns how many come together, and forgets it only when it is often otherwise.
    fn learn(&self, came: usize) {
        let came = if self.habit.patience.for_company == 0 { came.min(2) } else { came };
        if came == self.habit.company.load(Ordering::Relaxed) {
            return;
        }
        let alone = &self.behind.alone;
        let times = if came > 1 { 0 } else { alone.load(Ordering::Relaxed) + 1 };
        alone.store(times, Ordering::Relaxed);
        if came > 1 || times > OFTEN {
            self.habit.company.store(came, Ordering::Relaxed);
        }
    }

    /// Waits until job `number` is settled, and carries the load whenever the door is free.
    fn wait(&self, number: u64) {
        let Patience { for_leader, before_yield, before_sleep, .. } = self.habit.patience;
        let is_settled = || self.exit.settled.load(Ordering::Acquire) >= number;
        for look in 0.. {
            // A look takes the line of memory from the one who is about to write it, so the pause is first.
            if look < before_yield {
                spin_loop();
            } else if look < before_sleep {
                yield_now();
            }
            if is_settled() {
                return;
            }
            let is_patient = look < for_leader && self.leaves_it_to_another();
            let mut entered = if is_patient { None } else { self.enter() };
            if entered.is_none() && look >= before_sleep {
                self.habit.bell.sleep_until(|| {
                    is_settled() || {
                        entered = self.enter();
                        entered.is_some()
                    }
                });
            }
            match entered {
                // Between the look at the job and the one at the door another leader may have been there.
                Some(room) if is_settled() => self.leave(room, None),
                Some(room) => self.lead_others(room),
                None => {}
            }
        }
    }

    /// Waits until nobody is at the door, and goes there.
    fn wait_for_door(&self) -> MutexGuard<'_, Room<S>> {
        let mut entered = None;
        for _ in 0..self.habit.patience.before_sleep {
            entered = self.enter();
            if entered.is_some() {
                break;
            }
            yield_now();
        }
        loop {
            if let Some(room) = entered {
                return room;
            }
            self.habit.bell.sleep_until(|| {
                entered = self.enter();
                entered.is_some()
            });
        }
    }
}

impl<L> Queue<L> {
    fn take_number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }
}

/// Somebody at the door who brings no job.
pub(crate) struct Visit<'a, S: Sink> {
    door: &'a Combiner<S>,
    /// There until the visit ends.
    room: Option<MutexGuard<'a, Room<S>>>,
}

impl<S: Sink> Deref for Visit<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.room.as_ref().expect("the visit has not ended").sink
    }
}

impl<S: Sink> DerefMut for Visit<'_, S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.room.as_mut().expect("the visit has not ended").sink
    }
}

impl<S: Sink> Drop for Visit<'_, S> {
    fn drop(&mut self) {
        if let Some(room) = self.room.take() {
            self.door.leave(room, None);
        }
    }
}

/// Locks without regard to poisoning: no code here panics while it holds a lock, and the state
/// behind each is whole at every step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
}
