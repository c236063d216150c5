//! Gemini CLI: `gemini --output-format stream-json -p PROMPT`.
//!
//! The file it takes a system prompt from replaces its own with all it knows about its tools, so a
//! system prompt is told before the prompt instead.

use serde_json::Value;

use super::{
    Cli, Ids, Invocation, Options, Question, SERVER, extra, fits_argument, fits_option, gemini_home,
};

pub(super) const CLI: Cli = Cli {
    name: "gemini",
    program: "gemini",
    surface: ("gemini", "stream"),
    ask,
    piece,
    tool_prefix: "mcp_quipu_",
    ids: Ids::OfModel,
    counts_whole_session: false,
};

fn ask(question: &Question<'_>, options: &mut Options) -> Result<Invocation, String> {
    let mut call = Invocation { sent: question.inlined(), ..Invocation::default() };
    let yolo = options.is_set(&["dangerously_skip_permissions", "yolo"]);
    let mode = options.text(&["approval_mode"]).or_else(|| yolo.then(|| "yolo".to_owned()));
    call.joined("--approval-mode", mode);
    call.push(&["--output-format", "stream-json"]);
    call.option("--model", options.text(&["model"]));
    call.option("--resume", question.resume.map(str::to_owned));
    if let Some(serving) = question.serving {
        gemini_home::prepare(&mut call, serving, CLI.tool_prefix)?;
        if serving.intercepts {
            call.joined("--allowed-mcp-server-names", Some(SERVER.to_owned()));
        }
    }
    for (name, keys) in [
        ("--allowed-tools", &["allowed_tools"][..]),
        ("--include-directories", &["include_directories", "add_dir", "add_dirs"]),
        ("--allowed-mcp-server-names", &["allowed_mcp_server_names"]),
        ("--extensions", &["extensions"]),
        ("--policy", &["policy"]),
    ] {
        for value in options.list(keys) {
            call.joined(name, Some(value));
        }
    }
    for (name, key) in [("--skip-trust", "skip_trust"), ("--sandbox", "sandbox")] {
        if options.is_set(&[key]) {
            call.push(&[name]);
        }
    }
    extra(&mut call, options);
    if fits_argument(&call.sent) {
        call.push(&["-p", &call.sent.clone()]);
    } else if fits_option(&call.sent) {
        call.joined("--prompt", Some(call.sent.clone()));
    } else {
        call.stdin = Some(call.sent.clone());
    }
    Ok(call)
}

fn piece(record: &Value) -> Option<&str> {
    let is_piece = record["role"] == "assistant" && record["delta"] == true;
    record["content"].as_str().filter(|_| is_piece)
}
