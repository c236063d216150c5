//! GitHub Copilot CLI.
//!
//! One event format in two places: `{type, data, id, timestamp, parentId, agentId?, ephemeral?}`.
//! On standard output (`stream`) stand all events, four fifths of them pieces of what is being
//! said, and at the end one `result`; the session id is known only there. In `events.jsonl`
//! (`session`) stand those that are not ephemeral, with the session's start, resumes, prompts,
//! permissions and accounts. Both are read by the same [`normalize::Events`]; they differ in what
//! ends them and in where their usage is.
//!
//! Versions before 0.0.342 left a document instead (`history`): what was shown, without thoughts
//! and tokens. A reply is a text with the calls behind it.

mod ending;
mod entries;
mod files;
mod history;
mod input;
mod ledger;
mod normalize;
mod notes;
mod segments;
mod speech;
mod tools;
mod wire;

use crate::framing::Framing;
use crate::pauses::{Speech, Telling};
use crate::registry::{Provider, Surface};

/// GitHub Copilot CLI.
pub(crate) static PROVIDER: Provider = Provider {
    name: "copilot",
    surfaces: &[
        // Events that both surfaces have are taken for the file's: a stream has others as well.
        Surface {
            name: "session",
            about: "session-state/<id>/events.jsonl",
            framing: Framing::Lines,
            start: normalize::start_session,
            likeness: wire::session_likeness,
        },
        Surface {
            name: "stream",
            about: "copilot -p --output-format json",
            framing: Framing::Lines,
            start: normalize::start_stream,
            likeness: wire::stream_likeness,
        },
        Surface {
            name: "history",
            about: "history-session-state/session_<id>_<ms>.json",
            framing: Framing::LinesOrDocument,
            start: || Box::new(history::History::new()),
            likeness: history::likeness,
        },
    ],
    files: files::FILES,
    telling: Telling {
        speech: Speech::Pieces,
        tool_begins: r#""type":"tool.execution_start""#,
        tool_ends: r#""type":"tool.execution_complete""#,
    },
};
