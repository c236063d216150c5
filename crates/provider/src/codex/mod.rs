//! Codex: OpenAI's coding agent.
//!
//! `codex exec --json` and the app-server tell of threads, turns and items, live. An item is begun
//! and completed; a message, a piece of reasoning or a tool call is one item. Totals of tokens run
//! on over the whole thread. Older versions of both sent bare event messages instead, which are
//! read as well.
//!
//! `rollout` is the file that every thread leaves on disk, whoever talked to it. It tells most
//! things twice, as Responses items and as events of the agent's own protocol; each thing is taken
//! from one of the two and the other's bytes stay with it.

mod app_server;
mod exec;
mod files;
mod live;
mod rollout;

use crate::framing::Framing;
use crate::pauses::{Speech, Telling};
use crate::registry::{Provider, Surface};

/// Codex.
pub(crate) static PROVIDER: Provider = Provider {
    name: "codex",
    surfaces: &[exec::SURFACE, app_server::SURFACE, ROLLOUT],
    files: files::FILES,
    telling: Telling {
        speech: Speech::Blocks,
        tool_begins: r#""type":"item.started""#,
        tool_ends: r#""type":"item.completed""#,
    },
};

const ROLLOUT: Surface = Surface {
    name: "rollout",
    about: "what a thread leaves on disk, of all ages",
    framing: Framing::Lines,
    start: || Box::new(rollout::Rollout::new()),
    likeness: rollout::likeness,
};
