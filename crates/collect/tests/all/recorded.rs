//! Real homes, where they are at hand, against what their agents printed while they worked.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use quipu_collect::run_of_session;
use quipu_event::payload::{Payload, TokenCounts};
use quipu_event::{BlockContent, Draft, Kind};
use quipu_provider::{KeptBytes, Normalizer, PROVIDERS, detect};
use serde_json::Value;

use crate::desk::Desk;

/// Returns the folder of recorded files, if there is one.
fn fixtures() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures");
    let folder = std::env::var_os("QUIPU_FIXTURES").map_or(beside, PathBuf::from);
    Some(folder).filter(|folder| folder.is_dir())
}

/// What was said by the main agent, and what it cost.
#[derive(Debug, Default)]
struct Said {
    session: Option<String>,
    prompts: Vec<String>,
    texts: String,
    calls: BTreeMap<String, String>,
    results: BTreeSet<String>,
    usage: TokenCounts,
}

fn said(provider: &str, drafts: impl Iterator<Item = Draft>) -> Said {
    let mut said = Said::default();
    for draft in drafts {
        let is_aside = draft.source.is_some();
        let Ok(payload) = Payload::decode(&draft.kind, &draft.payload) else { continue };
        match payload {
            Payload::RunStarted(started) if !is_aside => {
                said.session = said.session.or(started.session_id);
            }
            Payload::RunCompleted(_) => {}
            // A subagent of Codex is a thread with an account of its own.
            Payload::Usage(_) if is_aside && provider == "codex" => {}
            Payload::Usage(usage) => said.usage.add(&usage.tokens()),
            Payload::ToolCall(call) if !is_aside => {
                said.calls.insert(call.call_id, call.name);
            }
            Payload::ToolResult(result) if !is_aside => _ = said.results.insert(result.call_id),
            Payload::Message(message) if !is_aside => {
                let texts = message.blocks.iter().filter_map(|block| match &block.content {
                    BlockContent::Text { text } => Some(text.as_str()),
                    _ => None,
                });
                let text: String = texts.collect();
                match draft.kind {
                    Kind::MessageUser => said.prompts.push(text),
                    _ => said.texts.push_str(&text),
                }
            }
            _ => {}
        }
    }
    said
}

/// Reads what an agent printed.
fn live(path: &Path) -> Option<(&'static str, Said)> {
    let input = fs::read(path).ok()?;
    let whose = detect(&input, PROVIDERS)?;
    let mut normalizer = Normalizer::new(whose.surface, KeptBytes::Unknown);
    let mut made = Vec::new();
    normalizer.push(&input, &mut made);
    normalizer.finish(&mut made);
    Some((whose.provider.name, said(whose.provider.name, made.into_iter().map(|made| made.draft))))
}

/// What is printed and what is left need not say the same here, and why.
const DIFFERENT: [(&str, &str, &str); 5] = [
    // Killed before the sum in the end: until then a reply is printed with its first count.
    ("claude", "g_kill", "usage"),
    // A prompt that could not be answered is taken back.
    ("gemini", "h_fail500", "prompts"),
    // A call is written when it has an answer.
    ("gemini", "g_kill", "calls"),
    // Code that calls tools is one call in the file, and nothing in the stream.
    ("codex-codemode", "*", "calls"),
    ("codex-codemode", "*", "results"),
];

/// Tells whether two programs worked, one after the other, of which the first alone is printed.
fn is_first_of_two(scenario: &str) -> bool {
    matches!(scenario, "f_resume" | "k_compact")
}

fn is_known_to_differ(agent: &str, scenario: &str, what: &str) -> bool {
    let fits = |pattern: &str, name: &str| pattern == "*" || pattern == name;
    DIFFERENT.iter().any(|(a, s, w)| fits(a, agent) && fits(s, scenario) && *w == what)
}

/// Returns the counts that every side gives, if it gives any.
fn counts(usage: &TokenCounts) -> [u64; 3] {
    [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens]
        .map(Option::unwrap_or_default)
}

/// Gemini CLI leaves out what cannot be seen when it writes down what was said.
fn visible(agent: &str, text: &str) -> String {
    let is_left_out = |c: char| agent == "gemini" && matches!(c, '\u{200d}' | '\u{feff}');
    text.chars().filter(|c| !is_left_out(*c)).collect()
}

/// Returns the session that the last line names; of a program that was killed, its only one.
fn named_last(scenario: &Path, desk: &Desk) -> Option<String> {
    let printed = fs::read_to_string(scenario.join("stdout.jsonl")).ok()?;
    let last: Value = serde_json::from_str(printed.lines().last()?).ok()?;
    if let Some(session) = last["sessionId"].as_str() {
        return Some(session.to_owned());
    }
    let folders = fs::read_dir(desk.home().join(".copilot/session-state")).ok()?;
    let names: Vec<_> = folders.flatten().map(|entry| entry.file_name()).collect();
    match &names[..] {
        [only] => only.to_str().map(str::to_owned),
        _ => None,
    }
}

#[test]
fn what_is_left_on_disk_says_what_was_printed() {
    let Some(recorded) = fixtures().map(|folder| folder.join("recorded")) else { return };
    let mut wrong = Vec::new();
    let mut checked = 0;
    for agent in [
        "claude",
        "claude-sdk",
        "codex",
        "codex-codemode",
        "gemini",
        "copilot",
        "copilot-chat",
        "copilot-responses",
    ] {
        let Ok(scenarios) = fs::read_dir(recorded.join(agent)) else { continue };
        for scenario in scenarios.map(|entry| entry.unwrap().path()) {
            let name = scenario.file_name().unwrap().to_str().unwrap().to_owned();
            let Some((provider, live)) = live(&scenario.join("stdout.jsonl")) else { continue };
            let desk = Desk::over(&scenario.join("home"));
            desk.collect();
            let mut tell = |what: &str, facts: String| {
                if !is_known_to_differ(agent, &name, what) {
                    wrong.push(format!("{agent}/{name} {what}: {facts}"));
                }
            };
            checked += 1;
            // Copilot names the session when it is over, in no event of ours.
            let session = live.session.clone().or_else(|| named_last(&scenario, &desk));
            let Some(session) = session else {
                tell("session", "none was printed".to_owned());
                continue;
            };
            let run = run_of_session(provider, &session);
            let events = desk.events(&run);
            if events.is_empty() {
                tell("session", format!("{session} was not collected"));
                continue;
            }
            desk.verify(&run);
            let drafts = events.into_iter().map(|event| Draft {
                source: event.source,
                ..Draft::with_json(event.kind, event.payload)
            });
            let left = said(provider, drafts);
            if !left.prompts.concat().contains(&live.prompts.concat()) {
                tell("prompts", format!("{:?} {:?}", live.prompts, left.prompts));
            }
            let printed = visible(agent, &live.texts);
            let is_said = match is_first_of_two(&name) {
                true => left.texts.starts_with(&printed),
                false => left.texts == printed,
            };
            if !is_said {
                tell("texts", format!("{:.200?} {:.200?}", live.texts, left.texts));
            }
            // Items of Codex's stream have names of their own, and calls of its file theirs.
            let has_own_names = provider == "codex";
            let is_counted = has_own_names && !is_first_of_two(&name);
            if is_counted && live.calls.len() != left.calls.len() {
                tell("calls", format!("{:?} {:?}", live.calls, left.calls));
            }
            if is_counted && live.results.len() != left.results.len() {
                tell("results", format!("{:?} {:?}", live.results, left.results));
            }
            for (id, tool) in live.calls.iter().filter(|_| !has_own_names) {
                if left.calls.get(id) != Some(tool) {
                    tell("calls", format!("{id} {tool} {:?}", left.calls.get(id)));
                }
            }
            for id in live.results.difference(&left.results).filter(|_| !has_own_names) {
                tell("results", id.clone());
            }
            if !is_first_of_two(&name)
                && !live.usage.is_empty()
                && !left.usage.is_empty()
                && counts(&live.usage) != counts(&left.usage)
            {
                tell("usage", format!("{:?} {:?}", live.usage, left.usage));
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked > 0);
}

#[test]
fn a_large_home_comes_to_its_known_sums() {
    let maker = fixtures().map(|folder| folder.join("../bench/gen_corpus.py"));
    let Some(maker) = maker.filter(|maker| maker.exists()) else { return };
    let desk = Desk::new();
    let mut python = Command::new("python3");
    python.arg(maker).args(["--sessions", "120", "--seed", "7", "--quirks", "all", "--out"]);
    let made = python.arg(desk.home()).stdout(Stdio::null()).status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    let truth = fs::read(desk.home().join("ground_truth.json")).unwrap();
    let truth: Value = serde_json::from_slice(&truth).unwrap();
    desk.collect();
    let mut sum = TokenCounts::default();
    let mut calls = 0;
    for path in desk.transcripts().keys() {
        let run = quipu_event::RunId::parse(path.file_stem().unwrap().to_str().unwrap()).unwrap();
        let events = desk.events(&run);
        sum.add(&crate::desk::usage(&events));
        calls += events.iter().filter(|event| event.kind == Kind::ToolCall).count() as u64;
    }
    let tokens = &truth["totals"]["tokens"];
    let found =
        [sum.input_tokens, sum.output_tokens, sum.cache_write_tokens, sum.cache_read_tokens];
    let expected = ["input", "output", "cache_creation", "cache_read"];
    assert_eq!(
        found.map(Option::unwrap_or_default),
        expected.map(|name| tokens[name].as_u64().unwrap())
    );
    assert_eq!(calls, truth["totals"]["tool_calls"].as_u64().unwrap());
}
