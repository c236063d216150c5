//! How much memory a long text takes on its way from a foreign record into a draft.
//!
//! Counted is every byte that is asked of the allocator while the input is read, the drafts that
//! come out of it and their foreign bytes included; what grows counts twice while it is moved. Not
//! counted is the input, which the caller holds. Two copies are the least there can be: the
//! foreign bytes and the payload. There is one test only, because others would be counted too.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

mod lines;

use lines::{LINES, Line, SHORT};
use peak_alloc::PeakAlloc;
use quipu_provider::{KeptBytes, Normalizer, find_provider};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Input comes in one piece, or in pieces of this size, as from a file.
const PIECE: usize = 256 * 1024;

/// So much of a text one delta says.
const DELTA: usize = 1_000;
/// So many deltas there are: the memory of what doubles is then used to five sixths.
const DELTAS: usize = 1_700;

/// Streams that say a text in deltas: where it stands, and a record before, each delta's, and behind.
const STREAMS: &[(&str, &str, [&str; 4])] = &[
    (
        "anthropic",
        "messages",
        [
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""#,
            r#""}}"#,
            r#"{"type":"message_stop"}"#,
        ],
    ),
    (
        "openai",
        "chat",
        [
            r#"{"id":"c","object":"chat.completion.chunk","model":"x","choices":[]}"#,
            r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":""#,
            r#""}}]}"#,
            r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        ],
    ),
    (
        "gemini",
        "stream",
        [
            r#"{"type":"init","session_id":"s","model":"x"}"#,
            r#"{"type":"message","role":"assistant","delta":true,"content":""#,
            r#""}"#,
            r#"{"type":"result","status":"success","stats":{}}"#,
        ],
    ),
    (
        "acp",
        "updates",
        [
            r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#,
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""#,
            r#""}}}}"#,
            r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#,
        ],
    ),
    (
        "codex",
        "app-server",
        [
            r#"{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u"}}}"#,
            r#"{"method":"item/agentMessage/delta","params":{"threadId":"t","turnId":"u","itemId":"m","delta":""#,
            r#""}}"#,
            r#"{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"completed"}}}"#,
        ],
    ),
];

/// A text as it stands in a record: how it is escaped, how long it becomes at most, and in which
/// pieces it comes, with how many copies there may be then.
struct Text {
    sort: &'static str,
    sentence: &'static str,
    longest: usize,
    pieces: &'static [(usize, f64)],
}

// A line that comes in pieces is put together in a buffer that doubles; what is never touched of
// it is counted too.
const TEXTS: [Text; 2] = [
    Text {
        sort: "our escapes",
        sentence: r"All work and no play.\n",
        longest: usize::MAX,
        pieces: &[(usize::MAX, 2.1), (PIECE, 2.75)],
    },
    Text {
        sort: "other escapes",
        sentence: r"<\/p>\u003cp\u003e É.\n",
        longest: SHORT,
        pieces: &[(usize::MAX, 2.1)],
    },
];

/// Returns the most memory that was used while `input` was read.
fn peak(provider: &str, surface: &str, kept: KeptBytes, input: &[u8], piece: usize) -> usize {
    let surface = find_provider(provider).unwrap().find_surface(surface).unwrap();
    let mut made = Vec::new();
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let mut normalizer = Normalizer::new(surface, kept);
    for piece in input.chunks(piece) {
        normalizer.push(piece, &mut made);
    }
    normalizer.finish(&mut made);
    let peak = ALLOCATOR.peak_usage() - before;
    let longest = made.iter().map(|made| made.draft.payload.as_str().len()).max().unwrap();
    assert!(longest > input.len() / 3, "{provider} has lost a text");
    peak
}

/// Checks texts that stand whole in a record.
fn a_long_text_is_held_twice_at_most() {
    for Line { provider, surface, title, len, more, before, after } in LINES {
        for Text { sort, sentence, longest, pieces } in TEXTS {
            let len = longest.min(*len);
            let text = sentence.repeat(len / sentence.len());
            let input = [before, &*text, after].concat().into_bytes();
            drop(text);
            for (piece, most) in pieces {
                let most_used = peak(provider, surface, KeptBytes::Full, &input, *piece);
                let copies = most_used as f64 / len as f64;
                let title = format!("{title} of {provider} {surface} in {sort}");
                assert!(copies <= most + more, "{title}: {copies:.2} copies in pieces of {piece}");
            }
        }
    }
}

/// Checks texts that are folded from deltas.
///
/// What grows is in two places while it moves to a larger one, so that a text is held one and a
/// half times for a moment; to copy it in the end would make it two. Foreign bytes that are kept
/// grow beside it, and are held twice for a moment too.
fn a_long_text_in_deltas_is_held_once_beside_its_bytes() {
    for (provider, surface, [first, before, after, last]) in STREAMS {
        let sentence = TEXTS[0].sentence;
        let text = sentence.repeat(DELTA / sentence.len());
        let deltas = [before, &*text, after, "\n"].concat().repeat(DELTAS);
        let input = [first, "\n", &deltas, last, "\n"].concat().into_bytes();
        drop(deltas);
        for (kept, most) in [(KeptBytes::Unknown, 1.75), (KeptBytes::Full, 3.3)] {
            let most_used = peak(provider, surface, kept, &input, usize::MAX);
            let copies = most_used as f64 / input.len() as f64;
            let title = format!("deltas of {provider} {surface}");
            assert!(copies <= most, "{title}: {copies:.2} copies where {kept:?} bytes are kept");
        }
    }
}

#[test]
fn long_texts_are_not_held_more_often_than_they_must_be() {
    a_long_text_is_held_twice_at_most();
    a_long_text_in_deltas_is_held_once_beside_its_bytes();
}
