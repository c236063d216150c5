//! Claude Code: `claude -p PROMPT --output-format stream-json --verbose`.
//!
//! `stream-json` needs `--verbose`. A prompt that cannot be an argument is read from standard input.

use std::io::Write;

use serde_json::Value;
use tempfile::NamedTempFile;

use super::{Cli, Invocation, Options, Question, Speech, extra, fits_argument, fits_option};

pub(super) const CLI: Cli = Cli {
    name: "claude",
    program: "claude",
    surface: ("claude", "stream"),
    ask,
    tool_begins: r#""type":"tool_use""#,
    tool_ends: r#""type":"tool_result""#,
    speech: Speech::Blocks,
    piece,
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
        add_system(&mut call, system)?;
    }
    for (name, key) in [
        ("--allowedTools", &["allowed_tools"][..]),
        ("--disallowedTools", &["disallowed_tools", "denied_tools"]),
        ("--tools", &["tools"]),
    ] {
        call.option(name, Some(options.list(key).join(",")).filter(|tools| !tools.is_empty()));
    }
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
        ("--mcp-config", "mcp_config"),
        ("--json-schema", "json_schema"),
    ] {
        call.option(name, options.text(&[key]));
    }
    for dir in options.list(&["add_dir", "add_dirs"]) {
        call.push(&["--add-dir", &dir]);
    }
    for (name, key) in [
        ("--strict-mcp-config", "strict_mcp_config"),
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

fn add_system(call: &mut Invocation, system: &str) -> Result<(), String> {
    if fits_option(system) {
        call.push(&["--system-prompt", system]);
        return Ok(());
    }
    let write = || {
        let mut file = NamedTempFile::with_prefix("system-prompt-")?;
        file.write_all(system.as_bytes())?;
        Ok::<_, std::io::Error>(file)
    };
    let file = write().map_err(|cause| format!("the system prompt cannot be stored: {cause}"))?;
    call.push(&["--system-prompt-file", &file.path().to_string_lossy()]);
    call.file = Some(file);
    Ok(())
}
