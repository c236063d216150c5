//! Tools through the door, one module for each area.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

/// The harness: a root, a neighbour that nobody may touch, and a door.
mod stage;
/// Somebody who remembers what is recorded.
mod witness;

/// What each builtin tool does and says.
mod builtin;
/// Commands, their output and their end.
mod builtin_bash;
/// Tools for others.
mod mcp;
/// Plugins that are programs and do well.
mod plugin;
/// Plugins that are programs and do badly.
mod plugin_hostile;
/// Plugins that are servers on loopback.
mod plugin_http;
/// Everything that tries to get out.
mod sandbox;
/// Commands that try to get out.
mod sandbox_shell;
/// Plugins that others have written, where they are installed.
mod third_party;
