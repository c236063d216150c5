//! One binary for all integration tests of the crate: a file per area.

mod mcp;
