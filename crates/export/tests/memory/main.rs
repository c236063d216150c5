//! How much memory layouts take: a binary of its own, for the peak is that of a whole process.

#![expect(clippy::unwrap_used, reason = "a test may fail wherever it likes")]

use std::path::Path;
use std::sync::Arc;

use peak_alloc::PeakAlloc;
use quipu_event::payload::{Message, ToolCall, ToolResult, Usage};
use quipu_event::{ContentBlock, Draft, Event, Fidelity, Json, Kind, RunIdentity, Timestamp};
use quipu_export::{LAYOUTS, LayoutEntry, Opening};
use quipu_testkit::{run_id, run_started};
use quipu_view::{PriceTable, Shelf};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// How long what is said and answered is.
const TEXT: usize = 16 * 1024;
/// A run of so many rounds is long enough to fill whatever a layout gathers before it writes.
const SHORT: u64 = 600;

/// A shelf that forgets.
struct Nowhere;

impl Shelf for Nowhere {
    fn append(&mut self, _: &str, _: &[u8]) {}

    fn put(&mut self, _: &str, _: &[u8]) {}

    fn rename(&mut self, _: &str, _: &str) {}
}

/// Returns a reply, a call, its answer and what they used.
fn round(number: u64, text: &str) -> [Draft; 4] {
    let (name, call_id) = ("Bash".to_owned(), format!("call_{number}"));
    let reply = Message::assistant(vec![ContentBlock::text(Fidelity::AgentEmitted, text)]);
    let call = ToolCall { name: name.clone(), call_id: call_id.clone(), ..ToolCall::default() };
    let output = Json::encode(text).unwrap();
    let result = ToolResult { name, call_id, output, ..ToolResult::default() };
    let usage = Usage { output_tokens: Some(number), ..Usage::default() };
    [
        Draft::new(Kind::MessageAssistant, &reply).unwrap(),
        Draft::new(Kind::ToolCall, &call).unwrap(),
        Draft::new(Kind::ToolResult, &result).unwrap(),
        Draft::new(Kind::Usage, &usage).unwrap(),
    ]
}

/// Returns the most megabytes that a view of a run of so many rounds took.
fn peak(layout: &LayoutEntry, rounds: u64) -> f32 {
    let run = RunIdentity { run_id: run_id("r"), parent_run_id: None };
    let (text, prices) = ("word ".repeat(TEXT / 5), Arc::new(PriceTable::built_in()));
    let before = MEMORY.current_usage_as_mb();
    MEMORY.reset_peak_usage();
    let opening =
        Opening { root: &run.run_id, out: Path::new("out"), full: false, prices: &prices };
    let mut view = layout.open(&opening);
    let mut seq = 0;
    let mut seal = |draft: Draft| -> Event {
        seq += 1;
        draft.seal(seq, &run, Timestamp::from_micros(1_767_323_045_000_000 + seq as i64))
    };
    view.add(&seal(run_started("long")), &mut Nowhere);
    for number in 0..rounds {
        round(number, &text).into_iter().for_each(|draft| view.add(&seal(draft), &mut Nowhere));
    }
    view.finish(&mut Nowhere);
    MEMORY.peak_usage_as_mb() - before
}

#[test]
fn a_layout_but_html_takes_no_more_memory_for_a_long_run_than_for_a_short_one() {
    for layout in LAYOUTS.iter().filter(|layout| layout.name != "html") {
        let (short, long) = (peak(layout, SHORT), peak(layout, 2 * SHORT));
        let more = (SHORT as usize * 2 * TEXT) as f32 / (1024.0 * 1024.0);
        assert!(
            long - short < more / 10.0,
            "{}: {short} MB, and {long} MB for {more} MB more",
            layout.name
        );
    }
}
