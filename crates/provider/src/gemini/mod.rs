//! Gemini CLI: its live streams and the chats it leaves on disk.
//!
//! - `stream` (`--output-format stream-json`): prompts and replies come in pieces, without ids and
//!   without thoughts; a reply goes on until a tool answers. Tokens come once, with the result,
//!   by model. Extras: `system` `turn_completed` for each result, `session_started` when a second
//!   run follows in the same input.
//! - `json` (`--output-format json`): the last reply, the tokens and, if it failed, the error.
//! - `session`: a chat is not a log but a state that is written again and again: a message comes
//!   anew with its tokens and its tool calls, a checkpoint replaces all of them, a rewind takes
//!   some back. Only the state is told in which the input has ended or fallen silent; what was
//!   taken back before is a `system` event of its own (`message_dropped`, `rewound`,
//!   `checkpoint`), tokens included. Of a message that goes on after it was told, only what is
//!   new is told, tokens as a difference; if nothing is, the record is `repeated`.
//!   A message that is written again without its tokens, thoughts or calls keeps them. Calls that
//!   are gathered in one message are told with the replies that made them.
//!   Thoughts stand before the text and the text before the tool calls, as the file has them.

mod files;
mod held;
mod report;
mod retelling;
mod rewriting;
mod session;
mod stream;
mod told;
mod usage;
mod wire;

use crate::framing::Framing;
use crate::pauses::{Speech, Telling};
use crate::registry::{Provider, Surface};

/// Gemini CLI.
pub(crate) static PROVIDER: Provider = Provider {
    name: "gemini",
    surfaces: &[
        Surface {
            name: "stream",
            about: "gemini --output-format stream-json",
            framing: Framing::Lines,
            start: || Box::new(stream::Stream::new()),
            likeness: stream::likeness,
        },
        Surface {
            name: "json",
            about: "gemini --output-format json",
            framing: Framing::LinesOrDocument,
            start: || Box::new(report::Report::new()),
            likeness: report::likeness,
        },
        Surface {
            name: "session",
            about: "chats of Gemini CLI, .json and .jsonl",
            framing: Framing::LinesOrDocument,
            start: || Box::new(session::Session::new()),
            likeness: session::likeness,
        },
    ],
    files: files::FILES,
    telling: Telling {
        speech: Speech::Pieces,
        tool_begins: r#""type":"tool_use""#,
        tool_ends: r#""type":"tool_result""#,
    },
};
