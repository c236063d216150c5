//! stub
mod block;
mod draft;
mod encode;
mod escape;
mod event;
mod id;
mod json;
mod kind;
mod line;
pub mod payload;
mod raw;
mod rewrite;
pub mod schema;
mod time;
mod vocabulary;

pub use block::{BlockContent, ContentBlock, Fidelity, Purpose};
pub use draft::{Draft, RunIdentity};
pub use encode::{EncodeError, MAX_DEPTH};
pub use event::Event;
pub use id::{RunId, RunIdError, Segment, StepPath};
pub use json::{Json, JsonError};
pub use kind::Kind;
pub use line::{LineError, Peek, decode_line, encode_line, peek};
pub use payload::Payload;
pub use raw::{Origin, Raw};
pub use rewrite::StringPlace;
pub use time::{Timestamp, TimestampError};
