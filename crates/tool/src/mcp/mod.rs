//! Our tools for others: an MCP server over any pair of streams, and a private socket to reach it by.
//!
//! An agent starts `quipu mcp-serve`, which carries bytes between its standard streams and the socket
//! ([`forward`]); the server itself sits in the process that has the router ([`Gateway`]).

mod carry;
mod gateway;
mod lines;
mod model_id;
mod server;
mod wire;

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

use crate::{Answer, ToolSpec};

pub use carry::forward;
pub use gateway::Gateway;
pub use lines::LONGEST_MESSAGE;
pub use server::serve;

/// Tools that somebody else may call.
pub trait ToolSet: Send + Sync {
    /// Returns what the server calls itself and what it tells its clients to do with it.
    fn introduction(&self) -> Introduction;

    /// Returns the tools there are.
    fn specs(&self) -> Vec<ToolSpec>;

    /// Calls one of them.
    fn call(&self, asked: Asked) -> Answering<'_>;
}

/// An answer in the making.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// Who serves, in its own words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Introduction {
    /// The name of the server.
    pub name: String,
    /// What a client should know before it calls anything.
    pub instructions: Option<String>,
}

/// A call, as a client of ours makes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// Which tool.
    pub name: String,
    /// What it is given.
    pub input: Value,
    /// The id that the client's model gave to the call, if the client says so.
    pub tool_use_id: Option<String>,
}
