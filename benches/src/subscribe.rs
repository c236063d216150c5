//! Recording with subscribers against recording without.

use std::path::Path;

use anyhow::ensure;
use quipu_journal::{Options, Recorder};

use crate::measure::{median, seconds};
use crate::row::Outcome;
use crate::sample::{draft, recorder, small_reply, step_path};

const EVENTS: usize = 100_000;
const ROUNDS: usize = 15;

pub(crate) fn stuck_and_healthy(dir: &Path) -> anyhow::Result<Outcome> {
    let mut times = Vec::new();
    watched(dir)?;
    for round in 0..ROUNDS {
        // Who goes first alternates, so that a trend hits both alike.
        times.push(if round % 2 == 0 {
            (alone(dir)?, watched(dir)?)
        } else {
            let watched = watched(dir)?;
            (alone(dir)?, watched)
        });
    }
    Ok(Outcome {
        value: EVENTS as f64 / median(times.iter().map(|pair| pair.1)),
        unit: "events/s",
        baseline: EVENTS as f64 / median(times.iter().map(|pair| pair.0)),
        ratio: median(times.iter().map(|pair| pair.0 / pair.1)),
    })
}

/// Records with nobody watching and returns how long it took. A second thread is there too: the
/// mere presence of one makes allocation dearer.
fn alone(dir: &Path) -> anyhow::Result<f64> {
    let recorder = recorder(dir, Options::default())?;
    let (end, wait) = std::sync::mpsc::channel::<()>();
    let idle = std::thread::spawn(move || wait.recv());
    let took = seconds(&mut || produce(&recorder))?;
    drop(end);
    idle.join().map_err(|_| anyhow::anyhow!("the idle thread panicked"))?.err();
    std::fs::remove_file(recorder.path())?;
    Ok(took)
}

/// Records while one subscriber never reads and another reads everything, and returns how long
/// recording took. The one that reads gets every event exactly once, in order.
fn watched(dir: &Path) -> anyhow::Result<f64> {
    let recorder = recorder(dir, Options::default())?;
    let _stuck = recorder.subscribe();
    let mut healthy = recorder.subscribe_from(1);
    let seen = std::thread::spawn(move || {
        (1..).zip(healthy.by_ref()).take_while(|(seq, event)| *seq == event.seq).count()
    });
    let took = seconds(&mut || produce(&recorder))?;
    recorder.close()?;
    let seen = seen.join().map_err(|_| anyhow::anyhow!("the subscriber panicked"))?;
    ensure!(seen == EVENTS, "the healthy subscriber saw {seen} of {EVENTS} events");
    std::fs::remove_file(recorder.path())?;
    Ok(took)
}

fn produce(recorder: &Recorder) -> anyhow::Result<()> {
    let (message, path) = (small_reply(), step_path());
    for _ in 0..EVENTS {
        recorder.record(draft(&message, &path)?)?;
    }
    Ok(())
}
