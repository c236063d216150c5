//! Reading transcripts back: typed, by type alone, and in flat memory.

use std::collections::HashMap;
use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, ensure};
use quipu_event::peek;
use quipu_journal::{Lines, Reader};

use crate::measure::{in_turns, peak_memory};
use crate::row::Outcome;
use crate::sample::write_transcript;

const MEGABYTE: f64 = 1e6;

pub(crate) fn typed(dir: &Path) -> anyhow::Result<Outcome> {
    throughput(dir, 200_000_000, |path| {
        for event in Reader::open(path)? {
            black_box(event?.decode_payload()?);
        }
        Ok(())
    })
}

pub(crate) fn by_type(dir: &Path) -> anyhow::Result<Outcome> {
    throughput(dir, 1_000_000_000, |path| {
        let mut counts: HashMap<String, u64> = HashMap::new();
        let mut lines = Lines::new(File::open(path)?, 0);
        while let Some(line) = lines.next()? {
            let kind = peek(line.bytes).context("a line of ours")?.kind;
            match counts.get_mut(kind) {
                Some(count) => *count += 1,
                None => drop(counts.insert(kind.to_owned(), 1)),
            }
        }
        ensure!(counts.len() == 2, "two types were written");
        Ok(())
    })
}

/// Compares with reading the same bytes and doing nothing with them.
fn throughput(
    dir: &Path,
    bytes: u64,
    read: impl Fn(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<Outcome> {
    let path = dir.join("read.jsonl");
    write_transcript(&path, bytes)?;
    let megabytes = path.metadata()?.len() as f64 / MEGABYTE;
    let times = in_turns(5, || read_bytes(&path), || read(&path))?;
    Ok(Outcome {
        value: megabytes / times.subject,
        unit: "MB/s",
        baseline: megabytes / times.baseline,
        ratio: times.ratio,
    })
}

fn read_bytes(path: &Path) -> anyhow::Result<()> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 256 * 1024];
    while file.read(&mut buffer)? > 0 {
        black_box(&buffer);
    }
    Ok(())
}

/// Reads 5 GB, typed, and compares the most memory ever used with that of reading 50 MB.
pub(crate) fn flat_memory(dir: &Path) -> anyhow::Result<Outcome> {
    let path = dir.join("small.jsonl");
    write_transcript(&path, 50_000_000)?;
    let baseline = peak_after_reading(&path)?;
    let path = dir.join("large.jsonl");
    write_transcript(&path, 5_000_000_000)?;
    let value = peak_after_reading(&path)?;
    Ok(Outcome { value, unit: "MB at the peak", baseline, ratio: value / baseline })
}

fn peak_after_reading(path: &Path) -> anyhow::Result<f64> {
    peak_memory(|| {
        for event in Reader::open(path)? {
            black_box(event?);
        }
        Ok(())
    })
}
