//! Agents, asked for real: programs are the fake agent, APIs are servers on loopback.

mod asking;
mod chat;
mod conversation;
mod ending;
mod golden;
mod server;
mod stub;
mod told;
