//! What the libraries say about themselves, on stderr.

use std::io::{self, Write};

use tracing_subscriber::EnvFilter;

use crate::live::print_above;

/// Starts telling warnings and errors, and more with each `-v`. `QUIPU_LOG` overrules.
pub(crate) fn start(verbose: u8) {
    let level = match verbose {
        // A recorder that stops says so to its caller, and the command tells it with a hint; what
        // MCP peers do wrong is answered to them.
        0 => "warn,quipu_journal::sink=off,rmcp=off",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_env("QUIPU_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| Beside)
        .with_target(false)
        .init();
}

/// Stderr, unless that would be written across a screen that is being painted.
struct Beside;

impl Write for Beside {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(text) = print_above(&String::from_utf8_lossy(bytes)) {
            anstream::stderr().write_all(text.as_bytes())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        anstream::stderr().flush()
    }
}
