//! A workflow with a plugin that others have written, where it is installed.
//!
//! `QUIPU_MCP_SERVERS_DIR` names the directory (`node agents/plugins.mjs`). Without it nothing is tested
//! here, which is said loudly.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::session::Session;

const SERVER: &str = "mcp-server-everything";

#[test]
fn a_server_of_others_gives_operations_and_steps_that_leave_one_pair_each() {
    let Some(dir) = std::env::var_os("QUIPU_MCP_SERVERS_DIR").map(PathBuf::from) else {
        let why = "QUIPU_MCP_SERVERS_DIR does not say where it is installed";
        // Past the capture of the test's output: nobody reads that of a test that passes.
        let _ = writeln!(std::io::stderr(), "!! {SERVER} is not tested: {why}");
        return;
    };
    let program = dir.join("node_modules/.bin").join(SERVER);
    let session = Session::new();
    let workflow = format!(
        "name: theirs
plugins:
  theirs: {{command: ['{}', stdio], start_timeout: 120s, timeout: 120s}}
states:
  initial: all
  all: {{type: for_each, items: [one, two], body: [say], on_complete: sum}}
  say: {{type: operation, operation: theirs.echo, inputs: {{message: '{{{{.loop.Item}}}}'}}}}
  sum: {{type: theirs.get-sum, config: {{a: 2, b: 3}}, on_success: done}}
  done: {{type: terminal}}
",
        program.display()
    );
    fs::write(session.dir().join("theirs.yaml"), workflow).unwrap();
    session.ok(&["run", "theirs.yaml", "--id", "r"]);
    let lines = session.lines("r");
    let of = |kind: &str| -> Vec<Value> {
        let of_kind = lines.iter().filter(|line| line["type"] == kind);
        of_kind
            .map(|line| json!([line["path"], line["payload"]["name"], line["iteration"]]))
            .collect()
    };
    let expected = [
        json!(["all[0].say", "theirs_echo", 0]),
        json!(["all[1].say", "theirs_echo", 1]),
        json!(["sum", "theirs_get-sum", 0]),
    ];
    assert_eq!(of("tool.call"), expected);
    assert_eq!(of("tool.result"), expected);
    let outputs: Vec<&Value> = lines
        .iter()
        .filter(|line| line["type"] == "tool.result")
        .map(|line| &line["payload"]["output"])
        .collect();
    assert_eq!(outputs[..2], [&json!("Echo: one"), &json!("Echo: two")]);
    assert!(outputs[2].to_string().contains('5'), "{}", outputs[2]);
    session.ok(&["verify", "r"]);
}
