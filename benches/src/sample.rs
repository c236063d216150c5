//! The events that are recorded and read here, and the plainest way to write them.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use quipu_event::payload::{Message, RunKind, RunStarted};
use quipu_event::{
    ContentBlock, Draft, EncodeError, Fidelity, Kind, RunId, RunIdentity, StepPath, Timestamp,
    encode_line,
};
use quipu_journal::{Layout, Options, Recorder};

const PROSE: &str = "The test fails because the cache is read before it is filled; \
                     moving the call below the loop mends it.\n";

/// A reply with one text block of about `bytes` bytes.
pub(crate) fn reply(bytes: usize) -> Message {
    let text = PROSE.repeat(bytes / PROSE.len() + 1);
    let blocks = vec![ContentBlock::text(Fidelity::AgentEmitted, &text[..bytes])];
    Message::assistant(blocks)
}

/// A reply whose line is about 600 bytes long.
pub(crate) fn small_reply() -> Message {
    reply(330)
}

/// Makes the draft of a reply, as a producer would: from typed values, each time anew.
pub(crate) fn draft(message: &Message, path: &StepPath) -> Result<Draft, EncodeError> {
    Ok(Draft::new(Kind::MessageAssistant, message)?.at(path.clone(), 3))
}

pub(crate) fn step_path() -> StepPath {
    StepPath::from("each_file[3].review")
}

/// The line that recording `message` writes.
pub(crate) fn line(message: &Message, seq: u64) -> anyhow::Result<String> {
    let run = RunIdentity { run_id: RunId::random(), parent_run_id: None };
    let now = Timestamp::from_micros(1_767_323_045_123_456);
    let mut line = String::new();
    encode_line(&draft(message, &step_path())?.seal(seq, &run, now), &mut line);
    Ok(line)
}

/// One `write(2)` per line that was encoded beforehand.
pub(crate) fn write_raw(dir: &Path, line: &str, count: usize) -> anyhow::Result<()> {
    let path = dir.join("raw.jsonl");
    let mut file = OpenOptions::new().create_new(true).append(true).open(&path)?;
    for _ in 0..count {
        file.write_all(line.as_bytes())?;
    }
    std::fs::remove_file(path)?;
    Ok(())
}

/// Begins a run in `dir`.
pub(crate) fn recorder(dir: &Path, options: Options) -> anyhow::Result<Recorder> {
    let run = RunIdentity { run_id: RunId::random(), parent_run_id: None };
    Ok(Recorder::create(&Layout::new(dir.join("storage")), run, options)?)
}

/// Writes a transcript of about `bytes` bytes, a run's start first. Returns how many lines.
pub(crate) fn write_transcript(path: &Path, bytes: u64) -> anyhow::Result<u64> {
    let run = RunIdentity { run_id: RunId::random(), parent_run_id: None };
    let now = Timestamp::from_micros(1_767_323_045_123_456);
    let start = Draft::new(Kind::RunStarted, &RunStarted::new("bench", RunKind::Workflow))?;
    let mut chunk = String::new();
    encode_line(&start.seal(1, &run, now), &mut chunk);
    let mut out = File::create(path)?;
    let (mut seq, mut written) = (1, 0);
    let (message, path) = (small_reply(), step_path());
    while written < bytes {
        seq += 1;
        encode_line(&draft(&message, &path)?.seal(seq, &run, now), &mut chunk);
        if chunk.len() > 4 * 1024 * 1024 {
            out.write_all(chunk.as_bytes())?;
            written += chunk.len() as u64;
            chunk.clear();
        }
    }
    out.write_all(chunk.as_bytes())?;
    Ok(seq)
}
