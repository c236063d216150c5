//! Tools of a run, from the workflow file to its transcript: what is built in, a plugin's, operations.
//!
//! The plugin is a real MCP server over standard streams, small enough to be a script.

mod plugins;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use quipu_event::Event;
use quipu_event::payload::Status;
use quipu_journal::{Layout, Reader};
use quipu_workflow::agent::{AgentSettings, Nobody};
use quipu_workflow::definition::{NoLibrary, Places, check};
use quipu_workflow::driver::{BuiltIn, RunReport, RunRequest, World, run};
use serde_json::Value;
use tempfile::TempDir;

use super::agents::server::{Answer, Server, calling, saying};

/// Speaks as much MCP as it takes.
const SERVER: &str = include_str!("tools/desk.sh");

/// A project with the plugin in it.
struct Project {
    folder: TempDir,
    env: BTreeMap<String, String>,
}

struct Ran {
    report: RunReport,
    events: Vec<Event>,
}

impl Project {
    fn new() -> Project {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("server.sh"), SERVER).unwrap();
        fs::write(folder.path().join("note.txt"), "written before\n").unwrap();
        let mut env: BTreeMap<String, String> = std::env::vars().collect();
        env.insert("DESK_LOG".to_owned(), folder.path().join("log").display().to_string());
        Project { folder, env }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns how often the plugin was started, and how often it ended by itself.
    fn log(&self) -> String {
        fs::read_to_string(self.path().join("log")).unwrap_or_default()
    }

    /// Runs the steps of a workflow that has the plugin.
    async fn run(&self, steps: &str) -> Ran {
        let text = format!(
            "name: tools\nplugins:\n  desk: {{command: sh server.sh, env: {{LOG: '${{DESK_LOG}}'}}}}\n\
             states:\n{steps}"
        );
        self.go(self.request(&text)).await
    }

    fn request(&self, text: &str) -> RunRequest {
        let places = Places::of_project(self.path());
        let checked = check(&self.path().join("tools.yaml"), text, &places);
        let workflow = checked.workflow.unwrap_or_else(|| panic!("{}", checked.problems));
        assert_eq!(checked.problems.to_string(), "", "every plugin is known");
        let agents = Arc::new(AgentSettings::default());
        let hands = Arc::new(BuiltIn { agents, person: Arc::new(Nobody) });
        RunRequest::new(
            Arc::new(workflow),
            "tools".parse().unwrap(),
            Arc::new(World {
                layout: Some(self.layout()),
                working_dir: self.path().to_owned(),
                env: self.env.clone(),
                ..World::of_process(Arc::new(places), hands)
            }),
        )
    }

    async fn go(&self, request: RunRequest) -> Ran {
        let run_id = request.run.run_id.clone();
        let report = tokio::time::timeout(Duration::from_secs(120), run(request));
        let report = report.await.expect("it ends").unwrap();
        Ran { report, events: self.events(run_id.as_str()) }
    }

    fn events(&self, run: &str) -> Vec<Event> {
        let events = Reader::open(self.layout().transcript(&run.parse().unwrap())).unwrap();
        events.map(Result::unwrap).collect()
    }

    fn layout(&self) -> Layout {
        Layout::new(self.path().join("storage"))
    }
}

/// A call with its result: name, provider, path, iteration, status.
type Pair = (String, String, String, u64, String);

impl Ran {
    fn of(&self, kind: &str) -> Vec<(&Event, Value)> {
        let found = self.events.iter().filter(|event| event.kind.as_str() == kind);
        found.map(|event| (event, event.payload.decode().unwrap())).collect()
    }

    /// Pairs calls with results, and checks that each has exactly one, at the same place.
    fn pairs(&self) -> Vec<Pair> {
        let (calls, results) = (self.of("tool.call"), self.of("tool.result"));
        assert_eq!(calls.len(), results.len());
        let ids: BTreeSet<String> = calls.iter().map(|(_, call)| text(&call["call_id"])).collect();
        assert_eq!(ids.len(), calls.len(), "an id stands for one call");
        let mut pairs: Vec<Pair> = calls
            .iter()
            .map(|(event, call)| {
                let mut own = results.iter().filter(|(_, end)| end["call_id"] == call["call_id"]);
                let (at, end) = own.next().expect("a result");
                assert!(own.next().is_none());
                assert_eq!((&at.path, at.iteration), (&event.path, event.iteration));
                assert_eq!(
                    (&call["fidelity"], &end["fidelity"]),
                    (&"router".into(), &"router".into())
                );
                assert!(end["duration_ms"].is_u64());
                let path = event.path.to_string();
                let (name, provider) = (text(&call["name"]), text(&call["provider"]));
                (name, provider, path, event.iteration, text(&end["status"]))
            })
            .collect();
        pairs.sort();
        pairs
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

fn pair(name: &str, provider: &str, path: &str, iteration: u64, status: &str) -> Pair {
    let own = str::to_owned;
    (own(name), own(provider), own(path), iteration, own(status))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_builtin_tool_and_a_plugins_tool_leave_one_pair_each_wherever_they_are_called() {
    let ask = Answer::Events(calling(&[
        ("call_0", "Read", r#"{"path":"note.txt"}"#),
        ("call_1", "desk_echo", r#"{"n":1}"#),
    ]));
    let say = Answer::Events(saying(&["Done."]));
    let server = Server::start(vec![ask.clone(), say.clone(), ask, say]).await;
    let project = Project::new();
    let ran = project
        .run(&format!(
            "  initial: all\n  \
               all: {{type: parallel, parallel: [each, again, own], strategy: all_succeed, on_success: done}}\n  \
               done: {{type: terminal}}\n  \
               each: {{type: for_each, items: [a, b], body: [ask]}}\n  \
               ask:\n    type: agent\n    provider: openai_compatible\n    prompt: Go on.\n    \
                 options: {{base_url: '{}', model: small-1, api_key: sk-x}}\n    \
                 mcp_proxy: {{enable: true, plugin_tools: [{{plugin: desk, expose: [echo]}}]}}\n  \
               again: {{type: for_each, items: [a, b], body: [echo]}}\n  \
               echo: {{type: operation, operation: desk.echo, inputs: {{item: '{{{{.loop.Item}}}}'}}}}\n  \
               own: {{type: desk.echo, config: {{count: 3, list: [1, x]}}}}\n",
            server.url
        ))
        .await;
    assert_eq!(ran.report.status, Status::Succeeded, "{:?}", ran.report.error);
    let plugin =
        |path: &str, iteration| pair("desk_echo", "mcp:desk", path, iteration, "completed");
    let expected = vec![
        pair("Read", "builtin", "all.each[0].ask", 0, "completed"),
        pair("Read", "builtin", "all.each[1].ask", 1, "completed"),
        plugin("all.again[0].echo", 0),
        plugin("all.again[1].echo", 1),
        plugin("all.each[0].ask", 0),
        plugin("all.each[1].ask", 1),
        plugin("all.own", 0),
    ];
    assert_eq!(ran.pairs(), expected);
    let told = &server.requests()[1].body["messages"];
    assert!(text(&told[2]["content"]).contains("written before"), "{told}");
    assert_eq!(project.log().matches("up").count(), 1, "all steps share one plugin");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugins_step_gets_typed_inputs_and_is_what_the_plugin_answers() {
    let project = Project::new();
    let ran = project
        .run(
            "  initial: own\n  \
               own: {type: desk.echo, config: {count: 3, truth: true, list: [1, x], text: '{{.workflow.Name}}'}, on_success: show}\n  \
               show: {type: step, command: 'echo \"{{.states.own.Response.method}}\"', on_success: bad}\n  \
               bad: {type: operation, operation: desk.fail, inputs: {}, continue_on_error: true, on_success: none}\n  \
               none: {type: operation, operation: desk.nothing, on_failure: done}\n  \
               done: {type: terminal}\n",
        )
        .await;
    assert_eq!(ran.report.status, Status::Succeeded, "{:?}", ran.report.error);
    let asked: Value = serde_json::from_str(&ran.report.step_outputs["own"]).unwrap();
    let given = &asked["params"]["arguments"];
    let expected =
        serde_json::json!({ "count": 3, "truth": true, "list": [1, "x"], "text": "tools" });
    assert_eq!(*given, expected);
    assert_eq!(ran.report.step_outputs["show"], "tools/call");
    let ends = ran.of("step.completed");
    let error = |name: &str| {
        let end = ends.iter().find(|(_, end)| end["name"] == name);
        text(&end.unwrap_or_else(|| panic!("{name}")).1["error"])
    };
    assert_eq!(error("bad"), "desk.fail: it is broken");
    assert!(error("none").contains("has no tool `nothing`"), "{}", error("none"));
    let statuses: Vec<String> = ran.pairs().into_iter().map(|pair| pair.4).collect();
    assert_eq!(statuses, ["completed", "failed", "failed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_variable_of_a_plugin_that_is_not_set_fails_the_step_that_needs_it() {
    let mut project = Project::new();
    project.env.remove("DESK_LOG");
    let ran = project.run("  initial: own\n  own: {type: desk.echo, on_success: done}\n  done: {type: terminal}\n").await;
    assert_eq!(ran.report.status, Status::Failed);
    let error = ran.report.error.clone().unwrap();
    assert!(error.contains("`LOG` needs the variable `DESK_LOG`, and it is not set"), "{error}");
    let expected = [pair("desk_echo", "mcp:desk", "own", 0, "failed")];
    assert_eq!(ran.pairs(), expected);
}

#[test]
fn a_plugin_that_nobody_has_is_a_warning_and_one_in_the_settings_is_known() {
    let text = "name: x\nstates:\n  initial: a\n  \
                a: {type: operation, operation: slakc.post, on_success: b}\n  \
                b: {type: slack.post, on_success: c}\n  \
                c: {type: agent, provider: claude, prompt: x, mcp_proxy: {enable: true, plugin_tools: [{plugin: slack, expose: [post]}]}, on_success: d}\n  \
                d: {type: terminal}\n";
    let file = Path::new("x.yaml");
    let alone = check(file, text, &NoLibrary).problems.to_string();
    assert_eq!(alone.matches("is unknown: so is plugin").count(), 3, "{alone}");
    let places = Places::of_project("/nowhere").with_plugins(["slack".to_owned()]);
    let known = check(file, text, &places).problems.to_string();
    assert!(known.contains("x.yaml:4:35: warning: operation `slakc.post` is unknown"), "{known}");
    assert!(known.contains("did you mean `slack`?"), "{known}");
    assert_eq!(known.matches("warning").count(), 1, "{known}");
}

#[test]
fn the_shape_of_plugins_is_checked_with_its_place() {
    let cases: [(&str, &str); 12] = [
        ("desk: {command: [x], evn: {}}", "3:24: error: `evn` is no key of plugin `desk`"),
        ("desk: {comand: x, args: [y]}", "3:3: error: plugin `desk` has no `command`"),
        ("desk: {command: x, url: 'http://y'}", "3:3: error: plugin `desk` has both"),
        ("desk: {url: 'ftp://y'}", "3:15: error: `url` is the text \"ftp://y\""),
        ("desk: {url: 'http://y', args: [z]}", "3:27: error: `args` is no key of plugin `desk`"),
        ("desk: {command: \"a 'b\"}", "3:19: error: `command` has a quote that is not closed"),
        ("desk: {command: []}", "3:19: error: `command` names no program"),
        ("desk: {command: x, timeout: soon}", "3:31: error: `timeout` is"),
        ("Desk: {command: x}", "3:3: error: no plugin can be called \"Desk\""),
        ("http: {command: x}", "3:3: error: no plugin can be called `http`"),
        ("desk: {command: x, env: {A: '{{.env.B}}'}}", "3:31: error: `A`: templates are not"),
        ("desk: {version: '>=1.0', comand: x}", "3:3: warning: plugin `desk` says neither"),
    ];
    let mut missing = Vec::new();
    for (plugin, expected) in cases {
        let text = format!(
            "name: x\nplugins:\n  {plugin}\nstates:\n  initial: a\n  a: {{type: step, command: 'true'}}\n"
        );
        let told = check(Path::new("x.yaml"), &text, &NoLibrary).problems.to_string();
        if !told.contains(&format!("x.yaml:{expected}")) {
            missing.push(format!("{plugin}\n{told}"));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
