//! What the machine itself takes: the rows about recording are made of these.
//!
//! They have no goal. Who finds a ratio surprising looks here first: a raw write is two prices in
//! one, producers that share a core pay for each turn, and a core may not have the machine to itself.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use crate::measure::{in_turns, median, seconds};
use crate::row::Outcome;
use crate::sample::{line, small_reply, write_raw};

const WRITES: usize = 100_000;
const ROUNDS: usize = 9;
/// What a file is kept in, in memory.
const PAGE: usize = 4096;
/// So many threads take turns on each core: as many as eight producers on two.
const THREADS_PER_CORE: usize = 4;
const TURNS: usize = 50_000;

/// One write in seven goes on a page that the file does not have yet.
pub(crate) fn new_page(dir: &Path) -> anyhow::Result<Outcome> {
    let line = line(&small_reply(), 12_345)?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(prices_of_a_write(dir, line.as_bytes())?);
    }
    Ok(Outcome::of_rounds("ns", &rounds))
}

/// Returns the nanoseconds of a write within a page, and of one that needs the next.
fn prices_of_a_write(dir: &Path, line: &[u8]) -> anyhow::Result<(f64, f64)> {
    let path = dir.join("pages");
    let mut file = OpenOptions::new().create_new(true).append(true).open(&path)?;
    let (mut within, mut beyond) = (Vec::new(), Vec::new());
    for index in 0..WRITES {
        let started = Instant::now();
        file.write_all(line)?;
        let took = started.elapsed().as_nanos() as f64;
        let pages = |bytes: usize| bytes.div_ceil(PAGE);
        let is_new = pages(index * line.len()) < pages((index + 1) * line.len());
        if is_new { beyond.push(took) } else { within.push(took) }
    }
    std::fs::remove_file(path)?;
    Ok((median(within.into_iter()), median(beyond.into_iter())))
}

/// A producer that waits lets another one have its core.
pub(crate) fn turn(dir: &Path) -> anyhow::Result<Outcome> {
    let cores = thread::available_parallelism()?.get();
    let line = line(&small_reply(), 12_345)?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let write = seconds(&mut || write_raw(dir, &line, WRITES))? / WRITES as f64;
        let turns = seconds(&mut || {
            take_turns(cores * THREADS_PER_CORE);
            Ok(())
        })?;
        rounds.push((write * 1e9, turns / (TURNS * THREADS_PER_CORE) as f64 * 1e9));
    }
    Ok(Outcome::of_rounds("ns", &rounds))
}

fn take_turns(threads: usize) {
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| (0..TURNS).for_each(|_| thread::yield_now()));
        }
    });
}

/// What one core writes while all others are busy with something that it has no part in.
pub(crate) fn company(dir: &Path) -> anyhow::Result<Outcome> {
    let others = thread::available_parallelism()?.get() - 1;
    let line = line(&small_reply(), 12_345)?;
    let times = in_turns(
        ROUNDS,
        || write_raw(dir, &line, WRITES),
        || beside_busy_cores(others, || write_raw(dir, &line, WRITES)),
    )?;
    Ok(Outcome {
        value: WRITES as f64 / times.subject,
        unit: "writes/s",
        baseline: WRITES as f64 / times.baseline,
        ratio: times.ratio,
    })
}

fn beside_busy_cores<R>(cores: usize, work: impl FnOnce() -> R) -> R {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                let mut number = 1_u64;
                while !is_done.load(Ordering::Relaxed) {
                    for _ in 0..1000 {
                        number = std::hint::black_box(number.wrapping_mul(31));
                    }
                }
            });
        }
        let outcome = work();
        is_done.store(true, Ordering::Relaxed);
        outcome
    })
}
