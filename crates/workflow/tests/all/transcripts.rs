//! Golden transcripts: a workflow that asks one agent, from its first line to its last.
//!
//! Each provider gets the same questions: it thinks and uses tools, prints garbage and NUL bytes,
//! crashes midway, hangs until its time is up. What its run left is compared, every byte, with
//! `tests/cases/transcripts/<provider>.jsonl`; `BLESS=1` writes those files anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use quipu_event::payload::Status;
use quipu_event::{RunId, Timestamp};
use quipu_journal::{Clock, Layout, verify_run};
use quipu_testkit::fake_agent;
use quipu_workflow::agent::{AgentSettings, Nobody, RetrySettings};
use quipu_workflow::definition::{NoLibrary, Places, check};
use quipu_workflow::driver::{BuiltIn, RunRequest, World, run};
use quipu_workflow::operation::OperationSettings;
use quipu_workflow::toolbox::ToolSettings;
use serde_json::{Value, json};

use super::agents::server::{Answer, Server, chunk, saying};

/// Agents by program: what workflows call them, and whose language the fake agent speaks.
const PROGRAMS: [(&str, &str); 5] = [
    ("claude", "claude"),
    ("codex", "codex"),
    ("gemini", "gemini"),
    ("github_copilot", "copilot"),
    ("opencode", "opencode"),
];

/// Long enough for an agent to say its piece on a busy machine, and then it hangs.
const PATIENCE: &str = "6s";

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::parse("2026-02-20T22:15:42.123456Z").unwrap()
    }
}

/// Writes the workflow. `asks` are the keys that make a step ask this provider.
fn workflow(provider: &str, asks: &str) -> String {
    let step = |name: &str, more: &str, next: &str| {
        format!(
            "  {name}: {{type: agent, provider: {provider}, {asks}, prompt: 'Now {name}.', {more}continue_on_error: true, on_success: {next}}}\n"
        )
    };
    let patience = format!("timeout: {PATIENCE}, ");
    let steps = [
        step("think", "system_prompt: You look at files., ", "garbage"),
        step("garbage", "", "crash"),
        step("crash", "", "fail"),
        step("fail", "", "hang"),
        step("hang", &patience, "done"),
    ];
    let steps = steps.concat();
    format!(
        "name: golden\nversion: '1.0'\nstates:\n  initial: think\n{steps}  done: {{type: terminal, message: over}}\n"
    )
}

fn script() -> Value {
    let ls = json!({ "name": "shell", "input": { "command": "ls" }, "result": "a.txt\nb.txt" });
    let bad = json!({
        "name": "shell", "input": { "command": "cat c" }, "result": "no such file", "is_error": true,
    });
    let unanswered = json!({ "name": "shell", "input": { "command": "ls" } });
    json!({ "turns": [
        { "when": "Now think.", "steps": [
            { "thinking": "I should look." }, { "text": "Let me look." }, { "tools": [ls, bad] },
            { "text": "There are two files." },
        ] },
        { "when": "Now garbage.", "steps": [
            { "garbage": "npm warn something" }, { "nul": 5 }, { "text": "Still here." },
            { "raw": "{\"type\":\"from.the.future\",\"x\":1}" }, { "raw": "{\"type\":" },
        ] },
        { "when": "Now crash.", "steps": [
            { "text": "Let me look." }, { "tool": unanswered }, { "crash": 3 },
        ] },
        { "when": "Now fail.", "steps": [{ "fail": "the server is down" }] },
        { "when": "Now hang.", "steps": [{ "text": "Let me wait." }, "hang"] },
    ] })
}

/// Runs a workflow and returns its transcript, without what differs from run to run.
async fn transcript(text: &str, replaced: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let checked = check(Path::new("golden.yaml"), text, &NoLibrary);
    let workflow = checked.workflow.unwrap_or_else(|| panic!("{}", checked.problems));
    let layout = Layout::new(folder.path().join("storage"));
    let quick = Duration::from_millis(1);
    let retry = RetrySettings { retries: 1, first_delay: quick, longest_delay: quick };
    let hands = BuiltIn {
        agents: Arc::new(AgentSettings { retry, ..AgentSettings::default() }),
        person: Arc::new(Nobody),
    };
    let places = Arc::new(Places::of_project(folder.path()));
    let run_id: RunId = "golden".parse().unwrap();
    let request = RunRequest::new(
        Arc::new(workflow),
        run_id.clone(),
        Arc::new(World {
            layout: Some(layout.clone()),
            clock: Arc::new(Still),
            working_dir: folder.path().to_owned(),
            tools: Arc::new(ToolSettings::new(OperationSettings::from_variables("/", |_| None))),
            ..World::of_process(places, Arc::new(hands))
        }),
    );
    let report = tokio::time::timeout(Duration::from_secs(120), run(request));
    let report = report.await.expect("it ends").unwrap();
    assert_eq!(report.status, Status::Succeeded, "{:?}", report.error);
    let found = verify_run(&layout, &run_id).unwrap();
    assert!(found.findings.is_empty(), "{:?}", found.findings);
    let mut told = fs::read_to_string(layout.transcript(&run_id)).unwrap();
    told = told.replace(folder.path().to_str().unwrap(), "/folder");
    for (from, to) in replaced {
        told = told.replace(from, to);
    }
    with_numbered_sessions(told)
}

/// Puts numbers for the random ids that our own sessions have.
fn with_numbered_sessions(mut told: String) -> String {
    for kind in ["chat-", "stub-"] {
        let mut number = 0;
        while let Some(id) = told.match_indices(kind).find_map(|(start, _)| {
            let id = told.get(start + kind.len()..start + kind.len() + 36)?;
            let is_id = id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
            is_id.then(|| format!("{kind}{id}"))
        }) {
            number += 1;
            told = told.replace(&id, &format!("{kind}session-{number}"));
        }
    }
    told
}

async fn of_program(provider: &str, language: &str) -> String {
    let script_file = tempfile::NamedTempFile::new().unwrap();
    fs::write(script_file.path(), script().to_string()).unwrap();
    let program = fake_agent::program().to_str().unwrap();
    let script_path = script_file.path().to_str().unwrap();
    let asks =
        format!("command: [{program}, {language}], env: {{QUIPU_FAKE_SCRIPT: {script_path}}}");
    let text = workflow(provider, &asks);
    let replaced = [(program, "quipu-fake-agent"), (script_path, "/script.json")];
    let told = transcript(&text, &replaced).await;
    told.replace(&sha256_of(&told), "0")
}

async fn of_api() -> String {
    let half = vec![chunk(&json!({ "role": "assistant", "content": "Let me wait." }), None)];
    let nul = vec![chunk(&json!({ "role": "assistant", "content": "Still\u{0} here." }), None)];
    let server = Server::start(vec![
        Answer::Events(saying(&["There are", " two files."])),
        Answer::Events([vec!["not json".to_owned()], nul, saying(&[""])].concat()),
        Answer::EventsThenBreak(half.clone()),
        Answer::Plain(400, "", json!({ "error": { "message": "no such model" } }).to_string()),
        Answer::EventsThenSilence(half),
    ])
    .await;
    let asks = format!(
        "options: {{base_url: '{}', model: small-1, api_key: sk-very-secret-0123456789}}",
        server.url
    );
    let text = workflow("openai_compatible", &asks);
    let told = transcript(&text, &[(&server.url, "http://api/v1")]).await;
    assert!(!told.contains("sk-very-secret"), "{told}");
    told.replace(&sha256_of(&told), "0")
}

/// Reads the hash of the workflow off a transcript: it holds paths and ports.
fn sha256_of(transcript: &str) -> String {
    let first: Value = serde_json::from_str(transcript.lines().next().unwrap()).unwrap();
    first["payload"]["definition"]["sha256"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_provider_leaves_the_transcript_it_should() {
    let mut running = tokio::task::JoinSet::new();
    for (provider, language) in PROGRAMS {
        running.spawn(async move { (provider, of_program(provider, language).await) });
    }
    running.spawn(async { ("openai_compatible", of_api().await) });
    running.spawn(async {
        let told = transcript(&workflow("stub", "options: {model: any}"), &[]).await;
        ("stub", told.replace(&sha256_of(&told), "0"))
    });
    let told: BTreeMap<_, _> = running.join_all().await.into_iter().collect();
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/transcripts");
    let mut wrong = Vec::new();
    for (provider, actual) in told {
        let file = home.join(format!("{provider}.jsonl"));
        if std::env::var_os("BLESS").is_some() {
            fs::create_dir_all(&home).unwrap();
            fs::write(&file, &actual).unwrap();
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        let mut lines = actual.lines().zip(expected.lines());
        if let Some((actual, expected)) = lines.find(|(actual, expected)| actual != expected) {
            wrong.push(format!("{provider}:\n- {expected}\n+ {actual}"));
        } else if actual != expected {
            wrong.push(format!("{provider}: as many lines as there should be, it has not"));
        }
    }
    assert!(wrong.is_empty(), "run with BLESS=1 and look at the difference:\n{}", wrong.join("\n"));
}

/// What the golden files say, said once more by hand: nobody blesses away a lost answer.
#[test]
fn golden_transcripts_hold_what_every_agent_said_and_how_it_ended() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/transcripts");
    for (provider, _) in PROGRAMS.into_iter().chain([("openai_compatible", "")]) {
        let text = fs::read_to_string(home.join(format!("{provider}.jsonl"))).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let ends: Vec<_> = lines
            .iter()
            .filter(|line| line["type"] == "step.completed")
            .map(|line| {
                (line["path"].as_str().unwrap(), line["payload"]["status"].as_str().unwrap())
            })
            .collect();
        let expected = [
            ("think", "succeeded"),
            ("garbage", "succeeded"),
            ("crash", "failed"),
            ("fail", "failed"),
            ("hang", "failed"),
            ("done", "succeeded"),
        ];
        assert_eq!(ends, expected, "{provider}");
        let said = |path: &str| {
            let here = |line: &&Value| line["path"] == path && line["type"] == "message.assistant";
            let blocks = lines.iter().filter(here).flat_map(|line| {
                line["payload"]["blocks"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter_map(|b| b["text"].as_str())
            });
            blocks.collect::<String>()
        };
        assert!(said("think").ends_with("There are two files."), "{provider}");
        assert!(said("garbage").starts_with("Still"), "{provider}");
        assert!(said("hang").contains("Let me wait."), "{provider}: said before it hung");
        let calls = lines.iter().filter(|line| line["type"] == "tool.call").count();
        let expected = match provider {
            "openai_compatible" => 0,
            // It tells of a call when it is answered, so that one cut short by a crash is not told.
            "opencode" => 2,
            _ => 3,
        };
        assert_eq!(calls, expected, "{provider}");
    }
}
