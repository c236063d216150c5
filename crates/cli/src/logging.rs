//! What the libraries say about themselves, on stderr.

use tracing_subscriber::EnvFilter;

/// Starts telling warnings and errors, and more with each `-v`. `QUIPU_LOG` overrules.
pub(crate) fn start(verbose: u8) {
    let level = match verbose {
        // A recorder that stops says so to its caller, and the command tells it with a hint.
        0 => "warn,quipu_journal::sink=off",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_env("QUIPU_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(anstream::stderr)
        .with_target(false)
        .init();
}
