//! A home full of sessions, as agents leave it: of a size that can be chosen, always the same.
//!
//! A real one, or a generated one that knows how many tokens it holds, is read instead where
//! `QUIPU_CORPUS` names it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::{Value, json};

const PROSE: &str = "The build fails in the second stage because the path has a space in it. ";

/// A home, and what is known of it.
pub(crate) struct Home {
    pub(crate) path: PathBuf,
    /// How many bytes its sessions have.
    pub(crate) bytes: u64,
    /// How many tokens went out in all, as its maker knows.
    pub(crate) output_tokens: Option<u64>,
}

/// Returns the home that `QUIPU_CORPUS` names, or makes one of about `bytes` below `dir`.
pub(crate) fn of_size(dir: &Path, bytes: u64) -> anyhow::Result<Home> {
    match std::env::var_os("QUIPU_CORPUS") {
        Some(path) => named(Path::new(&path)),
        None => {
            // Sessions of about 300 kB, as most are.
            let sessions = bytes / 300_000;
            made(&dir.join("home"), sessions.max(1), 120)
        }
    }
}

/// Makes a home of `sessions` sessions of `turns` turns each.
pub(crate) fn made(path: &Path, sessions: u64, turns: u64) -> anyhow::Result<Home> {
    let (mut bytes, mut output) = (0, 0);
    for session in 0..sessions {
        let id = format!("{session:08x}-0000-4000-8000-000000000000");
        let folder = path.join(format!(".claude/projects/-home-dev-project-{}", session % 20));
        fs::create_dir_all(&folder)?;
        let mut text = Vec::new();
        for turn in 0..turns {
            output += write_turn(&mut text, &id, session, turn)?;
        }
        bytes += text.len() as u64;
        fs::write(folder.join(format!("{id}.jsonl")), text)?;
    }
    Ok(Home { path: path.to_owned(), bytes, output_tokens: Some(output) })
}

/// Writes a prompt, a reply in two lines that calls a tool, and its result; returns the tokens out.
pub(crate) fn write_turn(
    out: &mut impl Write,
    session: &str,
    number: u64,
    turn: u64,
) -> anyhow::Result<u64> {
    let uuid = |part: u64| format!("{number:08x}-{turn:04x}-4000-8000-{part:012x}");
    let line = |kind: &str, part: u64, message: Value| {
        json!({
            "parentUuid": uuid(part.wrapping_sub(1)), "isSidechain": false, "type": kind,
            "sessionId": session, "version": "2.1.200", "cwd": "/home/dev/project",
            "uuid": uuid(part), "timestamp": "2026-03-01T10:00:00.000Z", "message": message,
        })
    };
    let (message, call) = (format!("msg_{number}_{turn}"), format!("toolu_{number}_{turn}"));
    let reply = |block: Value, tokens: u64| {
        json!({
            "id": message, "model": "claude-sonnet-4-5", "role": "assistant", "content": [block],
            "usage": { "input_tokens": 3, "cache_read_input_tokens": 4000, "output_tokens": tokens },
        })
    };
    let text = json!({ "type": "text", "text": PROSE.repeat(4) });
    let input = json!({ "command": "cargo build --workspace" });
    let call_block = json!({ "type": "tool_use", "id": call, "name": "Bash", "input": input });
    let result = json!({ "type": "tool_result", "tool_use_id": call, "content": PROSE.repeat(10) });
    let lines = [
        line("user", 1, json!({ "role": "user", "content": "Build it, please." })),
        line("assistant", 2, reply(text, 8)),
        line("assistant", 3, reply(call_block, 120)),
        line("user", 4, json!({ "role": "user", "content": [result] })),
    ];
    for line in lines {
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(120)
}

fn named(path: &Path) -> anyhow::Result<Home> {
    let truth = fs::read(path.join("ground_truth.json")).context("ground_truth.json")?;
    let truth: Value = serde_json::from_slice(&truth)?;
    Ok(Home {
        path: path.to_owned(),
        bytes: truth["bytes"].as_u64().context("bytes")?,
        output_tokens: truth["totals"]["tokens"]["output"].as_u64(),
    })
}
