//! Session files as agents write them, small and made up: lines, and a home full of them.
//!
//! Every record has a number, from which its id and its time come, so that no two are alike.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Returns the time of record `number`.
pub fn time(number: u64) -> String {
    let (seconds, millis) = (number / 1000, number % 1000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("2026-01-02T{hours:02}:{minutes:02}:{seconds:02}.{millis:03}Z")
}

/// Returns the id of record `number`.
pub fn id(number: u64) -> String {
    format!("{number:08x}-0000-4000-8000-00000000abcd")
}

/// Returns the id of session `number`.
pub fn session(number: u64) -> String {
    format!("{number:08x}-1111-4111-8111-000000000000")
}

/// Lines of Claude Code.
pub mod claude {
    use super::*;

    /// Something the user says.
    pub fn prompt(session: &str, number: u64) -> String {
        let message = json!({ "role": "user", "content": format!("prompt {number} – ‚äöü‘ 🦀") });
        record(session, number, "user", message).to_string()
    }

    /// An answer in one record; it cost 10 tokens of input, and of output those of [`cost`].
    pub fn reply(session: &str, number: u64) -> String {
        let content = json!([{ "type": "text", "text": format!("reply {number} – „ß“ 🦀") }]);
        reply_with(session, number, content).to_string()
    }

    /// An answer that is nothing but a call.
    pub fn call(session: &str, number: u64) -> String {
        let input = json!({ "command": "ls" });
        let id = format!("toolu_{number}");
        let call = json!({ "type": "tool_use", "id": id, "name": "Bash", "input": input });
        reply_with(session, number, json!([call])).to_string()
    }

    /// What the call of record `call` gave.
    pub fn result(session: &str, number: u64, call: u64) -> String {
        let id = format!("toolu_{call}");
        let content =
            json!([{ "type": "tool_result", "tool_use_id": id, "content": "a.txt\nb.txt" }]);
        let message = json!({ "role": "user", "content": content });
        record(session, number, "user", message).to_string()
    }

    /// A record of a subagent, as `line` would be one of the main agent.
    pub fn aside(line: &str, agent: &str) -> String {
        let mut record: Value = serde_json::from_str(line).expect("lines are made of values");
        record["isSidechain"] = true.into();
        record["agentId"] = agent.into();
        record.to_string()
    }

    /// A record as a session has it that was forked from the one that `line` is of.
    pub fn copied(line: &str, session: &str) -> String {
        let mut record: Value = serde_json::from_str(line).expect("lines are made of values");
        record["sessionId"] = session.into();
        record.to_string()
    }

    /// Returns the tokens of output of the answer in record `number`.
    pub fn cost(number: u64) -> u64 {
        number % 90 + 1
    }

    fn reply_with(session: &str, number: u64, content: Value) -> Value {
        let message = json!({
            "id": format!("msg_{number}"), "type": "message", "role": "assistant",
            "model": "claude-example", "content": content, "stop_reason": "end_turn",
            "usage": { "input_tokens": 10, "output_tokens": cost(number) },
        });
        record(session, number, "assistant", message)
    }

    fn record(session: &str, number: u64, kind: &str, message: Value) -> Value {
        json!({
            "parentUuid": null, "isSidechain": false, "userType": "external",
            "cwd": "/home/ada/app", "sessionId": session, "version": "2.1.0", "type": kind,
            "message": message, "uuid": id(number), "timestamp": time(number),
        })
    }
}

/// Lines of Codex.
pub mod codex {
    use super::*;

    /// The first record of a thread.
    pub fn meta(session: &str, number: u64) -> String {
        line(number, "session_meta", meta_of(session, number))
    }

    /// The first record of a thread that another one has begun.
    pub fn spawned(session: &str, number: u64, parent: &str) -> String {
        let mut meta = meta_of(session, number);
        meta["source"] = json!({ "subagent": { "thread_spawn": {
            "parent_thread_id": parent, "depth": 1,
        } } });
        line(number, "session_meta", meta)
    }

    /// Something the user says.
    pub fn prompt(number: u64) -> String {
        let content = json!([{ "type": "input_text", "text": format!("prompt {number} 🦀") }]);
        let message = json!({ "type": "message", "role": "user", "content": content });
        line(number, "response_item", message)
    }

    /// Something the agent says.
    pub fn reply(number: u64) -> String {
        // Of two answers in a row only the first has its place in an event: lengths tell the rest.
        let text = format!("reply {number} – „ß“{}", ".".repeat(number as usize % 97));
        let content = json!([{ "type": "output_text", "text": text }]);
        let message = json!({ "type": "message", "role": "assistant", "content": content });
        line(number, "response_item", message)
    }

    /// What the thread has cost so far.
    pub fn tokens(number: u64, input: u64, output: u64) -> String {
        let sum = json!({
            "input_tokens": input, "cached_input_tokens": 0, "output_tokens": output,
            "reasoning_output_tokens": 0, "total_tokens": input + output,
        });
        let info = json!({ "total_token_usage": sum, "last_token_usage": sum });
        line(number, "event_msg", json!({ "type": "token_count", "info": info }))
    }

    fn meta_of(session: &str, number: u64) -> Value {
        json!({
            "id": session, "timestamp": time(number), "cwd": "/home/ada/app",
            "originator": "codex_exec", "cli_version": "0.140.0", "source": "exec",
        })
    }

    fn line(number: u64, kind: &str, payload: Value) -> String {
        json!({ "timestamp": time(number), "type": kind, "payload": payload }).to_string()
    }
}

/// Lines of Gemini CLI.
pub mod gemini {
    use super::*;

    /// The first record of a chat.
    pub fn header(session: &str, number: u64) -> String {
        json!({
            "sessionId": session, "projectHash": "p1", "kind": "main",
            "startTime": time(number), "lastUpdated": time(number),
        })
        .to_string()
    }

    /// Something the user says.
    pub fn prompt(number: u64) -> Value {
        json!({
            "id": format!("u{number}"), "timestamp": time(number), "type": "user",
            "content": [{ "text": format!("prompt {number}") }],
        })
    }

    /// Something the agent says.
    pub fn reply(number: u64) -> Value {
        json!({
            "id": format!("g{number}"), "timestamp": time(number), "type": "gemini",
            "content": format!("reply {number}"), "thoughts": [], "model": "gemini-example",
            "tokens": { "input": 20, "output": 3, "cached": 5, "thoughts": 1, "tool": 0, "total": 24 },
        })
    }

    /// A chat as older versions write it: one document.
    pub fn document(session: &str, number: u64, messages: &[Value]) -> String {
        let document = json!({
            "sessionId": session, "projectHash": "p1", "startTime": time(number),
            "lastUpdated": time(number), "messages": messages,
        });
        serde_json::to_string_pretty(&document).expect("values can be written")
    }
}

/// Lines of Copilot CLI.
pub mod copilot {
    use super::*;

    /// The first record of a session.
    pub fn start(session: &str, number: u64) -> String {
        let data = json!({
            "sessionId": session, "version": 1, "producer": "copilot-agent",
            "copilotVersion": "1.0.0", "startTime": time(number),
            "context": { "cwd": "/home/ada/app" }, "selectedModel": "example-1",
        });
        record(number, "session.start", data)
    }

    /// Something the user says.
    pub fn prompt(number: u64) -> String {
        let data = json!({ "content": format!("prompt {number}"), "messageId": id(number) });
        record(number, "user.message", data)
    }

    /// Something the agent says.
    pub fn reply(number: u64) -> String {
        let data = json!({
            "messageId": format!("m{number}"), "model": "example-1",
            "content": format!("reply {number}"), "toolRequests": [], "turnId": "0",
        });
        record(number, "assistant.message", data)
    }

    fn record(number: u64, kind: &str, data: Value) -> String {
        json!({ "type": kind, "data": data, "id": id(number), "timestamp": time(number) })
            .to_string()
    }
}

/// Writes a small home of all four agents to `home`: forks, subagents in old and new places, a
/// compressed thread, a chat in one document, a torn and a glued line.
pub fn write_home(home: &Path) {
    let project = home.join(".claude/projects/-home-ada-app");
    let (one, fork) = (session(1), session(2));
    let mut talk = claude_talk(&one, 100, 40);
    write_lines(&project.join(format!("{one}.jsonl")), &talk);
    let mut forked: Vec<_> = talk.iter().map(|line| claude::copied(line, &fork)).collect();
    forked.extend(claude_talk(&fork, 300, 20));
    write_lines(&project.join(format!("{fork}.jsonl")), &forked);
    let aside = |lines: Vec<String>, agent: &str| -> Vec<String> {
        lines.iter().map(|line| claude::aside(line, agent)).collect()
    };
    let inner = project.join(&one).join("subagents/agent-a1.jsonl");
    write_lines(&inner, &aside(claude_talk(&one, 400, 20), "a1"));
    let formerly = project.join("agent-b2.jsonl");
    write_lines(&formerly, &aside(claude_talk(&one, 500, 10), "b2"));

    let broken = session(3);
    talk = claude_talk(&broken, 600, 12);
    let last = talk.pop().expect("talk was made");
    let glued = format!("{}{}", talk[4], talk[5]);
    talk.splice(4..6, [glued]);
    let mut text = talk.join("\n") + "\n";
    text.push_str(last.get(..40).expect("lines are longer"));
    write(&project.join(format!("{broken}.jsonl")), text.as_bytes());

    let rollouts = home.join(".codex/sessions/2026/01/02");
    let thread = |number: u64| {
        rollouts.join(format!("rollout-2026-01-02T00-00-00-{}.jsonl", session(number)))
    };
    write_lines(&thread(4), &codex_talk(codex::meta(&session(4), 700), 701, 30));
    let spawned = codex::spawned(&session(5), 800, &session(4));
    write_lines(&thread(5), &codex_talk(spawned, 801, 10));
    let cold = codex_talk(codex::meta(&session(6), 900), 901, 16).join("\n") + "\n";
    let cold = zstd::encode_all(cold.as_bytes(), 3).expect("memory can be compressed");
    write(&thread(6).with_extension("jsonl.zst"), &cold);

    let chats = home.join(".gemini/tmp/app/chats");
    let mut chat = vec![gemini::header(&session(7), 1000)];
    chat.extend((1001..1011).map(|number| gemini_message(number).to_string()));
    write_lines(&chats.join("session-2026-01-02T00-00-00000007.jsonl"), &chat);
    let messages: Vec<_> = (1101..1107).map(gemini_message).collect();
    let document = gemini::document(&session(8), 1100, &messages);
    write(&chats.join("session-2026-01-02T00-00-00000008.json"), document.as_bytes());

    let mut events = vec![copilot::start(&session(9), 1200)];
    events.extend((1201..1213).map(|number| match number % 2 {
        1 => copilot::prompt(number),
        _ => copilot::reply(number),
    }));
    let state = home.join(".copilot/session-state").join(session(9));
    // The last record has no end of its line, and is whole.
    write(&state.join("events.jsonl"), events.join("\n").as_bytes());
}

/// Prompts, answers, calls and results in turn, numbered from `from` on.
pub fn claude_talk(session: &str, from: u64, count: u64) -> Vec<String> {
    let line = |number: u64| match (number - from) % 4 {
        0 => claude::prompt(session, number),
        1 => claude::call(session, number),
        2 => claude::result(session, number, number - 1),
        _ => claude::reply(session, number),
    };
    (from..from + count).map(line).collect()
}

fn codex_talk(first: String, from: u64, count: u64) -> Vec<String> {
    let line = |number: u64| match (number - from) % 3 {
        0 => codex::prompt(number),
        1 => codex::reply(number),
        _ => codex::tokens(number, 100 * (number - from), 10 * (number - from)),
    };
    std::iter::once(first).chain((from..from + count).map(line)).collect()
}

fn gemini_message(number: u64) -> Value {
    match number % 2 {
        1 => gemini::prompt(number),
        _ => gemini::reply(number),
    }
}

/// Writes `lines` to `path`, each with its end.
pub fn write_lines(path: &Path, lines: &[String]) {
    write(path, (lines.join("\n") + "\n").as_bytes());
}

/// Writes `bytes` to `path`, and makes the folders on the way.
pub fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).expect("folders can be made");
    fs::write(path, bytes).expect("a file can be written");
}

/// Adds `bytes` to the file at `path`, which need not be there.
pub fn append(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).expect("folders can be made");
    let file = File::options().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(bytes)).expect("a file can be written");
}

/// Returns all files below `folder`, sorted.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => files.extend(files_below(&path)),
            path => files.push(path),
        }
    }
    files.sort();
    files
}
