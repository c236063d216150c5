//! What a transcript line says: the event model and its line codec.
//!
//! A run is a file of lines, and each line is one [`Event`]: what happened, where in the run, when,
//! and what is known of it. Producers make a [`Draft`]; only a recorder turns it into an event, by
//! giving it a number and a time. This crate is the promise that everybody else builds on: it
//! knows no file, no clock, no thread and no network, and it compiles anywhere.
//!
//! # The model
//!
//! - An **event** has an envelope (number, run, type, path, iteration, time) and a payload.
//! - Its **type** is one of a closed list, [`Kind`]; words from the future are kept as they are.
//! - Its **payload** is JSON text, kept to the byte, and decoded by type when somebody asks:
//!   [`Event::decode_payload`] gives a [`Payload`], one struct per type.
//! - A message's **blocks** say who vouches for them: [`Fidelity`] is `router` for what passed our
//!   own hands and `agent_emitted` for what an agent says.
//! - A **path** such as `each_file[3].check` names where in a workflow an event belongs.
//!
//! A full line, as [`encode_line`] writes it (broken here for reading; it is one line on disk):
//!
//! ```text
//! {"seq":7,"run_id":"5a0c3b1e-8f5e-4c65-9d0b-0a3f6a3b7f10","type":"message.assistant",
//!  "path":"each_file[3].review","iteration":3,"timestamp":"2026-06-08T10:14:42.123456Z",
//!  "payload":{"role":"assistant","blocks":[
//!    {"type":"thinking","fidelity":"agent_emitted","thinking":"The cache is read too early."},
//!    {"type":"text","fidelity":"agent_emitted","text":"Moving the call below the loop mends it."},
//!    {"type":"tool_use","fidelity":"agent_emitted","tool_name":"Edit","tool_id":"toolu_01",
//!     "tool_input":{"path":"src/cache.rs"}}],"model":"claude-opus-4-1","stop_reason":"tool_use"}}
//! ```
//!
//! # Promises
//!
//! - Any event survives encode and decode.
//! - Unknown types, blocks and fields survive a read and a re-encode unchanged.
//! - A line has exactly one line feed, at its end.
//! - Decoding never panics.
//! - Peek agrees with decoding.
//! - The golden lines are what this version writes.
//! - Old journals never die.
//! - Lines of AWF are read.
//! - A payload nested too deep is refused with a clear error.
//! - The schema accepts every golden line.
//!
//! # What it refuses to do
//!
//! It does not number events, date them, or write them anywhere. It does not judge a foreign
//! line beyond its envelope: a payload of the wrong shape is still a line, and says so only when
//! it is decoded. It never guesses at a missing number: absent stays absent.
//!
//! # Threat model
//!
//! A *producer* may hand in anything: control characters, halves of surrogate pairs, megabytes,
//! deep nesting. All of it becomes a well-formed line or a clear error: strings are escaped on the
//! way out, JSON text is checked on the way in ([`Json::parse`]), and nesting is bounded at
//! [`MAX_DEPTH`], below the limit of common readers. A *file* may hold anything: decoding takes
//! memory in proportion to the line it is given, recurses no deeper than `serde_json` allows, and
//! answers with an error rather than a panic. A run id cannot leave its directory: [`RunId`]
//! accepts no separator. This crate hides nothing: payloads hold prompts and arguments verbatim.
//!
//! # Versions
//!
//! This is format version 1; `run.started` says so in its payload (`format`). Within a version
//! only optional keys are added. The three questions of any change: an old reader on a new line
//! keeps what it does not know; a new reader on an old line finds absent keys absent; an old
//! writer rewriting a new line does not happen, because nobody rewrites lines.
//!
//! # Example
//!
//! ```
//! use quipu_event::{ContentBlock, Draft, Fidelity, Kind, Payload, RunId, RunIdentity, StepPath, Timestamp};
//! use quipu_event::{decode_line, encode_line, payload::Message};
//!
//! // A producer knows what happened and where.
//! let reply = Message::assistant(vec![ContentBlock::text(Fidelity::AgentEmitted, "Done.")]);
//! let draft = Draft::new(Kind::MessageAssistant, &reply)?.at(StepPath::from("review"), 0);
//!
//! // A recorder gives it a number and a time.
//! let run = RunIdentity { run_id: RunId::parse("example")?, parent_run_id: None };
//! let event = draft.seal(1, &run, Timestamp::parse("2026-06-08T10:14:42.123456Z")?);
//!
//! let mut line = String::new();
//! encode_line(&event, &mut line);
//! assert!(line.starts_with(r#"{"seq":1,"run_id":"example","type":"message.assistant","path":"review","#));
//!
//! let read = decode_line(line.as_bytes())?;
//! assert_eq!(read, event);
//! assert_eq!(read.decode_payload()?, Payload::Message(reply));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

mod block;
mod canonical;
mod contract;
mod cursor;
mod decode;
mod digits;
mod draft;
mod encode;
mod escape;
mod event;
mod form;
mod id;
mod json;
mod kind;
mod line;
mod loose;
mod numbers;
pub mod payload;
mod raw;
mod rewrite;
pub mod schema;
mod surrogates;
mod time;
mod unescape;
mod vocabulary;
mod walk;

pub use block::{BlockContent, ContentBlock, Fidelity, Purpose};
pub use canonical::{Peek, peek};
pub use contract::{Breach, keys_left_out};
pub use draft::{Draft, RunIdentity};
pub use encode::{EncodeError, MAX_DEPTH};
pub use event::Event;
pub use form::{Letterhead, LineForm};
pub use id::{RunId, RunIdError, Segment, StepPath};
pub use json::{Json, JsonError};
pub use kind::Kind;
pub use line::{LineDecoder, LineError, decode_line, encode_line};
pub use loose::write_loose_draft;
pub use payload::Payload;
pub use raw::{Origin, Raw};
pub use rewrite::{Place, Scalar, rewrite_scalars};
pub use surrogates::mend_surrogates;
pub use time::{Timestamp, TimestampError};
