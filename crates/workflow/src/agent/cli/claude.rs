//! Claude Code: `claude -p PROMPT --output-format stream-json --verbose`.
//!
//! `stream-json` needs `--verbose`. A prompt that cannot be an argument is read from standard input.

use std::io::Write;

use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::{Cli, Ids, Invocation, Options, Question, SERVER, extra, fits_argument, fits_option};

pub(super) const CLI: Cli = Cli {
    name: "claude",
    program: "claude",
    surface: ("claude", "stream"),
    ask,
    piece,
    tool_prefix: "mcp__quipu__",
    ids: Ids::OfStream,
    counts_whole_session: false,
};

fn ask(question: &Question<'_>, options: &mut Options) -> Result<Invocation, String> {
    let mut call = Invocation { args: vec!["-p".to_owned()], ..Invocation::default() };
    // A session keeps the system prompt that it began with, whatever flags it is resumed with.
    let continues_other = question.is_first && question.resume.is_some();
    call.sent = if continues_other { question.inlined() } else { question.prompt.to_owned() };
    if fits_argument(&call.sent) {
        call.args.push(call.sent.clone());
    } else {
        call.stdin = Some(call.sent.clone());
    }
    call.option("-r", question.resume.map(str::to_owned));
    call.option("--model", options.text(&["model"]));
    call.push(&["--output-format", "stream-json", "--verbose"]);
    if let Some(system) = question.system.filter(|_| !continues_other) {
        // What is only about tools must not take the place of all that it knows by itself.
        let adds = question.serving.is_some_and(|serving| serving.is_all_of_system);
        add_system(
            &mut call,
            system,
            if adds { "--append-system-prompt" } else { "--system-prompt" },
        )?;
    }
    add_tools(&mut call, question, options);
    if options.is_set(&["dangerously_skip_permissions"]) {
        call.push(&["--dangerously-skip-permissions"]);
    }
    for (name, key) in [
        ("--permission-mode", "permission_mode"),
        ("--append-system-prompt", "append_system_prompt"),
        ("--max-turns", "max_turns"),
        ("--max-budget-usd", "max_budget_usd"),
        ("--fallback-model", "fallback_model"),
        ("--effort", "effort"),
        ("--agent", "agent"),
        ("--agents", "agents"),
        ("--settings", "settings"),
        ("--json-schema", "json_schema"),
    ] {
        call.option(name, options.text(&[key]));
    }
    for dir in options.list(&["add_dir", "add_dirs"]) {
        call.push(&["--add-dir", &dir]);
    }
    for (name, key) in [
        ("--forward-subagent-text", "forward_subagent_text"),
        ("--include-partial-messages", "include_partial_messages"),
    ] {
        if options.is_set(&[key]) {
            call.push(&[name]);
        }
    }
    extra(&mut call, options);
    Ok(call)
}

/// Pieces are printed only to those who ask for them.
fn piece(record: &Value) -> Option<&str> {
    let is_piece = record["type"] == "stream_event" && record["parent_tool_use_id"].is_null();
    record.pointer("/event/delta/text").filter(|_| is_piece)?.as_str()
}

/// Says which tools it has. Ours need no permission: what they may do is decided here.
fn add_tools(call: &mut Invocation, question: &Question<'_>, options: &mut Options) {
    let mut allowed = options.list(&["allowed_tools"]);
    let mut configs = Vec::from_iter(options.text(&["mcp_config"]));
    if let Some(serving) = question.serving {
        allowed.push(format!("mcp__{SERVER}"));
        let (command, args) = serving.program();
        let server = json!({ "type": "stdio", "command": command, "args": args });
        configs.push(json!({ "mcpServers": serving.servers(server) }).to_string());
    }
    let joined = |list: Vec<String>| Some(list.join(",")).filter(|list| !list.is_empty());
    call.option("--allowedTools", joined(allowed));
    let disallowed = options.list(&["disallowed_tools", "denied_tools"]);
    call.option("--disallowedTools", joined(disallowed));
    let own = joined(options.list(&["tools"]));
    call.option("--tools", own.or_else(|| question.intercepting().map(|_| String::new())));
    if !configs.is_empty() {
        call.push(&["--mcp-config"]);
        call.args.extend(configs);
    }
    if options.is_set(&["strict_mcp_config"]) || question.intercepting().is_some() {
        call.push(&["--strict-mcp-config"]);
    }
}

fn add_system(call: &mut Invocation, system: &str, option: &str) -> Result<(), String> {
    if fits_option(system) {
        call.push(&[option, system]);
        return Ok(());
    }
    let write = || {
        let mut file = NamedTempFile::with_prefix("system-prompt-")?;
        file.write_all(system.as_bytes())?;
        Ok::<_, std::io::Error>(file)
    };
    let file = write().map_err(|cause| format!("the system prompt cannot be stored: {cause}"))?;
    call.push(&[&format!("{option}-file"), &file.path().to_string_lossy()]);
    call.file = Some(file);
    Ok(())
}
