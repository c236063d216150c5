//! Plugins in `quipu.toml`: known to `validate` and `run --dry-run`, which start none.

use std::fs;

use crate::session::Session;

const WORKFLOW: &str = "\
name: noted
plugins:
  files: {command: [touch, started]}
states:
  initial: post
  post: {type: operation, operation: tracker.post, inputs: {text: hi}, on_success: keep}
  keep: {type: files.write, config: {path: x}, on_success: ask}
  ask:
    type: agent
    provider: stub
    prompt: Go on.
    mcp_proxy: {enable: true, plugin_tools: [{plugin: lost, expose: [tool]}]}
";

fn session(toml: &str) -> Session {
    let session = Session::new();
    fs::write(session.dir().join("noted.yaml"), WORKFLOW).unwrap();
    fs::write(session.dir().join("quipu.toml"), toml).unwrap();
    session
}

#[test]
fn a_plugin_of_the_settings_is_known_and_none_is_started_to_check() {
    let session = session("[plugins.tracker]\ncommand = \"touch 'started'\"\ntimeout = '5s'\n");
    let told = session.ok(&["validate", "noted.yaml"]);
    assert_eq!(told.matches("warning").count(), 1, "{told}");
    assert!(told.contains("operation `tool` is unknown: so is plugin `lost`"), "{told}");
    let plan = session.ok(&["run", "noted.yaml", "--dry-run"]);
    for expected in [
        "plugin files  of the workflow",
        "plugin lost  configured nowhere",
        "plugin tracker  of quipu.toml",
    ] {
        assert!(plan.contains(expected), "{plan}");
    }
    let told = session.quipu(&["run", "noted.yaml", "--dry-run", "--json"]).json();
    assert_eq!(told["plugins"][2]["name"], "tracker");
    assert!(!session.dir().join("started").exists());
    let config = session.ok(&["config"]);
    assert!(config.lines().any(|line| line.starts_with("plugins") && line.contains("tracker")));
}

#[test]
fn a_plugin_that_cannot_be_meant_is_refused_with_its_name() {
    let cases = [
        ("[plugins.x]\n", "plugins.x: expected `command` or `url`"),
        ("[plugins.x]\ncommand = 'a'\nurl = 'http://b'\n", "not both"),
        ("[plugins.x]\nurl = 'b'\n", "must begin with http:// or https://"),
        ("[plugins.x]\nurl = 'http://b'\nargs = ['c']\n", "belong to a `command`"),
        ("[plugins.x]\ncommand = \"a 'b\"\n", "a quote that is not closed"),
        ("[plugins.x]\ncommand = []\n", "names no program"),
        ("[plugins.x]\ncommand = 'a'\ntimeout = 'soon'\n", "expected seconds"),
        ("[plugins.x]\ncomand = 'a'\n", "unknown field `comand`"),
        ("[plugins.http]\ncommand = 'a'\n", "no plugin can be called `http`"),
    ];
    for (toml, expected) in cases {
        let outcome = session(toml).quipu(&["validate", "noted.yaml"]);
        assert!(outcome.stderr.contains(expected), "{toml}: {outcome:?}");
    }
}
