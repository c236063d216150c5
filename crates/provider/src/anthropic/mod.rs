//! Anthropic's Messages API.
//!
//! - `messages`: a stream of events about numbered content blocks of one message, or the message
//!   as one object. Tools that run on the server stand in the message with their results.
//!
//! Request bodies logged beside the responses give the other half of the conversation: each
//! repeats all that went before, and only what is new is told.

mod blocks;
mod messages;
mod request;
mod wire;

use crate::framing::Framing;
use crate::pauses::Telling;
use crate::registry::{Provider, Surface};

/// Anthropic's interface.
pub(crate) static PROVIDER: Provider = Provider {
    name: "anthropic",
    surfaces: &[Surface {
        name: "messages",
        about: "Messages API: events, whole messages and requests",
        framing: Framing::Http,
        start: || Box::new(messages::Messages::new()),
        likeness: wire::likeness,
    }],
    files: &[],
    telling: Telling::WHOLE,
};
