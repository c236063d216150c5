//! Pages for people: read, fold and hand over, without a disk behind it.

use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;

use anyhow::ensure;
use quipu_event::payload::{Message, RunKind, RunStarted, ToolCall, ToolResult};
use quipu_event::{
    ContentBlock, Draft, Fidelity, Json, Kind, RunId, RunIdentity, StepPath, Timestamp, encode_line,
};
use quipu_journal::Reader;
use quipu_view::{FileView, HtmlView, MarkdownView, Shelf};

use crate::measure::{in_turns, peak_memory};
use crate::row::Outcome;
use crate::sample::reply;

const MEGABYTE: f64 = 1e6;

/// Beside reading the same events and decoding their payloads.
pub(crate) fn markdown(dir: &Path) -> anyhow::Result<Outcome> {
    let path = dir.join("session.jsonl");
    write_session(&path, 200_000_000)?;
    let megabytes = path.metadata()?.len() as f64 / MEGABYTE;
    let fold = || fold(&path, MarkdownView::default());
    let times = in_turns(5, || read_typed(&path), fold)?;
    Ok(Outcome {
        value: megabytes / times.subject,
        unit: "MB/s",
        baseline: megabytes / times.baseline,
        ratio: times.ratio,
    })
}

/// The most memory for 1 GB beside that for 20 MB.
pub(crate) fn markdown_memory(dir: &Path) -> anyhow::Result<Outcome> {
    let path = dir.join("session.jsonl");
    write_session(&path, 20_000_000)?;
    let baseline = peak_memory(|| fold(&path, MarkdownView::default()))?;
    write_session(&path, 1_000_000_000)?;
    let value = peak_memory(|| fold(&path, MarkdownView::default()))?;
    Ok(Outcome { value, unit: "MB at the peak", baseline, ratio: value / baseline })
}

/// Seconds for a run of 100 MB, beside reading it.
pub(crate) fn html(dir: &Path) -> anyhow::Result<Outcome> {
    let path = dir.join("session.jsonl");
    write_session(&path, 100_000_000)?;
    let times = in_turns(5, || read_typed(&path), || fold(&path, HtmlView::new()))?;
    Ok(Outcome { value: times.subject, unit: "s", baseline: times.baseline, ratio: times.ratio })
}

fn read_typed(path: &Path) -> anyhow::Result<()> {
    for event in Reader::open(path)? {
        black_box(event?.decode_payload()?);
    }
    Ok(())
}

fn fold(path: &Path, mut view: impl FileView) -> anyhow::Result<()> {
    let mut shelf = Scale(0);
    for event in Reader::open(path)? {
        view.add(&event?, &mut shelf);
    }
    view.finish(&mut shelf);
    ensure!(shelf.0 > 0, "something was written");
    Ok(())
}

/// A shelf that only weighs what is put on it.
struct Scale(u64);

impl Shelf for Scale {
    fn append(&mut self, _: &str, bytes: &[u8]) {
        self.0 += black_box(bytes).len() as u64;
    }

    fn put(&mut self, path: &str, bytes: &[u8]) {
        self.append(path, bytes);
    }

    fn rename(&mut self, _: &str, _: &str) {}
}

/// Writes a session as agents leave them: a reply, a call, and an answer that is longer than both.
fn write_session(path: &Path, bytes: u64) -> anyhow::Result<()> {
    let run = RunIdentity { run_id: RunId::parse("bench")?, parent_run_id: None };
    let now = Timestamp::from_micros(1_767_323_045_123_456);
    let mut out = File::create(path)?;
    let (mut seq, mut written) = (1, 0);
    let mut chunk = String::new();
    let start = Draft::new(Kind::RunStarted, &RunStarted::new("bench", RunKind::Session))?;
    encode_line(&start.seal(seq, &run, now), &mut chunk);
    while written < bytes {
        for draft in round(seq)? {
            seq += 1;
            encode_line(&draft.at(StepPath::from("review"), 0).seal(seq, &run, now), &mut chunk);
        }
        written += chunk.len() as u64;
        out.write_all(chunk.as_bytes())?;
        chunk.clear();
    }
    Ok(())
}

fn round(seq: u64) -> anyhow::Result<[Draft; 3]> {
    let call_id = format!("call_{seq}");
    let input = Json::parse(r#"{"command":"cargo test --workspace","timeout_ms":120000}"#)?;
    let mut message: Message = reply(600);
    message.blocks.insert(0, ContentBlock::thinking(Fidelity::AgentEmitted, "Where is it read?"));
    let output = "test cache::reads_once ... ok\n".repeat(usize::try_from(seq % 120)?);
    let call = ToolCall { name: "Bash".into(), call_id, input, ..ToolCall::default() };
    let result = ToolResult {
        name: call.name.clone(),
        call_id: call.call_id.clone(),
        input: call.input.clone(),
        output: Json::encode(&output)?,
        ..ToolResult::default()
    };
    Ok([
        Draft::new(Kind::MessageAssistant, &message)?,
        Draft::new(Kind::ToolCall, &call)?,
        Draft::new(Kind::ToolResult, &result)?,
    ])
}
