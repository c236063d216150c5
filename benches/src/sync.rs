//! Group commit against one fdatasync per event.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use quipu_journal::{Durability, Options};

use crate::measure::seconds;
use crate::row::Outcome;
use crate::sample::{draft, line, recorder, small_reply, step_path};

const PRODUCERS: usize = 64;
const EVENTS_EACH: usize = 400;
const RAW_EVENTS: usize = 400;
const ROUNDS: usize = 9;

pub(crate) fn group_commit(dir: &Path) -> anyhow::Result<Outcome> {
    let mut rates = Vec::new();
    for _ in 0..ROUNDS {
        let raw = RAW_EVENTS as f64 / seconds(&mut || one_by_one(dir))?;
        let grouped = (PRODUCERS * EVENTS_EACH) as f64 / seconds(&mut || together(dir))?;
        rates.push((raw, grouped));
    }
    Ok(Outcome::of_rounds("events/s", &rates))
}

fn one_by_one(dir: &Path) -> anyhow::Result<()> {
    let line = line(&small_reply(), 12_345)?;
    let path = dir.join("synced.jsonl");
    let mut file = OpenOptions::new().create_new(true).append(true).open(&path)?;
    for _ in 0..RAW_EVENTS {
        file.write_all(line.as_bytes())?;
        file.sync_data()?;
    }
    std::fs::remove_file(path)?;
    Ok(())
}

fn together(dir: &Path) -> anyhow::Result<()> {
    let options = Options { durability: Durability::Always, ..Options::default() };
    let recorder = recorder(dir, options)?;
    let (message, path) = (small_reply(), step_path());
    let produce = || -> anyhow::Result<()> {
        for _ in 0..EVENTS_EACH {
            recorder.record(draft(&message, &path)?)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..PRODUCERS).map(|_| scope.spawn(produce)).collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().map_err(|_| anyhow::anyhow!("a producer panicked"))?
        })
    })?;
    recorder.close()?;
    Ok(())
}
