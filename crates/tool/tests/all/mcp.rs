//! Our tools through the eyes of real MCP clients, and of things that are none.

mod any_bytes;
mod clients;
mod gateway;
mod lines;
mod toolset;
