//! Plays a script: what happens when, whatever the language.

use std::io::{self, Write};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use super::call::Call;
use super::client;
use super::dialect::Dialect;
use super::script::{Script, Step};

/// Plays `script` and returns how the program ends.
pub(super) fn play(script: &Script, call: &Call, mut dialect: Box<dyn Dialect>) -> ExitCode {
    let steps = script.turn(&call.prompt).map_or(&script.steps, |turn| &turn.steps);
    print(dialect.begin().as_slice());
    for step in steps {
        match step {
            Step::Text(text) => print(&dialect.text(text)),
            Step::Thinking(text) => print(&dialect.thinking(text)),
            Step::Tool(tool) => print(&dialect.tools(std::slice::from_ref(tool))),
            Step::Tools(tools) => print(&dialect.tools(tools)),
            Step::Served(served) => {
                if let Err(cause) = client::play(served, call, dialect.as_mut(), print) {
                    // Nobody but a person who looks for the reason reads it.
                    let _ = writeln!(io::stderr(), "quipu-fake-agent: {cause}");
                    return ExitCode::from(70);
                }
            }
            Step::Subagent(subagent) => print(&dialect.subagent(subagent)),
            Step::Usage(spent) => dialect.spend(*spent),
            Step::DelayMs(ms) => thread::sleep(Duration::from_millis(*ms)),
            Step::Nul(count) => write(&[&vec![0; *count][..], b"\n"].concat()),
            Step::Garbage(text) | Step::Raw(text) => write(format!("{text}\n").as_bytes()),
            Step::Stderr(text) => {
                // A fake agent does not care whether anybody listens.
                let _ = writeln!(io::stderr(), "{text}");
            }
            Step::Mark(name) => {
                // Who waits for a mark that cannot be made will notice.
                let _ = std::fs::write(name, "");
            }
            Step::Child(seconds) => start_sleeper(*seconds),
            Step::Fail(message) => {
                print(&dialect.fail(message));
                return ExitCode::from(1);
            }
            Step::Crash(code) => return ExitCode::from(*code),
            Step::Hang => loop {
                thread::sleep(Duration::from_secs(3600));
            },
        }
    }
    print(&dialect.end());
    ExitCode::SUCCESS
}

fn print(lines: &[String]) {
    for line in lines {
        write(format!("{line}\n").as_bytes());
    }
}

fn write(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    // A fake agent does not care whether anybody listens.
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

/// Starts a program that holds the pipes of this one.
fn start_sleeper(seconds: u64) {
    let sleeper = Command::new("sleep").arg(seconds.to_string()).stdin(Stdio::null()).spawn();
    if let Ok(child) = sleeper {
        // It is left behind on purpose.
        drop(child);
    }
}
