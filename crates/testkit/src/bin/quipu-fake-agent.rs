//! An agent that plays a script: `quipu-fake-agent <provider> [arguments of the real program]`.

use std::process::ExitCode;

fn main() -> ExitCode {
    quipu_testkit::fake_agent::main()
}
