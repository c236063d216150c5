//! Agents, asked for real: programs are the fake agent, APIs are servers on loopback.

mod asking;
mod chat;
mod conversation;
mod ending;
mod golden;
pub(crate) mod server;
mod stub;
mod told;
