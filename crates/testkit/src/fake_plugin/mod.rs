//! An MCP server over its standard streams that plays a script, good or hostile.
//!
//! `quipu-fake-plugin SCRIPT` reads a [`Script`] as JSON from its first argument. It speaks MCP by hand,
//! so that it can also speak it wrongly. Every line it reads is appended to the file that the script
//! names.

mod play;
mod script;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::{env, io};

pub use script::{Script, Step};

/// Returns the path of the program, built if it is not there or older than its sources.
///
/// # Panics
///
/// When it cannot be built: no test can go on without it.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| crate::program::built("quipu-fake-plugin"))
}

/// Plays the script of this process.
pub fn main() -> ExitCode {
    let script = env::args().nth(1).unwrap_or_else(|| "{}".to_owned());
    match serde_json::from_str(&script).map_err(io::Error::from).and_then(play::play) {
        Ok(code) => code,
        Err(cause) => {
            use io::Write;
            // Nobody is left to be told when standard error is gone.
            let _ = writeln!(io::stderr(), "quipu-fake-plugin: {cause}");
            ExitCode::from(64)
        }
    }
}
