//! Tools: one door for every call.
//!
//! A [`Tool`] is a name, a description, a schema and something to call. A [`Router`] is the door: whoever
//! calls a tool in this process, a model behind an API, an agent's program through its MCP connection
//! or a step of a workflow, calls it through [`Router::call`], and nowhere else. Tools are built in
//! ([`builtin`], confined to the directory of the step), or they are those of [`plugin`]s, which are MCP
//! servers; and [`mcp`] gives tools to others.
//!
//! ```text
//!  model over HTTP ───────────────┐                       ┌─▶ builtin: Read Write Edit Bash Glob Grep List
//!  agent ─ mcp-serve ─ socket ─ mcp ─▶ Router::call ──────┼─▶ plugin: an MCP server, by stdio or HTTP
//!  step of a workflow ────────────┘      │      ▲         └─▶ operation (the workflow's)
//!                             tool.call  ▼      │  tool.result
//!                                       witness ─▶ transcript
//! ```
//!
//! # Promises
//!
//! - Every call leaves exactly one call and one result.
//! - A name that nobody has is a failed call.
//! - A tool that panics fails its call only.
//! - A call that takes too long or is canceled has a result.
//! - A call that is dropped has a result.
//! - Two tools of one name are refused.
//! - A path that leads outside is refused and recorded.
//! - A directory that becomes a link in the middle leads nowhere.
//! - No path whatsoever reads or writes outside.
//! - Reads and writes leave the size and the hash of what passed.
//! - A command is not given secrets.
//! - A shell that cannot be confined says so with every call.
//! - A plugin that crashes fails its call only and is started again.
//! - A plugin that hangs fails its call only and is started again.
//! - A plugin that answers garbage fails its call only and is started again.
//! - A plugin that is closed leaves no process behind.
//! - Whatever a client sends the server survives.
//! - What is no message is answered with an error and the connection goes on.
//! - A call that its client cancels is dropped.
//!
//! # What it refuses to do
//!
//! It knows nothing of workflows and of agents. It prints nothing. It writes no transcript: what happens
//! is told to a [`Witness`].

pub mod builtin;
pub mod mcp;
pub mod plugin;

mod answer;
mod context;
mod cut;
mod recording;
mod router;
mod sandbox;
mod spec;

pub use answer::{Answer, Shown};
pub use context::{CallContext, Witness};
pub use cut::{LONGEST_RECORDED, LONGEST_SHOWN};
pub use router::{Call, NameTaken, Router};
pub use spec::{Calling, Tool, ToolSpec};
