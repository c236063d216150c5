//! Normalising what agents leave on disk.
//!
//! Real sessions are read where a folder of them is named by `QUIPU_FIXTURES` or lies beside the
//! repository; without one the crate's own cases stand in for them, which are short and therefore
//! the harder input.

use std::hint::black_box;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use quipu_provider::{KeptBytes, Made, Normalizer, Surface, find_provider};

use crate::measure::{in_turns, peak_memory};
use crate::row::Outcome;

/// So many bytes are normalised in one round.
const BYTES: usize = 500_000_000;
/// Input comes in pieces of this size, as from a file.
const PIECE: usize = 256 * 1024;

pub(crate) fn claude_sessions(_: &Path) -> anyhow::Result<Outcome> {
    throughput("claude", "session")
}

pub(crate) fn codex_rollouts(_: &Path) -> anyhow::Result<Outcome> {
    throughput("codex", "rollout")
}

/// Compares with parsing the same lines into trees of values and doing nothing with them.
fn throughput(provider: &str, surface: &str) -> anyhow::Result<Outcome> {
    let inputs = inputs(provider, surface)?;
    let surface = surface_of(provider, surface)?;
    let once: usize = inputs.iter().map(Vec::len).sum();
    let rounds = BYTES.div_ceil(once).max(1);
    let megabytes = (once * rounds) as f64 / 1e6;
    let each = |work: &mut dyn FnMut(&[u8])| {
        for _ in 0..rounds {
            inputs.iter().for_each(|input| work(input));
        }
    };
    let times = in_turns(
        3,
        || {
            each(&mut |input| {
                for line in input.split(|byte| *byte == b'\n') {
                    let _ = black_box(serde_json::from_slice::<serde_json::Value>(line));
                }
            });
            Ok(())
        },
        || {
            each(&mut |input| normalize(surface, input));
            Ok(())
        },
    )?;
    Ok(Outcome {
        value: megabytes / times.subject,
        unit: "MB/s",
        baseline: megabytes / times.baseline,
        ratio: times.ratio,
    })
}

/// Compares the most memory ever used with the size of a single line of 100 MB.
pub(crate) fn one_giant_line(dir: &Path) -> anyhow::Result<Outcome> {
    let surface = surface_of("claude", "session")?;
    let path = dir.join("giant.jsonl");
    write_giant_line(&path)?;
    let size = path.metadata()?.len() as f64 / 1e6;
    let peak = peak_memory(|| {
        let mut file = std::fs::File::open(&path)?;
        let mut normalizer = Normalizer::new(surface, KeptBytes::Full);
        let (mut piece, mut made) = (vec![0; PIECE], Vec::new());
        loop {
            match std::io::Read::read(&mut file, &mut piece)? {
                0 => break,
                len => normalizer.push(&piece[..len], &mut made),
            }
        }
        normalizer.finish(&mut made);
        ensure!(!made.is_empty(), "the line became events");
        Ok(())
    })?;
    Ok(Outcome { value: peak, unit: "MB at the peak", baseline: size, ratio: peak / size })
}

/// Writes a reply whose text is 100 MB, without ever having it in memory.
fn write_giant_line(path: &Path) -> anyhow::Result<()> {
    let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
    write!(
        out,
        r#"{{"type":"assistant","uuid":"u","parentUuid":null,"sessionId":"s","timestamp":"2026-06-08T10:14:42.123Z","message":{{"id":"m","role":"assistant","model":"x","content":[{{"type":"text","text":""#
    )?;
    for _ in 0..2_500_000 {
        out.write_all(b"All work and no play makes a dull agent.\\n")?;
    }
    out.write_all(b"\"}]}}\n")?;
    Ok(out.flush()?)
}

fn normalize(surface: &Surface, input: &[u8]) {
    let mut normalizer = Normalizer::new(surface, KeptBytes::Full);
    let mut made: Vec<Made> = Vec::new();
    for piece in input.chunks(PIECE) {
        normalizer.push(piece, &mut made);
        black_box(&made);
        made.clear();
    }
    normalizer.finish(&mut made);
    black_box(&made);
}

fn surface_of(provider: &str, surface: &str) -> anyhow::Result<&'static Surface> {
    find_provider(provider)
        .and_then(|provider| provider.find_surface(surface))
        .with_context(|| format!("no surface {provider} {surface}"))
}

/// Returns the sessions there are to read.
fn inputs(provider: &str, surface: &str) -> anyhow::Result<Vec<Vec<u8>>> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fixtures = std::env::var_os("QUIPU_FIXTURES")
        .map_or_else(|| home.join("../../shared/fixtures"), PathBuf::from)
        .join("providers");
    let own = home.join("../crates/provider/tests/cases");
    let (folder, ending) =
        if fixtures.is_dir() { (fixtures, ".jsonl") } else { (own, ".in.jsonl") };
    let folder = folder.join(provider).join(surface);
    let mut inputs = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.to_str().is_some_and(|path| path.ends_with(ending)) {
            inputs.push(std::fs::read(path)?);
        }
    }
    ensure!(!inputs.is_empty(), "{} has nothing to read", folder.display());
    Ok(inputs)
}
