//! OpenCode: `opencode run --format json`.
//!
//! Every record is a whole part of a message. A reply is all parts of one message id; tool calls
//! are shown when they have ended, so that a call that was cut off is not in the stream at all.
//! Tokens and cost come with the end of each step, without the name of the model. The stream has
//! no prompt, no beginning and no end: a run has ended well when its last step says so.

mod files;
mod stream;
mod wire;

use crate::framing::Framing;
use crate::pauses::Telling;
use crate::registry::{Provider, Surface};

/// OpenCode.
pub(crate) static PROVIDER: Provider = Provider {
    name: "opencode",
    surfaces: &[Surface {
        name: "stream",
        about: "opencode run --format json",
        framing: Framing::Lines,
        start: || Box::new(stream::Stream::new()),
        likeness: stream::likeness,
    }],
    files: files::FILES,
    telling: Telling::WHOLE,
};
