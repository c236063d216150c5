//! What every agent says, in one vocabulary, with nothing lost.
//!
//! An agent prints a stream while it works and leaves a session file when it is done; an API
//! answers over HTTP; a protocol goes both ways over a pipe. Each has its own records, and each
//! breaks in its own way. This crate turns the bytes of any of them into [`quipu_event::Draft`]s.
//! It is pure: bytes in, drafts out. It opens no file, looks at no clock and prints nothing, so a
//! live stream and a file that was read later cannot become different transcripts.
//!
//! # The parts
//!
//! - A [`Provider`] is one agent, API or protocol; its [`Surface`]s are the shapes in which it
//!   speaks. [`PROVIDERS`] lists them all, and [`detect`] tells whose bytes these are.
//! - A [`Normalizer`] takes the bytes of one input, in pieces of any size, and gives drafts, each
//!   with the [`Place`] of the record it was made from; its [`Tally`] says how many of what there
//!   were, and what was wrong with the input.
//! - A reply is one `message.assistant`, however many records it came in. Its thinking, text and
//!   tool calls are blocks in their native order; each call is a `tool.call`, each answer a
//!   `tool.result` with the call's name and input; what it cost is one `usage`.
//! - Of a file that grows, a normaliser that is told to [settle](Normalizer::settle) gives what it
//!   holds back; what comes later is told as far as it is new, tokens as a difference.
//! - [`Companions`] answer for what an agent keeps in files beside its input, if somebody has
//!   them; a body that is asked for stands in the place of the note that names its file.
//! - Facts that are no content (turns, compaction, retries, hooks, denials) are `system` and
//!   `error` events. Records that nobody knows are `unknown` events.
//!
//! # Promises
//!
//! - Every record gives an event and is kept to the byte.
//! - Nothing panics and nothing is lost whatever the bytes.
//! - Bytes that nobody understands are kept even when others are not.
//! - Any split of the byte stream gives the same events.
//! - A stream that ends early yields what it had.
//! - Settling at the same places gives the same events for any cut.
//! - Settling loses and repeats nothing.
//! - A run begins and ends once.
//! - Split messages of one id are one message.
//! - Each call is counted once and stands before its result.
//! - The sum in the end is the sum of the usage events.
//! - The same conversation has the same shape with every provider.
//! - What is known of one provider stays in its folder.
//!
//! # What it refuses to do
//!
//! It does not fetch, tail or find files (a provider's `files.rs` has patterns, nothing more); it
//! does not price tokens; it does not guess: a number that a provider did not give is absent, and
//! a call that was never answered stays without an answer. It does not sort: records keep the
//! order in which they stand, because their times do not.
//!
//! # Threat model
//!
//! The input may be anything: torn, glued, padded with NUL bytes, not UTF-8, nested a hundred
//! thousand deep, one line of 100 MB. Memory is bounded by the largest record and by what is
//! open at one time (a reply, the calls without an answer). Values that nest too deep for a line
//! are kept as text.
//!
//! # Example
//!
//! ```
//! use quipu_event::Kind;
//! use quipu_provider::{KeptBytes, Normalizer, PROVIDERS, detect};
//!
//! let input = br#"{"type":"thread.started","thread_id":"t1"}
//! {"type":"turn.started"}
//! {"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"Done."}}
//! {"type":"turn.completed","usage":{"input_tokens":9,"cached_input_tokens":4,"output_tokens":2}}
//! "#;
//! let whose = detect(input, PROVIDERS).expect("somebody's");
//! assert_eq!((whose.provider.name, whose.surface.name), ("codex", "exec"));
//!
//! let mut normalizer = Normalizer::new(whose.surface, KeptBytes::Full);
//! let mut made = Vec::new();
//! for piece in input.chunks(10) {
//!     normalizer.push(piece, &mut made);
//! }
//! normalizer.finish(&mut made);
//! assert_eq!(made.first().unwrap().draft.kind, Kind::RunStarted);
//! assert_eq!(made.last().unwrap().draft.kind, Kind::RunCompleted);
//! assert_eq!(normalizer.tally().usage["unknown"].input_tokens, Some(5));
//! ```

mod acp;
mod anthropic;
mod calls;
mod claude;
mod codex;
mod companions;
mod conversation;
mod copilot;
mod exchange;
mod framing;
mod gemini;
mod listener;
mod mend;
mod normalizer;
mod openai;
mod opencode;
mod opening;
mod outbox;
mod pauses;
mod record;
mod registry;
mod reply;
mod said;
mod salvage;
mod scan;
mod tally;
mod unescape;
mod value;

pub use companions::Companions;
pub use listener::Listener;
pub use normalizer::Normalizer;
pub use outbox::{KeptBytes, Made};
pub use pauses::{Speech, Telling};
pub use record::Place;
pub use registry::{
    Detection, PROVIDERS, Provider, SessionFiles, Surface, detect, detect_among, find_provider,
};
pub use tally::{Problem, Tally};
