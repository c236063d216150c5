//! Every interleaving that a scheduler can think of, for the one piece that is more than a mutex.
//!
//! The real `combine.rs` and `bell.rs` are compiled here a second time, with a model checker's threads
//! and locks in place of the system's. The checker fails a schedule in which somebody waits for ever.

#[path = "../src/bell.rs"]
mod bell;
#[path = "../src/combine.rs"]
mod combine;

mod sync {
    //! The same names as in `src/sync.rs`.

    pub(crate) use shuttle::hint::spin_loop;
    use shuttle::sync::Condvar;
    pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
    pub(crate) use shuttle::sync::{Arc, Mutex, MutexGuard};
    pub(crate) use shuttle::thread::yield_now;
    pub(crate) use std::sync::TryLockError;

    /// The same as in `src/sync.rs`, in the checker's terms: only who wakes wakes.
    pub(crate) struct Wake {
        number: Mutex<u32>,
        woken: Condvar,
    }

    impl Wake {
        pub(crate) fn new() -> Self {
            Wake { number: Mutex::new(0), woken: Condvar::new() }
        }

        pub(crate) fn read(&self) -> u32 {
            *self.number()
        }

        pub(crate) fn advance(&self) {
            *self.number() += 1;
        }

        pub(crate) fn sleep_at(&self, seen: u32) {
            let number = self.number();
            if *number == seen {
                drop(self.woken.wait(number).expect("nobody panics with the number in hand"));
            }
        }

        fn number(&self) -> MutexGuard<'_, u32> {
            self.number.lock().expect("nobody panics with the number in hand")
        }

        pub(crate) fn wake_all(&self) {
            self.woken.notify_all();
        }

        pub(crate) fn wake_one(&self) {
            self.woken.notify_one();
        }
    }

    /// A number for each of the checker's threads.
    pub(crate) fn me() -> usize {
        usize::from(shuttle::current::me())
    }

    /// The same as in `src/sync.rs`, with less of it: every look is a step to explore.
    #[derive(Clone, Copy)]
    pub(crate) struct Patience {
        pub(crate) for_company: u32,
        pub(crate) for_leader: u32,
        pub(crate) before_yield: u32,
        pub(crate) before_sleep: u32,
    }

    impl Patience {
        pub(crate) const NONE: Patience =
            Patience { for_company: 0, for_leader: 0, before_yield: 0, before_sleep: 0 };
        pub(crate) const SHORT: Patience =
            Patience { for_company: 0, for_leader: 1, before_yield: 1, before_sleep: 2 };
        pub(crate) const LONG: Patience =
            Patience { for_company: 2, for_leader: 1, before_yield: 1, before_sleep: 3 };
        pub(crate) const ALL: [Patience; 3] = [Patience::NONE, Patience::SHORT, Patience::LONG];
    }
}

use combine::{Combiner, Load, Sink};
use sync::{Arc, Patience, yield_now};

const JOBS: usize = 2;
/// So many jobs may wait at the door.
const ROOM: usize = 3;
/// Every job of this producer is too large to wait there.
const LARGE: usize = 1;

/// Which producer's which job.
type Job = (usize, usize);

/// Jobs that wait at the door.
struct Waiting(Vec<Job>);

impl Load for Waiting {
    type Job = Job;

    fn add(&mut self, job: &mut Job) {
        self.0.push(*job);
    }

    fn has_room_for(&self, job: &Job) -> bool {
        job.0 != LARGE && self.0.len() < ROOM
    }

    fn count(&self) -> usize {
        self.0.len()
    }
}

/// Remembers in which order jobs came through the door, and refuses those after the first few.
struct Log {
    done: Vec<Job>,
    at_the_door: usize,
    /// So many jobs are done.
    most: usize,
}

impl Log {
    fn note(&mut self, number: u64, job: Job) {
        self.at_the_door += 1;
        assert_eq!(self.at_the_door, 1, "two at the door");
        yield_now();
        if self.is_sound() {
            self.done.push(job);
            assert_eq!(self.done.len() as u64, number, "out of order");
        }
        self.at_the_door -= 1;
    }
}

impl Sink for Log {
    type Load = Waiting;
    /// The number of a job that was done.
    type Outcome = Option<u64>;

    fn empty_load(&self) -> Waiting {
        Waiting(Vec::new())
    }

    fn next_number(&self) -> u64 {
        1
    }

    fn carry(&mut self, first: u64, load: &mut Waiting, own: Option<&mut Job>) {
        for (number, job) in (first..).zip(load.0.drain(..).chain(own.copied())) {
            self.note(number, job);
        }
    }

    fn carry_alone(&mut self, number: u64, job: &mut Job) {
        self.note(number, *job);
    }

    fn is_sound(&self) -> bool {
        self.done.len() < self.most
    }

    fn done(number: u64) -> Option<u64> {
        Some(number)
    }

    fn outcome(&mut self, number: u64) -> Option<u64> {
        (number <= self.done.len() as u64).then_some(number)
    }
}

/// Brings all jobs of a producer; returns the numbers of those that were done.
fn produce(door: &Combiner<Log>, producer: usize) -> Vec<u64> {
    (0..JOBS).filter_map(|number| door.submit(&mut (producer, number))).collect()
}

fn many_producers(producers: usize, patience: Patience, most: usize) {
    let log = Log { done: Vec::new(), at_the_door: 0, most };
    let door = Arc::new(Combiner::new(log, patience));
    let threads: Vec<_> = (0..producers)
        .map(|producer| {
            let door = Arc::clone(&door);
            shuttle::thread::spawn(move || produce(&door, producer))
        })
        .collect();
    // Somebody who comes with something other than a job neither disturbs nor is disturbed.
    let seen = door.sink().done.len();
    let told: Vec<Vec<u64>> =
        threads.into_iter().map(|thread| thread.join().expect("no producer panics")).collect();
    let done = &door.sink().done;
    assert!(seen <= done.len());
    assert_eq!(done.len(), most.min(producers * JOBS), "a job was lost or done twice");
    for (producer, told) in told.iter().enumerate() {
        let own = (1..).zip(done.iter()).filter(|(_, job)| job.0 == producer);
        let (numbers, jobs): (Vec<u64>, Vec<usize>) =
            own.map(|(number, job)| (number, job.1)).unzip();
        assert_eq!(told, &numbers, "the outcome of somebody else");
        assert_eq!(jobs, (0..numbers.len()).collect::<Vec<_>>(), "a later job came earlier");
    }
}

/// As many as all jobs of all producers, and so few that most are refused.
const MOSTS: [usize; 2] = [usize::MAX, 3];

fn all_cases() -> impl Iterator<Item = (Patience, usize)> {
    Patience::ALL.into_iter().flat_map(|patience| MOSTS.map(|most| (patience, most)))
}

#[test]
fn every_job_is_done_once_and_told_to_its_producer_in_random_schedules() {
    for producers in 2..=5 {
        for (patience, most) in all_cases() {
            shuttle::check_random(move || many_producers(producers, patience, most), 1000);
        }
    }
}

#[test]
fn every_job_is_done_once_and_told_to_its_producer_in_adversarial_schedules() {
    for producers in 2..=5 {
        for (patience, most) in all_cases() {
            shuttle::check_pct(move || many_producers(producers, patience, most), 1000, 3);
        }
    }
}
