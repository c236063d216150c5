//! OpenAI's HTTP interfaces, and everybody who speaks them.
//!
//! - `chat`: Chat Completions. A stream of chunks, each with a piece of one or more choices, or
//!   one object with all of it. Dialects differ in where reasoning and usage stand.
//! - `responses`: the Responses API. A stream of events about numbered output items, which the
//!   last event repeats whole, or that object alone. Tools that run on the server are items too.
//!
//! Request bodies logged beside the responses give the other half of the conversation: each
//! repeats all that went before, and only what is new is told.

mod chat;
mod chat_request;
mod choice;
mod items;
mod partial;
mod responses;
mod responses_request;
mod usage;
mod wire;

use crate::framing::Framing;
use crate::pauses::Telling;
use crate::registry::{Provider, Surface};

/// OpenAI's interfaces.
pub(crate) static PROVIDER: Provider = Provider {
    name: "openai",
    surfaces: &[
        Surface {
            name: "chat",
            about: "Chat Completions: chunks, whole completions and requests",
            framing: Framing::Http,
            start: || Box::new(chat::Chat::new()),
            likeness: wire::chat_likeness,
        },
        Surface {
            name: "responses",
            about: "Responses API: events, whole responses and requests",
            framing: Framing::Http,
            start: || Box::new(responses::Responses::new()),
            likeness: wire::responses_likeness,
        },
    ],
    files: &[],
    telling: Telling::WHOLE,
};
