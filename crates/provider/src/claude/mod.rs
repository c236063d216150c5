//! Claude Code: its live stream, and the session files it leaves.
//!
//! Both surfaces wrap messages of the Anthropic API, one record per block; they meet in `talk`.
//! What comes of them, besides what all providers have in common:
//!
//! - A message is one `message.assistant` per message id. Records that were seen before (a session
//!   that was resumed or forked) become `system`/`repeated`.
//! - A session file gives one `usage` per message, with the last numbers given. The stream gives
//!   one per model and result, without what earlier results of the session covered; messages are
//!   counted one by one only if no result of their session accounts for them.
//! - Errors that the agent reports in the place of a reply are a message and an `error`.
//! - Texts in the user's role that no user said become `system`: `context`, `local_command`,
//!   `interrupted`, `compaction_summary`.
//! - Every `result` is a `turn_completed`; the last one decides how the run ended.
//! - An output that the agent keeps in a file beside the session stands in its `tool.result` in
//!   full, if the file can be had; an `output_joined` behind it names the file.
//! - Deltas are folded into the reply they belong to and show only if the reply never came whole.

mod account;
mod counts;
mod events;
mod files;
mod likeness;
mod metadata;
mod notes;
mod partial;
mod persisted;
mod prompt;
mod replies;
mod seen;
mod session;
mod sessions;
mod stream;
mod subagents;
mod talk;
mod tools;
mod wire;

use crate::framing::Framing;
use crate::pauses::{Speech, Telling};
use crate::registry::{Provider, Surface};

/// Claude Code.
pub(crate) static PROVIDER: Provider = Provider {
    name: "claude",
    surfaces: &[
        Surface {
            name: "stream",
            about: "what `claude -p --output-format stream-json` (or json) prints",
            framing: Framing::LinesOrDocument,
            start: || Box::new(stream::Stream::new()),
            likeness: likeness::stream,
        },
        Surface {
            name: "session",
            about: "the session files below ~/.claude/projects, of all ages",
            framing: Framing::Lines,
            start: || Box::new(session::Session::new()),
            likeness: likeness::session,
        },
    ],
    files: files::FILES,
    telling: Telling {
        speech: Speech::Blocks,
        tool_begins: r#""type":"tool_use""#,
        tool_ends: r#""type":"tool_result""#,
    },
};
