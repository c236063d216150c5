//! Views: what it takes to make one of a transcript.

use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::ensure;
use quipu_event::payload::{StepCompleted, StepStarted, Usage, UsageScope};
use quipu_event::{
    Draft, Kind, RunId, RunIdentity, StepPath, Timestamp, decode_line, encode_line, peek,
};
use quipu_journal::Lines;
use quipu_view::PriceTable;
use quipu_view::receipt::{ReceiptBuilder, ReceiptOptions, is_needed};

use crate::measure::in_turns;
use crate::row::Outcome;
use crate::sample::{draft, reply};

const MEGABYTE: f64 = 1e6;
/// How many messages stand between two `usage` events.
const MESSAGES: u64 = 3;

/// Makes the receipt of a run of many steps, and compares with reading its bytes.
pub(crate) fn receipt(dir: &Path) -> anyhow::Result<Outcome> {
    let path = dir.join("receipt.jsonl");
    let steps = write_run(&path, 200_000_000)?;
    let megabytes = path.metadata()?.len() as f64 / MEGABYTE;
    let prices = Arc::new(PriceTable::built_in());
    let times = in_turns(5, || read_bytes(&path), || make_receipt(&path, &prices, steps))?;
    Ok(Outcome {
        value: megabytes / times.subject,
        unit: "MB/s",
        baseline: megabytes / times.baseline,
        ratio: times.ratio,
    })
}

fn make_receipt(path: &Path, prices: &Arc<PriceTable>, steps: u64) -> anyhow::Result<()> {
    let mut builder = ReceiptBuilder::new(Arc::clone(prices), ReceiptOptions::default());
    let mut lines = Lines::new(File::open(path)?, 0);
    while let Some(line) = lines.next()? {
        if peek(line.bytes).is_some_and(|seen| !is_needed(seen.kind)) {
            continue;
        }
        builder.add(&decode_line(line.bytes)?);
    }
    let receipt = builder.finish();
    ensure!(receipt.is_some_and(|r| r.own().total().events == steps), "each step used something");
    Ok(())
}

/// Writes steps with messages and usage, about `bytes` bytes of them. Returns how many steps.
fn write_run(path: &Path, bytes: u64) -> anyhow::Result<u64> {
    let run = RunIdentity { run_id: RunId::random(), parent_run_id: None };
    let now = Timestamp::from_micros(1_767_323_045_123_456);
    let (mut out, mut chunk, message) = (File::create(path)?, String::new(), reply(1200));
    let (mut seq, mut steps, mut written) = (0, 0, 0);
    let usage = Usage {
        model: Some("claude-opus-4-5".to_owned()),
        input_tokens: Some(1200),
        output_tokens: Some(340),
        cache_read_tokens: Some(56_000),
        scope: Some(UsageScope::Message),
        ..Usage::default()
    };
    let started = StepStarted { name: "check".into(), kind: "agent".into(), ..Default::default() };
    let ended = StepCompleted { name: "check".into(), kind: "agent".into(), ..Default::default() };
    while written < bytes {
        let path = StepPath::from(format!("each[{steps}].check").as_str());
        let mut drafts = vec![Draft::new(Kind::StepStarted, &started)?.at(path.clone(), steps)];
        for _ in 0..MESSAGES {
            drafts.push(draft(&message, &path)?);
        }
        drafts.push(Draft::new(Kind::Usage, &usage)?.at(path.clone(), steps));
        drafts.push(Draft::new(Kind::StepCompleted, &ended)?.at(path, steps));
        for draft in drafts {
            seq += 1;
            encode_line(&draft.seal(seq, &run, now), &mut chunk);
        }
        steps += 1;
        written += chunk.len() as u64;
        out.write_all(chunk.as_bytes())?;
        chunk.clear();
    }
    Ok(steps)
}

fn read_bytes(path: &Path) -> anyhow::Result<()> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 256 * 1024];
    while file.read(&mut buffer)? > 0 {
        black_box(&buffer);
    }
    Ok(())
}
