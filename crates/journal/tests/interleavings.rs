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
    pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    pub(crate) use shuttle::sync::{Arc, Mutex, MutexGuard};
    pub(crate) use shuttle::thread::yield_now;

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

use combine::{Combiner, Place, Sink};
use sync::{Arc, Patience, yield_now};

const JOBS: usize = 2;

/// Which producer's which job.
type Job = (usize, usize);

/// Remembers in which order jobs came through the door.
#[derive(Default)]
struct Log {
    done: Vec<Job>,
    at_the_door: usize,
}

impl Sink for Log {
    type Job = Job;
    type Outcome = (Job, usize);

    fn process<'a>(
        &mut self,
        jobs: impl Iterator<Item = &'a Job>,
        mut done: impl FnMut(Self::Outcome),
    ) {
        self.at_the_door += 1;
        for job in jobs {
            assert_eq!(self.at_the_door, 1, "two at the door");
            yield_now();
            self.done.push(*job);
            done((*job, self.done.len()));
        }
        self.at_the_door -= 1;
    }
}

fn produce(door: &Combiner<Log>, producer: usize) {
    let place = Place::default();
    let mut before = 0;
    for number in 0..JOBS {
        let mut job = (producer, number);
        let (told, order) = door.submit(&place, &mut job);
        assert_eq!(told, (producer, number), "the outcome of somebody else");
        assert_eq!(job, told, "the job of somebody else");
        assert!(order > before, "a later job came through earlier");
        before = order;
    }
}

fn many_producers(producers: usize, patience: Patience) {
    let door = Arc::new(Combiner::new(Log::default(), patience));
    let threads: Vec<_> = (0..producers)
        .map(|producer| {
            let door = Arc::clone(&door);
            shuttle::thread::spawn(move || produce(&door, producer))
        })
        .collect();
    // Somebody who comes with something other than a job neither disturbs nor is disturbed.
    let seen = door.sink().done.len();
    for thread in threads {
        thread.join().expect("no producer panics");
    }
    let done = &door.sink().done;
    assert!(seen <= done.len());
    assert_eq!(done.len(), producers * JOBS, "a job was lost or done twice");
    for producer in 0..producers {
        let own: Vec<usize> =
            done.iter().filter(|job| job.0 == producer).map(|job| job.1).collect();
        assert_eq!(own, (0..JOBS).collect::<Vec<_>>());
    }
}

#[test]
fn every_job_is_done_once_and_told_to_its_producer_in_random_schedules() {
    for producers in 2..=5 {
        for patience in Patience::ALL {
            shuttle::check_random(move || many_producers(producers, patience), 1000);
        }
    }
}

#[test]
fn every_job_is_done_once_and_told_to_its_producer_in_adversarial_schedules() {
    for producers in 2..=5 {
        for patience in Patience::ALL {
            shuttle::check_pct(move || many_producers(producers, patience), 1000, 3);
        }
    }
}
