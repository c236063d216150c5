//! Two things, timed in turns.

use std::time::Instant;

use anyhow::Context;

/// What came of timing two things in turns.
pub(crate) struct Comparison {
    /// Seconds of the baseline, in the middle of its rounds.
    pub(crate) baseline: f64,
    /// Seconds of the subject.
    pub(crate) subject: f64,
    /// How many times as fast as the baseline the subject is, in the middle of all rounds.
    pub(crate) ratio: f64,
}

/// Runs both `rounds` times in turns, after one round that does not count.
pub(crate) fn in_turns(
    rounds: usize,
    mut baseline: impl FnMut() -> anyhow::Result<()>,
    mut subject: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<Comparison> {
    baseline()?;
    subject()?;
    let mut times = Vec::new();
    for round in 0..rounds {
        // Who goes first alternates, so that a trend hits both alike.
        let pair = if round % 2 == 0 {
            let first = seconds(&mut baseline)?;
            (first, seconds(&mut subject)?)
        } else {
            let first = seconds(&mut subject)?;
            (seconds(&mut baseline)?, first)
        };
        times.push(pair);
    }
    Ok(Comparison {
        baseline: median(times.iter().map(|pair| pair.0)),
        subject: median(times.iter().map(|pair| pair.1)),
        ratio: median(times.iter().map(|pair| pair.0 / pair.1)),
    })
}

pub(crate) fn seconds(run: &mut impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let started = Instant::now();
    run()?;
    Ok(started.elapsed().as_secs_f64())
}

pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Runs `work` and returns the most memory, in MB, that the process ever used meanwhile.
pub(crate) fn peak_memory(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    // Writing 5 resets the peak to the present; where that is not allowed the peak is an upper
    // bound all the same.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    work()?;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: f64 = peak.context("a peak")?.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes / 1000.0)
}
