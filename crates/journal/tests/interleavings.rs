//! Every interleaving that a scheduler can think of, for the one piece that is more than a mutex.
//!
//! The real `combine.rs` is compiled here a second time, with a model checker's threads and locks
//! in place of the system's. The checker fails a schedule in which somebody waits for ever.

#[path = "../src/combine.rs"]
mod combine;

mod sync {
    //! The same names as in `src/sync.rs`.

    pub(crate) use shuttle::hint::spin_loop;
    pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
    pub(crate) use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(crate) use shuttle::thread::yield_now;

    /// A number for each of the checker's threads.
    pub(crate) fn me() -> usize {
        usize::from(shuttle::current::me())
    }

    pub(crate) const LOOKS_FOR_COMPANY: u32 = 1;
    pub(crate) const LOOKS_BEFORE_SLEEP: u32 = 2;
    pub(crate) const LOOKS_BEFORE_YIELD: u32 = 1;
}

use combine::{Combiner, Hurry, Sink};
use sync::{Arc, yield_now};

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

    fn process(&mut self, jobs: &mut [&mut Job], mut done: impl FnMut(Self::Outcome)) {
        self.at_the_door += 1;
        for job in jobs {
            assert_eq!(self.at_the_door, 1, "two at the door");
            yield_now();
            self.done.push(**job);
            done((**job, self.done.len()));
        }
        self.at_the_door -= 1;
    }
}

fn produce(door: &Combiner<Log>, producer: usize) {
    let mut before = 0;
    for job in 0..JOBS {
        let (told, place) = door.submit((producer, job));
        assert_eq!(told, (producer, job), "the outcome of somebody else");
        assert!(place > before, "a later job came through earlier");
        before = place;
    }
}

fn many_producers(producers: usize, hurry: Hurry) {
    let door = Arc::new(Combiner::new(Log::default(), hurry));
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
        shuttle::check_random(move || many_producers(producers, Hurry::Great), 1500);
        shuttle::check_random(move || many_producers(producers, Hurry::Small), 500);
    }
}

#[test]
fn every_job_is_done_once_and_told_to_its_producer_in_adversarial_schedules() {
    for producers in 2..=5 {
        shuttle::check_pct(move || many_producers(producers, Hurry::Great), 1500, 3);
        shuttle::check_pct(move || many_producers(producers, Hurry::Small), 500, 3);
    }
}
