//! A run as it happens, for whoever watches: a terminal, a pipe, or a program that reads JSON.
//!
//! It takes display events and prints. What the run came to in the end is the command's to say.

mod board;
mod easel;
mod frame;
mod keyboard;
mod plain;
mod said;
mod terminal;
mod told;

pub(crate) use frame::Frame;
pub(crate) use keyboard::Keyboard;
pub(crate) use plain::Plain;
pub(crate) use terminal::{Terminal, print_above};
