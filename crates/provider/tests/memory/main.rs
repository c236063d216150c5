//! How much memory a long text takes on its way from a foreign record into a draft.
//!
//! Counted is every byte that is asked of the allocator while the input is read, the drafts that
//! come out of it and their foreign bytes included; what grows counts twice while it is moved. Not
//! counted is the input, which the caller holds. Two copies are the least there can be: the
//! foreign bytes and the payload. There is one test only, because others would be counted too.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

use peak_alloc::PeakAlloc;
use quipu_provider::{KeptBytes, Normalizer, find_provider};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// How long the text of a line is, as it stands in the record.
const LONG: usize = 20_000_000;
/// The same where another line has shown that more makes no difference.
const SHORT: usize = 2_000_000;
/// Input comes in one piece, or in pieces of this size, as from a file.
const PIECE: usize = 256 * 1024;

/// One line with a place for a long text.
struct Line {
    title: &'static str,
    provider: &'static str,
    surface: &'static str,
    len: usize,
    /// The records before it, and the line up to the text.
    before: &'static str,
    after: &'static str,
}

const LINES: &[Line] = &[
    Line {
        title: "a reply",
        provider: "claude",
        surface: "session",
        len: LONG,
        before: r#"{"type":"assistant","uuid":"u","sessionId":"s","timestamp":"2026-06-08T10:14:42.123Z","message":{"id":"m","role":"assistant","model":"x","content":[{"type":"text","text":""#,
        after: "\"}]}}\n",
    },
    Line {
        title: "a thought",
        provider: "claude",
        surface: "session",
        len: SHORT,
        before: r#"{"type":"assistant","uuid":"u","sessionId":"s","timestamp":"2026-06-08T10:14:42.123Z","message":{"id":"m","role":"assistant","model":"x","content":[{"type":"thinking","thinking":""#,
        after: "\",\"signature\":\"s\"}]}}\n",
    },
    Line {
        title: "a prompt",
        provider: "claude",
        surface: "session",
        len: SHORT,
        before: r#"{"type":"user","uuid":"u","sessionId":"s","timestamp":"2026-06-08T10:14:42.123Z","message":{"role":"user","content":""#,
        after: "\"}}\n",
    },
    Line {
        title: "a tool's answer",
        provider: "claude",
        surface: "session",
        len: LONG,
        before: concat!(
            r#"{"type":"assistant","uuid":"u","sessionId":"s","timestamp":"2026-06-08T10:14:42.123Z","message":{"id":"m","role":"assistant","model":"x","content":[{"type":"tool_use","id":"c","name":"Bash","input":{}}]}}"#,
            "\n",
            r#"{"type":"user","uuid":"v","sessionId":"s","timestamp":"2026-06-08T10:14:43.123Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":""#
        ),
        after: "\"}]}}\n",
    },
    Line {
        title: "a tool's answer",
        provider: "codex",
        surface: "rollout",
        len: SHORT,
        before: concat!(
            r#"{"timestamp":"2026-06-08T10:14:42.123Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}}"#,
            "\n",
            r#"{"timestamp":"2026-06-08T10:14:43.123Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":""#
        ),
        after: "\"}}\n",
    },
    Line {
        title: "a tool's answer",
        provider: "gemini",
        surface: "stream",
        len: SHORT,
        before: concat!(
            r#"{"type":"tool_use","timestamp":"2026-06-08T10:14:42.123Z","tool_name":"shell","tool_id":"c","parameters":{}}"#,
            "\n",
            r#"{"type":"tool_result","timestamp":"2026-06-08T10:14:43.123Z","tool_id":"c","status":"success","output":""#
        ),
        after: "\"}\n",
    },
    Line {
        title: "an answer before its call",
        provider: "claude",
        surface: "session",
        len: SHORT,
        before: r#"{"type":"user","uuid":"v","sessionId":"s","timestamp":"2026-06-08T10:14:43.123Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":""#,
        after: "\"}]}}\n",
    },
];

/// Texts: escaped as we do it, and in other ways; and how long they become at most.
const TEXTS: &[(&str, &str, usize)] = &[
    ("our escapes", r"All work and no play.\n", LONG),
    ("other escapes", r"<\/p>\u003cp\u003e É.\n", SHORT),
];

/// Returns the most memory that was used while `input` was read.
fn peak(line: &Line, input: &[u8], piece: usize) -> usize {
    let surface = find_provider(line.provider).unwrap().find_surface(line.surface).unwrap();
    let mut made = Vec::new();
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let mut normalizer = Normalizer::new(surface, KeptBytes::Full);
    for piece in input.chunks(piece) {
        normalizer.push(piece, &mut made);
    }
    normalizer.finish(&mut made);
    let peak = ALLOCATOR.peak_usage() - before;
    let longest = made.iter().map(|made| made.draft.payload.as_str().len()).max().unwrap();
    assert!(longest > input.len() / 3, "{} has lost its text", line.title);
    peak
}

#[test]
fn a_long_text_is_held_twice_at_most() {
    for line in LINES {
        for (sort, text, longest) in TEXTS {
            let len = line.len.min(*longest);
            let text = text.repeat(len / text.len());
            let input = [line.before, &text, line.after].concat().into_bytes();
            drop(text);
            // A line that comes in pieces is put together in a buffer that doubles; what is never
            // touched of it is counted too.
            for (piece, most) in [(usize::MAX, 2.1), (PIECE, 2.75)] {
                let copies = peak(line, &input, piece) as f64 / len as f64;
                let title = format!("{} of {} in {sort}", line.title, line.provider);
                assert!(copies <= most, "{title}: {copies:.2} copies in pieces of {piece}");
            }
        }
    }
}
