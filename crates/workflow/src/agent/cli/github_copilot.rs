//! GitHub Copilot CLI: `copilot -p PROMPT --output-format=json`.
//!
//! It has no system prompt of the caller's, so one is told before the prompt.

use serde_json::{Value, json};

use super::{
    Cli, Ids, Invocation, Options, Question, SERVER, Serving, extra, fits_argument, fits_option,
};

pub(super) const CLI: Cli = Cli {
    name: "github_copilot",
    program: "copilot",
    surface: ("copilot", "stream"),
    ask,
    piece,
    tool_prefix: "quipu-",
    ids: Ids::OfModel,
    counts_whole_session: false,
};

fn ask(question: &Question<'_>, options: &mut Options) -> Result<Invocation, String> {
    let mut call = Invocation { sent: question.inlined(), ..Invocation::default() };
    call.joined("--resume", question.resume.map(str::to_owned));
    if fits_argument(&call.sent) {
        call.push(&["-p", &call.sent.clone()]);
    } else if fits_option(&call.sent) {
        call.joined("--prompt", Some(call.sent.clone()));
    } else {
        call.stdin = Some(call.sent.clone());
    }
    call.push(&["--output-format=json", "--no-color"]);
    for (name, keys) in [
        ("--model", &["model"][..]),
        ("--mode", &["mode"]),
        ("--effort", &["effort", "reasoning_effort"]),
        ("--agent", &["agent"]),
        ("--additional-mcp-config", &["additional_mcp_config", "mcp_config"]),
    ] {
        call.joined(name, options.text(keys));
    }
    for (name, keys) in [
        ("--allow-tool", &["allowed_tools", "allow_tools", "allow_tool"][..]),
        ("--deny-tool", &["denied_tools", "deny_tools", "deny_tool", "disallowed_tools"]),
        ("--available-tools", &["available_tools"]),
        ("--excluded-tools", &["excluded_tools"]),
        ("--add-dir", &["add_dir", "add_dirs"]),
    ] {
        for value in options.list(keys) {
            call.joined(name, Some(value));
        }
    }
    if let Some(serving) = question.serving {
        add_tools(&mut call, serving);
    }
    for (name, keys) in [
        ("--allow-all", &["allow_all", "dangerously_skip_permissions", "yolo"][..]),
        ("--allow-all-tools", &["allow_all_tools"]),
        ("--allow-all-paths", &["allow_all_paths"]),
        ("--no-custom-instructions", &["no_custom_instructions"]),
    ] {
        if options.is_set(keys) {
            call.push(&[name]);
        }
    }
    if options.is_set(&["disable_builtin_mcps"]) || question.intercepting().is_some() {
        call.push(&["--disable-builtin-mcps"]);
    }
    extra(&mut call, options);
    Ok(call)
}

/// Has it start our server. Its tools need no permission: what they may do is decided here.
fn add_tools(call: &mut Invocation, serving: &Serving) {
    let (command, args) = serving.program();
    let server = json!({
        "type": "local", "command": command, "args": args, "tools": ["*"], "timeout": Serving::patience_ms(),
    });
    let config = json!({ "mcpServers": serving.servers(server) }).to_string();
    call.joined("--additional-mcp-config", Some(config));
    call.joined("--allow-tool", Some(SERVER.to_owned()));
    if serving.intercepts {
        for tool in &serving.tools {
            call.joined("--available-tools", Some(format!("{}{tool}", CLI.tool_prefix)));
        }
    }
}

fn piece(record: &Value) -> Option<&str> {
    let is_piece = record["type"] == "assistant.message_delta" && record["agentId"].is_null();
    record.pointer("/data/deltaContent").filter(|_| is_piece)?.as_str()
}
