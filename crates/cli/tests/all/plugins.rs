//! Plugins in `quipu.toml`: known to `validate` and `run --dry-run`, which start none, and gone when a run
//! ends. Beside them `gh`, which operations on GitHub go through when it is on the path.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::Duration;

use quipu_testkit::fake_plugin;
use serde_json::{Value, json};

use crate::run::{signal, with_workflow};
use crate::session::{Session, finish};

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
    on_success: done
  done: {type: terminal}
";

const TWO_CALLS: &str = "\
name: two
states:
  initial: first
  first: {type: operation, operation: desk.echo, inputs: {n: 1}, on_success: second}
  second: {type: desk.slow, config: {n: 2}, on_success: done}
  done: {type: terminal}
";

const ISSUE: &str = "\
name: issue
states:
  initial: read
  read: {type: operation, operation: github.get_issue, inputs: {repo: octo/hello, number: 5}, on_success: show}
  show: {type: step, command: 'echo \"{{.states.read.Response.title}}\" > title', on_success: done}
  done: {type: terminal}
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
    assert_eq!(told.matches(": warning:").count(), 1, "{told}");
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

/// Has `quipu.toml` name a plugin that notes its process in `plugin`, and whose tool `slow` does `steps`.
fn have_plugin(session: &Session, steps: &Value) {
    let script = json!({ "tools": { "echo": ["echo"], "slow": steps } }).to_string();
    let note = "echo $$ > plugin; exec \"$0\" \"$1\"";
    let program = fake_plugin::program().to_str().unwrap();
    let command = json!(["sh", "-c", note, program, script]);
    // A JSON list of texts is a TOML list too.
    let toml = format!("[plugins.desk]\ncommand = {command}\n");
    fs::write(session.dir().join("quipu.toml"), toml).unwrap();
}

/// Returns the status of each call of the run, in the order of the results.
fn calls(session: &Session, run: &str) -> Vec<String> {
    let lines = session.lines(run);
    let results = lines.iter().filter(|line| line["type"] == "tool.result");
    results.map(|line| line["payload"]["status"].as_str().unwrap().to_owned()).collect()
}

fn is_alive(session: &Session, file: &str) -> bool {
    let pid = fs::read_to_string(session.dir().join(file)).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// Tells whether a process ends: one that was killed may take a moment to be gone.
fn ends(session: &Session, file: &str) -> bool {
    let mut looks = 0..6_000;
    while is_alive(session, file) && looks.next().is_some() {
        thread::sleep(Duration::from_millis(10));
    }
    !looks.is_empty()
}

#[test]
fn an_interrupted_run_leaves_nothing_of_its_plugin_and_goes_on_with_a_new_one() {
    for name in ["-INT", "-TERM"] {
        let session = with_workflow(TWO_CALLS);
        have_plugin(&session, &json!([{ "child": "helper" }, "hang"]));
        let child = session.spawn(&["run", "w.yaml", "--id", "r"]);
        let helper = session.dir().join("helper");
        while fs::read_to_string(&helper).unwrap_or_default().is_empty() {
            thread::sleep(Duration::from_millis(5));
        }
        assert!(is_alive(&session, "plugin") && is_alive(&session, "helper"));
        signal(&session, name, child.id());
        let outcome = finish(child, b"");
        assert_ne!(outcome.code, Some(0), "{outcome:?}");
        assert!(ends(&session, "plugin") && ends(&session, "helper"), "{outcome:?}");
        assert_eq!(calls(&session, "r"), ["completed", "failed"]);
        have_plugin(&session, &json!(["echo"]));
        session.ok(&["resume", "r"]);
        assert_eq!(calls(&session, "r"), ["completed", "failed", "completed"]);
        assert!(ends(&session, "plugin"));
        session.ok(&["verify", "r"]);
    }
}

#[test]
fn operations_on_github_go_through_gh_when_it_is_on_the_path() {
    let answers = [
        ("printf '{\"number\":5,\"title\":\"It leaks\",\"state\":\"open\"}'", None),
        (
            "echo 'To get started with GitHub CLI, please run:  gh auth login' >&2; exit 4",
            Some("github.get_issue: gh is not logged in: run `gh auth login`, or set GH_TOKEN"),
        ),
    ];
    for (answer, error) in answers {
        let session = with_workflow(ISSUE);
        let gh = session.dir().join("bin/gh");
        fs::create_dir(gh.parent().unwrap()).unwrap();
        fs::write(&gh, format!("#!/bin/sh\nprintf '%s ' \"$@\" > argv\n{answer}\n")).unwrap();
        fs::set_permissions(&gh, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", gh.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let session = session.with_variable("PATH", &path);
        let outcome = session.quipu(&["run", "w.yaml", "--id", "r"]);
        let argv = fs::read_to_string(session.dir().join("argv")).unwrap();
        assert!(argv.starts_with("api repos/octo/hello/issues/5 --method GET "), "{argv}");
        match error {
            None => {
                assert_eq!(outcome.code, Some(0), "{outcome:?}");
                let title = fs::read_to_string(session.dir().join("title")).unwrap();
                assert_eq!(
                    (title.as_str(), calls(&session, "r")),
                    ("It leaks\n", vec!["completed".to_owned()])
                );
            }
            Some(error) => {
                assert_eq!(outcome.code, Some(3), "{outcome:?}");
                assert!(format!("{outcome:?}").contains(error), "{outcome:?}");
                assert_eq!(calls(&session, "r"), ["failed"]);
            }
        }
    }
}
