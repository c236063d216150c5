//! Recording with subscribers against recording without.

use std::path::Path;

use anyhow::ensure;
use quipu_journal::{Options, Recorder};

use crate::measure::in_turns;
use crate::row::Outcome;
use crate::sample::{draft, recorder, small_reply, step_path};

const EVENTS: usize = 100_000;

pub(crate) fn stuck_and_healthy(dir: &Path) -> anyhow::Result<Outcome> {
    let times = in_turns(9, || alone(dir), || watched(dir))?;
    Ok(Outcome {
        value: EVENTS as f64 / times.subject,
        unit: "events/s",
        baseline: EVENTS as f64 / times.baseline,
        ratio: times.ratio,
    })
}

fn alone(dir: &Path) -> anyhow::Result<()> {
    let recorder = recorder(dir, Options::default())?;
    produce(&recorder)?;
    finish(&recorder)
}

/// One subscriber never reads; the other gets every event exactly once, in order.
fn watched(dir: &Path) -> anyhow::Result<()> {
    let recorder = recorder(dir, Options::default())?;
    let _stuck = recorder.subscribe();
    let mut healthy = recorder.subscribe_from(1);
    let seen = std::thread::spawn(move || {
        (1..).zip(healthy.by_ref()).take_while(|(seq, event)| *seq == event.seq).count()
    });
    produce(&recorder)?;
    finish(&recorder)?;
    let seen = seen.join().map_err(|_| anyhow::anyhow!("the subscriber panicked"))?;
    ensure!(seen == EVENTS, "the healthy subscriber saw {seen} of {EVENTS} events");
    Ok(())
}

fn produce(recorder: &Recorder) -> anyhow::Result<()> {
    let (message, path) = (small_reply(), step_path());
    for _ in 0..EVENTS {
        recorder.record(draft(&message, &path)?)?;
    }
    Ok(())
}

fn finish(recorder: &Recorder) -> anyhow::Result<()> {
    recorder.close()?;
    Ok(())
}
