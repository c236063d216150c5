//! Other people's programs read the files: Python by names, JavaScript over HTTP.
//!
//! The readers in `tests/readers` are ours. Where the layout's own documentation lies beside the
//! project, the readers that it prints are run as they stand there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::transcript::events;
use super::cases::case;
use super::files_of;
use super::server::Server;

/// A run on a disk.
struct Shelved {
    dir: TempDir,
    run: String,
    /// Flow, step, agent, engine and status of each step, and its lines in short.
    steps: Vec<(Value, Value)>,
}

impl Shelved {
    /// Puts the run that `events` are of below `runs`.
    fn new(events: &[quipu_event::Event], runs: &str) -> Self {
        let dir = TempDir::new().unwrap();
        let (tree, _) = files_of(events);
        for (path, bytes) in &tree.0 {
            let path = dir.path().join(runs).join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let mut steps = Vec::new();
        for (path, bytes) in tree.0.iter().filter(|(path, _)| path.contains("/receipts/")) {
            let receipt: Value = serde_json::from_slice(bytes).unwrap();
            let flow = path.split("/receipts/").next().unwrap();
            let transcript = format!("{flow}/{}", receipt["transcript_path"].as_str().unwrap());
            let lines = tree.text(&transcript).unwrap().lines();
            let lines = lines.map(|line| in_short(&serde_json::from_str(line).unwrap()));
            let engine = receipt["engine"].as_str().unwrap().strip_suffix("-step").unwrap();
            let (step, agent) = (&receipt["step_id"], &receipt["agent_key"]);
            let names = json!([receipt["flow_key"], step, agent, engine]);
            let lines = lines.collect::<Vec<_>>();
            steps.push((names, json!([step, agent, receipt["status"], lines])));
        }
        Shelved { dir, run: events[0].run_id.to_string(), steps }
    }

    fn expected(&self) -> Value {
        self.steps.iter().map(|(_, found)| found.clone()).collect()
    }

    fn names(&self) -> String {
        self.steps.iter().map(|(names, _)| names.clone()).collect::<Value>().to_string()
    }
}

fn in_short(line: &Value) -> Value {
    if line["role"] != "tool" {
        return json!([line["role"], line["content"]]);
    }
    let answer = line.get("content").or_else(|| line.get("tool_output"));
    json!(["tool", line["tool_name"], answer])
}

/// Runs a program, which must be there and succeed, and returns what it printed.
#[track_caller]
fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| {
        panic!("{command:?} is needed to check that the files can be read: {error}")
    });
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn reader(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers").join(name)
}

#[test]
fn python_and_javascript_read_the_layout_of_flow_studio_by_its_documented_names() {
    for name in ["workflow", "stub", "session", "foreign"] {
        let run = Shelved::new(&case(name), "runs");
        let folder = run.dir.path().join("runs").join(&run.run);
        let python = printed(Command::new("python3").arg(reader("flow_studio.py")).arg(folder));
        assert_eq!(serde_json::from_str::<Value>(&python).unwrap(), run.expected(), "{name}");
        let server = Server::start(run.dir.path().join("runs"));
        let node = printed(Command::new("node").arg(reader("flow_studio.mjs")).args([
            &server.address(),
            &run.run,
            &run.names(),
        ]));
        assert_eq!(serde_json::from_str::<Value>(&node).unwrap(), run.expected(), "{name}");
    }
}

/// Returns the documentation of the layout, if it lies beside the project.
fn documentation() -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/seeds");
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let texts = entries.filter_map(|entry| fs::read_to_string(entry.path()).ok());
    let found = texts.into_iter().find(|text| text.contains("def read_transcript("));
    if found.is_none() {
        eprintln!("not checked: the readers of the documentation are not at {}", folder.display());
    }
    found
}

/// Returns the blocks of code in `language`.
fn code(text: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    let blocks = text.split(&opening).skip(1).filter_map(|rest| rest.split("\n```").next());
    blocks.map(str::to_owned).collect()
}

/// A run as the documentation's examples call it.
fn documented_run() -> Vec<quipu_event::Event> {
    let run = fs::read_to_string(reader("../cases/flow_studio/stub/run.jsonl")).unwrap();
    // The agent of the examples is one of several in the step.
    let run = run.replace(
        r#""path":"impl-loop","payload":{"role""#,
        r#""path":"impl-loop","source":"subagent:code-implementer","payload":{"role""#,
    );
    events(&run)
}

#[test]
fn the_python_of_the_documentation_reads_the_files() {
    let Some(text) = documentation() else { return };
    let blocks = code(&text, "python");
    assert_eq!(blocks.len(), 2);
    let run = Shelved::new(&documented_run(), "swarm/runs");
    let folder = format!("swarm/runs/{}", run.run);
    let driver = r#"
import sys
found = []
for flow, step, agent, engine in json.loads(sys.argv[2]):
    receipt = read_receipt(Path(sys.argv[1]), flow, step, agent)
    lines = read_transcript(Path(sys.argv[1]), flow, step, agent, engine)
    lines = [["tool", l["tool_name"], l.get("content", l.get("tool_output"))]
             if l["role"] == "tool" else [l["role"], l["content"]] for l in lines]
    found.append([receipt["step_id"], receipt["agent_key"], receipt["status"], lines])
print("FOUND " + json.dumps(found))
"#;
    let script = run.dir.path().join("readers.py");
    fs::write(&script, format!("{}\n{}\n{driver}", blocks[0], blocks[1])).unwrap();
    let mut python = Command::new("python3");
    python.current_dir(run.dir.path()).arg(&script).args([&folder, &run.names()]);
    let said = printed(&mut python);
    // What the examples themselves print.
    assert!(said.contains("[assistant] [STUB] Completed step impl-loop."), "{said}");
    assert!(said.contains("Tokens: 0\nStatus: succeeded\n"), "{said}");
    let found = said.lines().find_map(|line| line.strip_prefix("FOUND ")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(found).unwrap(), run.expected());
}

#[test]
fn the_javascript_of_the_documentation_reads_the_files() {
    let Some(text) = documentation() else { return };
    let blocks = code(&text, "javascript");
    assert_eq!(blocks.len(), 1);
    for events in [documented_run(), case("workflow"), case("session")] {
        let run = Shelved::new(&events, "runs");
        let server = Server::start(run.dir.path().join("runs"));
        let driver = r#"
const [base, run, steps] = process.argv.slice(2);
const ask = globalThis.fetch;
globalThis.fetch = (path) => ask(base + path);
const found = [];
for (const [flow, step, agent, engine] of JSON.parse(steps)) {
  const receipt = await loadReceipt(run, flow, step, agent);
  const lines = await loadTranscript(run, flow, step, agent, engine);
  found.push([receipt.step_id, receipt.agent_key, receipt.status, lines.map((line) =>
    line.role === 'tool' ? ['tool', line.tool_name, line.content ?? line.tool_output ?? null]
      : [line.role, line.content])]);
}
console.log(JSON.stringify(found));
"#;
        let script = run.dir.path().join("readers.mjs");
        fs::write(&script, format!("{}\n{driver}", blocks[0])).unwrap();
        let mut node = Command::new("node");
        node.arg(&script).args([&server.address(), &run.run, &run.names()]);
        let found = printed(&mut node);
        assert_eq!(serde_json::from_str::<Value>(&found).unwrap(), run.expected());
    }
}
