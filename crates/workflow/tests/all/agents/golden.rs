//! Golden cases: a script, played in each agent's language, becomes `tests/cases/agents/<provider>/<case>.out.jsonl`.
//!
//! `BLESS=1` writes what the code makes now; look at the difference before committing it.

use std::fs;
use std::path::Path;

use quipu_event::{Kind, write_loose_draft};
use quipu_provider::{KeptBytes, Normalizer, PROVIDERS, detect};
use quipu_testkit::fake_agent;
use quipu_workflow::engine::WorkStatus;
use serde_json::{Value, json};

use super::asking::{AGENTS, Asked, Asking};

const PROMPT: &str = "List the files.";

fn cases() -> Vec<(&'static str, Value)> {
    let ls = json!({ "name": "shell", "input": { "command": "ls" }, "result": "a.txt\nb.txt" });
    let bad = json!({
        "name": "shell", "input": { "command": "cat c" }, "result": "no such file", "is_error": true,
    });
    vec![
        ("hello", json!({ "steps": [{ "text": "Hello." }] })),
        (
            "tools",
            json!({ "steps": [
                { "thinking": "I should look." }, { "text": "Let me look." }, { "tools": [ls, bad] },
                { "text": "There are two files." },
            ] }),
        ),
        (
            "subagent",
            json!({ "steps": [
                { "subagent": { "prompt": "Count.", "text": "Seven.", "tool": ls } },
                { "text": "It says seven." },
            ] }),
        ),
        (
            "garbage",
            json!({ "steps": [
                { "garbage": "npm warn something" }, { "nul": 5 }, { "text": "Still here." },
                { "raw": "{\"type\":\"from.the.future\",\"x\":1}" }, { "raw": "{\"type\":" },
                { "stderr": "a warning" },
            ] }),
        ),
        (
            "crash",
            json!({ "steps": [
                { "text": "Let me look." }, { "tool": { "name": "shell", "input": { "command": "ls" } } },
                { "stderr": "out of memory" }, { "crash": 3 },
            ] }),
        ),
        ("api_failure", json!({ "steps": [{ "fail": "the server is down" }] })),
    ]
}

/// Writes what was recorded and what came of it, without what differs from run to run.
fn written(asked: &Asked, session_folder: &str) -> String {
    let mut out = Vec::new();
    for draft in &asked.drafts {
        let mut draft = draft.clone();
        draft.raw = draft.raw.filter(|_| draft.kind == Kind::Unknown);
        write_loose_draft(&draft, &mut out).unwrap();
    }
    let outcome = &asked.outcome;
    let end = json!({
        "status": format!("{:?}", outcome.status), "error": outcome.error, "output": outcome.output,
        "session": outcome.session, "model": outcome.model, "exit_code": outcome.exit_code,
        "usage": outcome.usage,
    });
    let text = String::from_utf8(out).unwrap() + &format!("{end}\n");
    let program = fake_agent::program().to_str().unwrap();
    text.replace(program, "quipu-fake-agent").replace(session_folder, "/folder")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_agent_says_what_its_script_says() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/agents");
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    for (provider, language) in AGENTS {
        for (case, script) in cases() {
            let asking = Asking::of_fake(provider, language, PROMPT, &script);
            let folder = asking.folder.path().to_str().unwrap().to_owned();
            let asked = asking.ask().await;
            let actual = written(&asked, &folder);
            let file = home.join(provider).join(format!("{case}.out.jsonl"));
            if bless {
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(&file, &actual).unwrap();
            } else if fs::read_to_string(&file).unwrap_or_default() != actual {
                wrong.push(format!("{provider}/{case}:\n{actual}"));
            }
        }
    }
    assert!(wrong.is_empty(), "run with BLESS=1 and look at the difference:\n{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_script_comes_to_the_same_with_every_agent() {
    for (case, script) in cases() {
        for (provider, language) in AGENTS {
            let asked = Asking::of_fake(provider, language, PROMPT, &script).ask().await;
            let (outcome, title) = (&asked.outcome, format!("{provider}/{case}"));
            let expected = match case {
                "hello" => Some("Hello."),
                "tools" => Some("There are two files."),
                "subagent" => Some("It says seven."),
                "garbage" => Some("Still here."),
                _ => None,
            };
            match expected {
                Some(text) => {
                    assert_eq!(
                        outcome.status,
                        WorkStatus::Succeeded,
                        "{title}: {:?}",
                        outcome.error
                    );
                    assert_eq!(outcome.output, text, "{title}");
                    assert_eq!(outcome.session.as_deref(), Some("fake-session"), "{title}");
                }
                None => assert_eq!(outcome.status, WorkStatus::Failed, "{title}"),
            }
            assert_eq!(outcome.usage.unwrap_or_default(), asked.usage(), "{title}");
            assert_eq!(asked.of(&Kind::RunStarted).len() + asked.of(&Kind::RunCompleted).len(), 0);
            let from_us =
                asked.of(&Kind::MessageUser).iter().filter(|d| d.source.is_none()).count();
            assert_eq!(from_us, 1, "{title}: the prompt is recorded once");
            assert_eq!(asked.facts("session_started").len(), 1, "{title}");
            assert_eq!(asked.facts("session_completed").len(), 1, "{title}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_byte_that_was_printed_is_in_the_transcript_once() {
    let script = &cases()[1].1;
    for (provider, language) in AGENTS {
        let asked = Asking::of_fake(provider, language, PROMPT, script).ask().await;
        let raws = asked.drafts.iter().filter_map(|draft| draft.raw.as_ref()?.bytes());
        let lines: Vec<String> = raws
            .flat_map(|raw| {
                let text = String::from_utf8(raw).unwrap();
                text.lines().map(str::to_owned).collect::<Vec<_>>()
            })
            .collect();
        let output = std::process::Command::new(fake_agent::program())
            .args([language, "-p", PROMPT])
            .env("QUIPU_FAKE_SCRIPT", script_file(script).path())
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let mut printed: Vec<String> =
            String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
        let mut lines = lines;
        lines.sort();
        printed.sort();
        assert_eq!(lines, printed, "{provider}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_does_not_tear_a_message() {
    let script = json!({ "steps": [
        { "text": "Let me" }, { "delay_ms": 500 }, { "text": " look." }, { "delay_ms": 500 },
        { "tool": { "name": "shell", "input": { "command": "ls" }, "result": "a.txt" } },
        { "delay_ms": 500 }, { "text": "One file." },
    ] });
    for (provider, language) in AGENTS {
        let asked = Asking::of_fake(provider, language, PROMPT, &script).ask().await;
        assert_eq!(asked.of(&Kind::MessageAssistant).len(), 2, "{provider}");
        assert_eq!(asked.texts().concat(), "Let me look.One file.", "{provider}");
        assert_eq!(asked.outcome.output, "One file.", "{provider}");
    }
}

#[test]
fn the_fake_agent_speaks_each_language() {
    for (_, language) in AGENTS {
        for (case, script) in cases().into_iter().filter(|(case, _)| *case != "garbage") {
            let output = std::process::Command::new(fake_agent::program())
                .args([language, "-p", PROMPT])
                .env("QUIPU_FAKE_SCRIPT", script_file(&script).path())
                .stdin(std::process::Stdio::null())
                .output()
                .unwrap();
            let found = detect(&output.stdout, PROVIDERS).unwrap();
            assert_eq!(found.provider.name, language, "{case}");
            assert!(["stream", "exec"].contains(&found.surface.name), "{language}/{case}");
            let mut normalizer = Normalizer::new(found.surface, KeptBytes::Full);
            normalizer.push(&output.stdout, &mut Vec::new());
            normalizer.finish(&mut Vec::new());
            let tally = normalizer.tally();
            assert_eq!((tally.unknown(), tally.problem_count), (0, 0), "{language}/{case}");
        }
    }
}

fn script_file(script: &Value) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), script.to_string()).unwrap();
    file
}
