//! Agent Client Protocol: JSON-RPC 2.0 between an editor and an agent.
//!
//! Read is what either side or both wrote, bare or wrapped in a log's own `{dir, ms, msg}`, and
//! the logs of `session/update` that some agents keep. Messages come as chunks without borders:
//! a reply is what is thought, said and asked for from one tool result or prompt to the next.
//! Tool calls are upserts by id. What a `session/load` replays has been told before and is only
//! noted. Drafts of version 2 of the protocol are understood as far as they differ.

mod calling;
mod ending;
mod normalize;
mod notes;
mod speech;
mod updates;
mod usage;
mod wire;

use crate::framing::Framing;
use crate::pauses::Telling;
use crate::registry::{Provider, Surface};

/// Agent Client Protocol.
pub(crate) static PROVIDER: Provider = Provider {
    name: "acp",
    surfaces: &[Surface {
        name: "updates",
        about: "JSON-RPC with session/update, either or both directions",
        framing: Framing::Lines,
        start: normalize::start,
        likeness: wire::likeness,
    }],
    files: &[],
    telling: Telling::WHOLE,
};
