//! What a tool is. None is defined here.

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

use crate::{Answer, CallContext};

/// Something that can be called.
pub trait Tool: Send + Sync {
    /// Returns what others are told of it.
    fn spec(&self) -> &ToolSpec;

    /// Tells whether it watches the context's signal to stop and soon ends by itself, so that what it
    /// has by then is not lost. Any other tool is dropped at once.
    fn ends_by_itself(&self) -> bool {
        false
    }

    /// Does what it does. It may be dropped at any point: then it has been given up.
    ///
    /// Nobody but a router calls this; the router records the call and its result, so a tool only
    /// records what happens in between (files it touches, troubles of the plugin that has it).
    fn call<'a>(&'a self, input: Value, context: &'a CallContext) -> Calling<'a>;
}

/// A call under way.
pub type Calling<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// A tool, as others are told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name, as it is recorded.
    pub name: String,
    /// What it does, in the words a model reads.
    pub description: String,
    /// The JSON Schema of what it takes.
    pub input_schema: Value,
    /// Whose it is: `builtin` or `mcp:<server>`.
    pub provider: String,
    /// Whether it changes nothing.
    pub is_read_only: bool,
}
