//! Real workflow files, run with stub agents: each ends as its steps say, and its tree is whole.
//!
//! The files are not part of the repository: they are read from `QUIPU_FIXTURES`, or from a folder
//! beside the workspace. Where neither is there, the test says that it ran nothing.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use serde_json::Value;

use crate::run::{signal, wait_for};
use crate::session::{Session, finish};

/// What inputs are given, by name.
const INPUTS: &[(&str, &str)] = &[
    ("email", "ada@example.org"),
    ("file_path", "given.txt"),
    ("environment", "dev"),
    ("limit", "3"),
    ("port", "8080"),
    ("max_retries", "2"),
];

/// Files that run to an end other than success: the exit code, and the reason.
const ENDS: &[(&str, i32, &str)] = &[
    ("api-failing", 3, "its step fails and it ends at a failure"),
    ("expr-break-when", 3, "`loop` is no key of a command, so there is no item"),
    ("expr-loop-namespace", 3, "`loop` is no key of a command, so there is no item"),
    ("hook-lowercase", 3, "a step uses its own result before there is one"),
    ("hooks-failure", 3, "a hook before the first step fails"),
    ("hints-command-not-found", 3, "its command is not there"),
    ("loop-dynamic-invalid", 3, "an input is used that nobody declared"),
];

/// Files that need what is not here, and what that is.
const NOT_OFFLINE: &[(&str, &str)] = &[
    ("templates/", "a workflow that is made of them"),
    ("http-", "a server"),
    ("speckit/workflows", "the scripts of its pack"),
    ("script-file-shebang", "the scripts beside it"),
];

/// Files whose point is that somebody stops them.
const STOPPED: [&str; 3] = ["signal-", "long-running", "api-slow"];

#[test]
fn real_workflows_that_need_nothing_run_with_stub_agents_and_leave_a_whole_tree() {
    let Some(home) = fixtures() else { return };
    let mut files = Vec::new();
    collect(&home, &mut files);
    files.sort();
    let (queue, told) = (Mutex::new(files), Mutex::new((0, Vec::new())));
    let work = || {
        while let Some(file) = { queue.lock().unwrap().pop() } {
            let told_of = try_one(&home, &file);
            let mut told = told.lock().unwrap();
            match told_of {
                Ok(true) => told.0 += 1,
                Ok(false) => {}
                Err(complaint) => told.1.push(format!("{}: {complaint}", file.display())),
            }
        }
    };
    thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(work))));
    let (ran, complaints) = told.into_inner().unwrap();
    tell(&format!("ran {ran} real workflows"));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(ran > 40, "only {ran} ran");
}

/// Runs a file, if it can be run here. Tells whether it was.
fn try_one(home: &Path, file: &Path) -> Result<bool, String> {
    let name = file.strip_prefix(home).unwrap().to_string_lossy().into_owned();
    if NOT_OFFLINE.iter().any(|(part, _)| name.contains(part)) {
        return Ok(false);
    }
    let session =
        Session::new().with_variable("HOOK_LOG_FILE", "hooks.log").with_variable("API_KEY", "k");
    let folder = file.parent().unwrap();
    for beside in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if beside.path().is_file() {
            fs::copy(beside.path(), session.dir().join(beside.file_name())).unwrap();
        }
    }
    fs::write(session.dir().join("given.txt"), "something\n").unwrap();
    let file_name = file.file_name().unwrap().to_str().unwrap();
    if session.quipu(&["validate", file_name]).code != Some(0) {
        // What is wrong with it is judged elsewhere; it must not run either.
        let refused = session.quipu(&["run", file_name, "--id", "r"]);
        return match refused.code {
            Some(2) if !session.transcript("r").exists() => Ok(false),
            _ => Err(format!("a wrong file should not run: {refused:?}")),
        };
    }
    let inputs = inputs_of(&fs::read_to_string(file).unwrap());
    let mut arguments = vec!["run", file_name, "--stub", "--id", "r"];
    arguments.extend(inputs.iter().flat_map(|input| ["-i", input.as_str()]));
    let stopped = STOPPED.iter().any(|part| name.contains(part));
    let mut child = session.spawn(&arguments);
    if stopped {
        wait_for(&mut child, "→ ");
        signal(&session, "-INT", child.id());
    }
    let outcome = finish(child, b"");
    let ends = ENDS.iter().find(|(part, ..)| name.contains(part));
    let code = ends.map_or(if stopped { 3 } else { 0 }, |(_, code, _)| *code);
    if outcome.code != Some(code) {
        return Err(format!("should exit with {code}: {outcome:?}"));
    }
    check_tree(&session, if stopped { "canceled" } else { status_of(code) })
}

fn status_of(code: i32) -> &'static str {
    if code == 0 { "succeeded" } else { "failed" }
}

/// Gives every input that must be given: a value by its name, or its own name.
fn inputs_of(text: &str) -> Vec<String> {
    let mut inputs = Vec::new();
    let part = text.split("\ninputs:").nth(1).unwrap_or_default();
    let part = part.split("\nstates:").next().unwrap_or_default();
    let mut name = None;
    for line in part.lines() {
        let trimmed = line.trim_start_matches([' ', '-']).trim_end();
        if let Some(given) = trimmed.strip_prefix("name:") {
            name = Some(given.trim().to_owned());
        } else if line.starts_with("  ") && !line.starts_with("   ") && trimmed.ends_with(':') {
            name = Some(trimmed.trim_end_matches(':').to_owned());
        } else if trimmed == "required: true"
            && let Some(name) = name.take()
        {
            let known = INPUTS.iter().find(|(known, _)| *known == name);
            let value = known.map_or(name.as_str(), |(_, value)| value);
            if !text.contains("default: [") {
                inputs.push(format!("{name}={value}"));
            }
        }
    }
    inputs
}

/// The tree tells what the lines tell: every step that was started, ended, and below its run.
fn check_tree(session: &Session, status: &str) -> Result<bool, String> {
    session.ok(&["verify"]);
    let tree = session.quipu(&["tree", "r", "--json"]).json();
    let lines = session.lines("r");
    let began = |line: &&Value| {
        ["step.started", "step.call_workflow.started"].contains(&line["type"].as_str().unwrap())
    };
    let mut started: Vec<String> = lines.iter().filter(began).map(place_of).collect();
    let mut told = Vec::new();
    gather(&tree["steps"], &mut told);
    started.sort();
    told.sort();
    if tree["status"] != status {
        return Err(format!("should be {status}: {tree}"));
    }
    if started != told {
        return Err(format!("the tree should hold {started:?}, and holds {told:?}"));
    }
    Ok(true)
}

fn place_of(line: &Value) -> String {
    format!("{}#{}", line["path"].as_str().unwrap(), line["payload"]["attempt"])
}

fn gather(nodes: &Value, told: &mut Vec<String>) {
    for node in nodes.as_array().into_iter().flatten() {
        for attempt in node["attempts"].as_array().into_iter().flatten() {
            assert!(attempt["status"].is_string(), "something has no end: {node}");
            told.push(format!("{}#{}", node["path"].as_str().unwrap(), attempt["attempt"]));
        }
        gather(&node["children"], told);
    }
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for path in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "yaml" || end == "yml") {
            files.push(path);
        }
    }
}

/// Returns the folder of real workflows, if there is one.
fn fixtures() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures");
    let folder = std::env::var_os("QUIPU_FIXTURES").map_or(beside, PathBuf::from);
    if !folder.is_dir() {
        tell(&format!("NOT RUN: there are no real workflows at {}", folder.display()));
        return None;
    }
    Some(folder.join("workflows"))
}

/// Says something even when the test succeeds.
fn tell(text: &str) {
    // A test whose output is closed still checks.
    let _ = writeln!(std::io::stderr(), "{text}");
}
