//! An agent that plays a script, in the wire format of a real one.
//!
//! `quipu-fake-agent <provider> …` takes the arguments of the provider's own program (`claude`,
//! `codex`, `gemini`, `copilot`, `opencode`) and prints what that program would print. What it says is
//! a [`Script`] in the file that `QUIPU_FAKE_SCRIPT` names, or `--script FILE` before the provider. What
//! it was called with is appended to the file that `QUIPU_FAKE_LOG` names, a JSON object a line.
//!
//! The tools of an MCP server that it is given, in the way of the real program, it really calls.
//!
//! It thinks nothing, and it takes any argument: whether the real program would is not its concern.

mod call;
mod client;
mod dialect;
mod play;
mod script;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::{env, fs};

pub use call::Call;
pub use script::{Script, Served, Spent, Step, Subagent, Told, Tool, Turn};

/// The providers whose language it speaks.
pub const PROVIDERS: &[&str] = &["claude", "codex", "gemini", "copilot", "opencode"];

/// Returns the path of the program, built if it is not there or older than its sources.
///
/// # Panics
///
/// When it cannot be built: no test can go on without it.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| crate::program::built("quipu-fake-agent"))
}

/// Plays the script of this process.
pub fn main() -> ExitCode {
    let mut args: Vec<String> = env::args().skip(1).collect();
    let mut file = env::var_os("QUIPU_FAKE_SCRIPT").map(PathBuf::from);
    if args.first().is_some_and(|arg| arg == "--script") && args.len() > 1 {
        file = Some(PathBuf::from(args.remove(1)));
        args.remove(0);
    }
    if args.is_empty() {
        return refuse("whose language? (claude, codex, gemini, copilot, opencode)");
    }
    let provider = args.remove(0);
    let script = match file {
        None => Script::hello(),
        Some(file) => match fs::read_to_string(&file) {
            Err(cause) => return refuse(&format!("{}: {cause}", file.display())),
            Ok(text) => match serde_json::from_str(&text) {
                Ok(script) => script,
                Err(cause) => return refuse(&format!("{}: {cause}", file.display())),
            },
        },
    };
    let call = Call::read(&provider, args);
    if let Some(log) = env::var_os("QUIPU_FAKE_LOG")
        && let Err(cause) = call.log(&PathBuf::from(log))
    {
        return refuse(&format!("the log cannot be written: {cause}"));
    }
    match dialect::of(&provider, &script, &call) {
        Some(dialect) => play::play(&script, &call, dialect),
        None => refuse(&format!("nobody called `{provider}` is known")),
    }
}

fn refuse(why: &str) -> ExitCode {
    use std::io::Write;
    // Nobody is left to be told when standard error is gone.
    let _ = writeln!(std::io::stderr(), "quipu-fake-agent: {why}");
    ExitCode::from(64)
}
