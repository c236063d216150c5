//! An MCP server that plays a script: `quipu-fake-plugin SCRIPT`.

use std::process::ExitCode;

fn main() -> ExitCode {
    quipu_testkit::fake_plugin::main()
}
