//! Our tools for others: an MCP server over any pair of streams, and a private socket to reach it by.
//!
//! An agent starts `quipu mcp-serve`, which carries bytes between its standard streams and the socket
//! ([`forward`]); the server itself sits in the process that has the router ([`Gateway`]).

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{Answer, ToolSpec};

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

/// Serves tools over a pair of streams until the client is gone. Calls may be under way at the same time.
///
/// # Errors
///
/// Fails when the streams do, or when the client does not speak MCP.
pub async fn serve<R, W>(tools: Arc<dyn ToolSet>, reader: R, writer: W) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let _ = (tools, reader, writer);
    Err(io::Error::other("not yet"))
}

/// A private socket that tools are served at. Dropping it takes the socket away and ends its connections.
pub struct Gateway {
    socket: PathBuf,
}

impl Gateway {
    /// Opens a socket in a directory of its own that only this user can enter.
    ///
    /// # Errors
    ///
    /// Fails when the directory or the socket cannot be made.
    pub async fn open(tools: Arc<dyn ToolSet>) -> io::Result<Gateway> {
        let _ = tools;
        Err(io::Error::other("not yet"))
    }

    /// Returns where it is.
    pub fn socket(&self) -> &Path {
        &self.socket
    }
}

/// Carries bytes between a pair of streams and a socket, until either end closes.
///
/// # Errors
///
/// Fails when there is nobody at the socket, or a stream fails.
pub async fn forward<R, W>(socket: &Path, reader: R, writer: W) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let _ = (socket, reader, writer);
    Err(io::Error::other("not yet"))
}
