//! Agents that are given our tools: a fake agent of each kind starts the real `quipu mcp-serve`, calls
//! tools through it and tells of them in its own language. However it tells it, each call is counted once.

use std::collections::BTreeMap;
use std::fs;

use quipu_testkit::fake_agent;
use serde_json::{Value, json};

use crate::session::{Outcome, Session};

const AGENTS: &[(&str, &str)] = &[
    ("claude", "claude"),
    ("codex", "codex"),
    ("gemini", "gemini"),
    ("github_copilot", "copilot"),
    ("opencode", "opencode"),
];

/// The file that holds what agents printed.
const PRINTED: &str = "printed.jsonl";

/// Begins in a directory with a file to read and a step that plays `script` as `language`.
fn session(provider: &str, language: &str, script: &Value) -> Session {
    let step = step("ask", provider, language, "done");
    with_states(&format!("  initial: ask\n{step}  done: {{type: terminal}}\n"), script)
}

fn step(name: &str, provider: &str, language: &str, next: &str) -> String {
    let program = fake_agent::program().display().to_string();
    // What it prints is kept beside, to be compared.
    let kept = format!("\"$0\" \"$@\" | tee -a {PRINTED}");
    let shell = ["bash", "-o", "pipefail", "-c"];
    let played = [kept.as_str(), program.as_str(), "--script", "script.json", language];
    let words: Vec<&str> = shell.into_iter().chain(played).collect();
    let command = json!(words);
    format!(
        "  {name}:\n    type: agent\n    provider: {provider}\n    command: {command}\n    prompt: Look.\n    \
         timeout: 60s\n    mcp_proxy: {{enable: true}}\n    on_success: {next}\n"
    )
}

fn with_states(states: &str, script: &Value) -> Session {
    let session = Session::new();
    let workflow = format!("name: tools\nstates:\n{states}");
    fs::write(session.dir().join("w.yaml"), workflow).unwrap();
    fs::write(session.dir().join("script.json"), script.to_string()).unwrap();
    fs::write(session.dir().join("data.txt"), "alpha\n").unwrap();
    session
}

fn read(path: &str) -> Value {
    json!({ "name": "Read", "input": { "path": path } })
}

fn run(session: &Session) -> (Outcome, Vec<Value>) {
    let outcome = session.quipu(&["run", "w.yaml", "--id", "r"]);
    let lines = session.lines("r");
    let verdict = session.quipu(&["verify", "r"]);
    assert_eq!(verdict.code, Some(0), "{verdict:?}");
    (outcome, lines)
}

fn of_type<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

fn notes<'a>(lines: &'a [Value], subtype: &str) -> Vec<&'a Value> {
    let systems = of_type(lines, "system").into_iter();
    systems.filter(|line| line["payload"]["subtype"] == subtype).collect()
}

/// Checks that every call has one result, by the word of `fidelity`, and returns their ids.
fn pairs(lines: &[Value], fidelity: &str) -> Vec<String> {
    let ids = |kind: &str| {
        let said = of_type(lines, kind).into_iter();
        let said = said.filter(|line| line["payload"]["fidelity"] == fidelity);
        let mut ids: Vec<String> =
            said.map(|line| line["payload"]["call_id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    };
    let calls = ids("tool.call");
    assert_eq!(calls, ids("tool.result"), "each call has one result");
    let mut once = calls.clone();
    once.dedup();
    assert_eq!(calls, once, "an id belongs to one call");
    calls
}

/// Checks that every line that the agent printed is in the transcript, once.
fn check_bytes(session: &Session, lines: &[Value]) {
    let counted = |text: &str| {
        let mut counts = BTreeMap::new();
        for record in text.split('\n').filter(|record| !record.is_empty()) {
            *counts.entry(record.to_owned()).or_insert(0) += 1;
        }
        counts
    };
    let raw: Vec<&str> = lines.iter().filter_map(|line| line["raw"].as_str()).collect();
    let printed = fs::read_to_string(session.dir().join(PRINTED)).unwrap();
    assert!(!printed.is_empty(), "it has said something");
    assert_eq!(counted(&raw.join("\n")), counted(&printed));
}

#[test]
fn whenever_an_agent_tells_of_a_call_it_is_counted_once() {
    for (provider, language) in AGENTS {
        for told in ["before", "after"] {
            let served = json!({ "tools": [read("data.txt")], "told": told });
            let script = json!({ "steps": [{ "served": served }, { "text": "ALL-DONE" }] });
            let session = session(provider, language, &script);
            let (outcome, lines) = run(&session);
            assert_eq!(outcome.code, Some(0), "{provider}, {told}: {outcome:?}");
            let ids = pairs(&lines, "router");
            assert_eq!(ids.len(), 1, "{provider}, {told}");
            assert_eq!(pairs(&lines, "agent_emitted"), Vec::<String>::new(), "{provider}, {told}");
            let links = notes(&lines, "tool_linked");
            assert_eq!(links.len(), 1, "{provider}, {told}");
            assert_eq!(links[0]["payload"]["tool_id"], *ids[0], "{provider}, {told}");
            assert_eq!(of_type(&lines, "file.read").len(), 1, "{provider}, {told}");
            let result = &of_type(&lines, "tool.result")[0]["payload"];
            assert!(result["output"].to_string().contains("alpha"), "{provider}: {result}");
            check_bytes(&session, &lines);
        }
    }
}

#[test]
fn the_id_that_the_model_gave_is_the_calls_id() {
    for (provider, language, id) in [("claude", "claude", "toolu_1"), ("codex", "codex", "call_0")]
    {
        let served = json!({ "tools": [read("data.txt")] });
        let script = json!({ "steps": [{ "served": served }, { "text": "ALL-DONE" }] });
        let (_, lines) = run(&session(provider, language, &script));
        assert_eq!(pairs(&lines, "router"), [id], "{provider}");
        let said = of_type(&lines, "message.assistant").into_iter();
        let mut blocks = said.flat_map(|line| line["payload"]["blocks"].as_array().unwrap());
        let block = blocks.find(|block| block["type"] == "tool_use").unwrap();
        let linked = &notes(&lines, "tool_linked")[0]["payload"];
        let known = [&linked["tool_id"], &linked["agent_tool_id"]];
        assert!(known.contains(&&block["tool_id"]), "{provider}: {block}");
    }
}

#[test]
fn equal_calls_at_once_are_as_many_as_they_are() {
    for (provider, language) in AGENTS {
        let tools = vec![read("data.txt"); 4];
        let script = json!({ "steps": [
            { "served": { "tools": tools } }, { "served": { "tools": tools, "told": "after" } },
            { "text": "ALL-DONE" },
        ] });
        let session = session(provider, language, &script);
        let (outcome, lines) = run(&session);
        assert_eq!(outcome.code, Some(0), "{provider}: {outcome:?}");
        assert_eq!(pairs(&lines, "router").len(), 8, "{provider}");
        assert_eq!(notes(&lines, "tool_linked").len(), 8, "{provider}");
        assert_eq!(pairs(&lines, "agent_emitted").len(), 0, "{provider}");
        check_bytes(&session, &lines);
    }
}

#[test]
fn a_call_that_nobody_allowed_is_the_agents_own_word() {
    for (provider, language) in AGENTS {
        let denied = json!({
            "name": "Read", "input": { "path": "data.txt" }, "result": "denied", "is_error": true,
        });
        let script = json!({ "steps": [
            { "served": { "tools": [denied], "told": "instead" } }, { "text": "ALL-DONE" },
        ] });
        let session = session(provider, language, &script);
        let (_, lines) = run(&session);
        assert_eq!(pairs(&lines, "router").len(), 0, "{provider}");
        assert_eq!(pairs(&lines, "agent_emitted").len(), 1, "{provider}");
        assert_eq!(notes(&lines, "tool_linked").len(), 0, "{provider}");
        check_bytes(&session, &lines);
    }
}

#[test]
fn a_call_that_the_agent_keeps_to_itself_and_tools_of_its_own_are_there() {
    for (provider, language) in AGENTS {
        let own = json!({ "name": "shell", "input": { "command": "ls" }, "result": "data.txt" });
        let script = json!({ "steps": [
            { "served": { "tools": [read("data.txt")], "told": "never" } }, { "tool": own },
            { "text": "ALL-DONE" },
        ] });
        let session = session(provider, language, &script);
        let (_, lines) = run(&session);
        assert_eq!(pairs(&lines, "router").len(), 1, "{provider}");
        assert_eq!(pairs(&lines, "agent_emitted").len(), 1, "{provider}");
        assert_eq!(notes(&lines, "tool_linked").len(), 0, "{provider}");
        check_bytes(&session, &lines);
    }
}

#[test]
fn an_agent_that_dies_in_the_middle_of_a_call_leaves_no_call_without_a_result() {
    for (provider, language) in AGENTS {
        let slow = json!({ "name": "Bash", "input": { "command": "sleep 30" } });
        let script = json!({ "steps": [
            { "text": "ALL-DONE" }, { "served": { "tools": [slow], "dies": true } },
        ] });
        let session = session(provider, language, &script);
        let (outcome, lines) = run(&session);
        assert_ne!(outcome.code, Some(0), "{provider}");
        let routed = pairs(&lines, "router").len();
        // It may be gone before its call has come through; then its own word is all there is.
        let own = of_type(&lines, "tool.call").len() - routed;
        assert!(routed + own <= 1, "{provider}: {routed} and {own}");
        let end = lines.iter().rposition(|line| line["type"] == "tool.result").unwrap_or(0);
        let over = lines.iter().position(|line| line["type"] == "step.completed").unwrap();
        assert!(end < over, "{provider}: the step is over when its calls are");
    }
}

#[test]
fn steps_side_by_side_have_their_calls_to_themselves() {
    let branches: String = AGENTS
        .iter()
        .map(|(provider, language)| step(provider, provider, language, "done"))
        .collect();
    let names: Vec<&str> = AGENTS.iter().map(|(provider, _)| *provider).collect();
    let states = format!(
        "  initial: all\n  all:\n    type: parallel\n    parallel: {names:?}\n    strategy: all_succeed\n    \
         on_success: done\n{branches}  done: {{type: terminal}}\n"
    );
    let tools = vec![read("data.txt"); 3];
    let script = json!({ "steps": [{ "served": { "tools": tools } }, { "text": "ALL-DONE" }] });
    let session = with_states(&states, &script);
    let (outcome, lines) = run(&session);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(pairs(&lines, "router").len(), 15);
    for name in names {
        let of_step: Vec<Value> =
            lines.iter().filter(|line| line["path"] == format!("all.{name}")).cloned().collect();
        assert_eq!(pairs(&of_step, "router").len(), 3, "{name}");
        assert_eq!(notes(&of_step, "tool_linked").len(), 3, "{name}");
    }
}

#[test]
fn nothing_is_left_behind_and_the_agent_is_told_what_its_tools_are() {
    for (provider, language) in AGENTS {
        let script = json!({ "steps": [{ "served": { "tools": [read("data.txt")] } }, { "text": "ALL-DONE" }] });
        let session = session(provider, language, &script);
        let scratch = tempfile::tempdir().unwrap();
        let log = session.dir().join("log.jsonl").display().to_string();
        let session = session
            .with_variable("TMPDIR", &scratch.path().display().to_string())
            .with_variable("QUIPU_FAKE_LOG", &log);
        run(&session);
        let left: Vec<_> = fs::read_dir(scratch.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 0, "{provider}: {left:?}");
        let calls = fake_agent::Call::logged(log.as_ref());
        let told = calls[0].was_told("Your tools are those of the MCP server `quipu`");
        let appended = calls[0].args.iter().any(|arg| arg.contains("MCP server `quipu`"));
        assert!(told || appended, "{provider}: {:?}", calls[0].args);
    }
}
