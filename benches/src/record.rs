//! Recording against one raw `write(2)` per pre-encoded line.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use quipu_event::payload::Message;
use quipu_journal::Options;

use crate::measure::in_turns;
use crate::row::Outcome;
use crate::sample::{draft, line, recorder, reply, small_reply, step_path, write_raw};

const SMALL_EVENTS: usize = 300_000;
const LARGE_EVENTS: usize = 1_000;
/// So many events a producer takes upon itself at a time: a count that two cores share costs as much
/// as a good part of recording.
const SHARE: usize = 50;

pub(crate) fn one_producer(dir: &Path) -> anyhow::Result<Outcome> {
    by_producers(dir, &small_reply(), 1, SMALL_EVENTS)
}

pub(crate) fn eight_producers(dir: &Path) -> anyhow::Result<Outcome> {
    by_producers(dir, &small_reply(), 8, SMALL_EVENTS)
}

pub(crate) fn large_blocks(dir: &Path) -> anyhow::Result<Outcome> {
    let message = reply(100_000);
    let outcome = by_producers(dir, &message, 1, LARGE_EVENTS)?;
    let megabytes = line(&message, 1)?.len() as f64 / 1e6;
    let (value, baseline) = (outcome.value * megabytes, outcome.baseline * megabytes);
    Ok(Outcome { value, baseline, unit: "MB/s", ..outcome })
}

fn by_producers(
    dir: &Path,
    message: &Message,
    producers: usize,
    events: usize,
) -> anyhow::Result<Outcome> {
    let encoded = line(message, 12_345)?;
    let times = in_turns(
        9,
        || write_raw(dir, &encoded, events),
        || record_all(dir, message, producers, events),
    )?;
    Ok(Outcome {
        value: events as f64 / times.subject,
        unit: "events/s",
        baseline: events as f64 / times.baseline,
        ratio: times.ratio,
    })
}

fn record_all(
    dir: &Path,
    message: &Message,
    producers: usize,
    events: usize,
) -> anyhow::Result<()> {
    let recorder = recorder(dir, Options::default())?;
    // All producers work until all is done: otherwise those who were late would be measured alone.
    let begun = AtomicUsize::new(0);
    let produce = || -> anyhow::Result<()> {
        let path = step_path();
        while begun.fetch_add(SHARE, Ordering::Relaxed) < events {
            for _ in 0..SHARE {
                recorder.record(draft(message, &path)?)?;
            }
        }
        Ok(())
    };
    if producers == 1 {
        produce()?;
    } else {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..producers).map(|_| scope.spawn(produce)).collect();
            threads.into_iter().try_for_each(|thread| {
                thread.join().map_err(|_| anyhow::anyhow!("a producer panicked"))?
            })
        })?;
    }
    recorder.close()?;
    std::fs::remove_file(recorder.path())?;
    Ok(())
}
