//! Codex: `codex exec --json PROMPT`, `codex exec resume SESSION --json PROMPT`.
//!
//! It has no flag for a system prompt; `developer_instructions` is the configuration for one, and a
//! resumed session does not read it again. `resume` knows no `--sandbox`: there it is configuration.

use serde_json::Value;

use super::{
    Cli, Ids, Invocation, Options, Question, SERVER, Serving, as_text, extra, fits_argument,
    fits_option, no_piece,
};

pub(super) const CLI: Cli = Cli {
    name: "codex",
    program: "codex",
    surface: ("codex", "exec"),
    ask,
    piece: no_piece,
    // On its stream a call is an item with a number.
    tool_prefix: "",
    ids: Ids::OfModel,
    counts_whole_session: true,
};

/// Its features that give the model tools.
const OWN_TOOLS: &[&str] =
    &["shell_tool", "unified_exec", "view_image", "multi_agent", "goals", "apps"];

fn ask(question: &Question<'_>, options: &mut Options) -> Result<Invocation, String> {
    let mut call = Invocation { args: vec!["exec".to_owned()], ..Invocation::default() };
    call.option("resume", question.resume.map(str::to_owned));
    call.push(&["--json"]);
    if options.flag(&["skip_git_repo_check"]) != Some(false) {
        call.push(&["--skip-git-repo-check"]);
    }
    call.option("--model", options.text(&["model"]));
    add_safety(&mut call, question, options);
    call.option("--profile", options.text(&["profile"]));
    for (key, names) in [
        ("approval_policy", &["approval_policy"][..]),
        ("model_reasoning_effort", &["reasoning_effort", "model_reasoning_effort", "effort"]),
    ] {
        if let Some(value) = options.text(names) {
            add_config(&mut call, key, &toml_text(&value));
        }
    }
    if let Some(serving) = question.serving {
        add_tools(&mut call, serving);
    }
    add_configs(&mut call, options);
    for dir in options.list(&["add_dir", "add_dirs"]) {
        call.push(&["--add-dir", &dir]);
    }
    call.option("--output-schema", options.text(&["output_schema"]));
    extra(&mut call, options);
    call.sent = question.prompt.to_owned();
    if let Some(system) = question.news() {
        let instructions = toml_text(system);
        if question.resume.is_none() && fits_option(&instructions) {
            add_config(&mut call, "developer_instructions", &instructions);
        } else {
            call.sent = question.inlined();
        }
    }
    if fits_argument(&call.sent) {
        call.args.push(call.sent.clone());
    } else {
        call.push(&["-"]);
        call.stdin = Some(call.sent.clone());
    }
    Ok(call)
}

fn add_safety(call: &mut Invocation, question: &Question<'_>, options: &mut Options) {
    let is_unsafe = options.is_set(&[
        "dangerously_skip_permissions",
        "dangerously_bypass_approvals_and_sandbox",
        "yolo",
    ]);
    let full_auto = options.is_set(&["full_auto"]).then(|| "workspace-write".to_owned());
    let sandbox = options.text(&["sandbox", "sandbox_mode"]).or(full_auto);
    let sandbox = sandbox.or_else(|| question.intercepting().map(|_| "read-only".to_owned()));
    match sandbox {
        _ if is_unsafe => call.push(&["--dangerously-bypass-approvals-and-sandbox"]),
        Some(sandbox) if question.resume.is_none() => call.push(&["--sandbox", &sandbox]),
        Some(sandbox) => add_config(call, "sandbox_mode", &toml_text(&sandbox)),
        None => {}
    }
}

/// Has it start our server, whose calls nobody needs to approve: what they may do is decided here.
fn add_tools(call: &mut Invocation, serving: &Serving) {
    let (command, args) = serving.program();
    let args: Vec<String> = args.iter().map(|arg| toml_text(arg)).collect();
    let patience = Serving::patience().as_secs().to_string();
    for (key, value) in [
        ("command", toml_text(command)),
        ("args", format!("[{}]", args.join(","))),
        ("default_tools_approval_mode", toml_text("approve")),
        ("startup_timeout_sec", "30".to_owned()),
        ("tool_timeout_sec", patience),
    ] {
        add_config(call, &format!("mcp_servers.{SERVER}.{key}"), &value);
    }
    if serving.intercepts {
        for feature in OWN_TOOLS {
            add_config(call, &format!("features.{feature}"), "false");
        }
        add_config(call, "web_search", &toml_text("disabled"));
        call.limit =
            Some("`apply_patch` cannot be switched off; the sandbox decides what it may change");
    }
}

/// Adds the settings that a step names itself: a map, or a list of `key=value`.
fn add_configs(call: &mut Invocation, options: &mut Options) {
    match options.value(&["config"]) {
        Some(Value::Object(map)) => {
            for (key, value) in &map {
                let value = match value {
                    Value::String(text) => toml_text(text),
                    other => as_text(other),
                };
                add_config(call, key, &value);
            }
        }
        Some(Value::Array(items)) => {
            items.iter().for_each(|item| call.push(&["-c", &as_text(item)]))
        }
        Some(other) => call.push(&["-c", &as_text(&other)]),
        None => {}
    }
}

fn add_config(call: &mut Invocation, key: &str, value: &str) {
    call.push(&["-c", &format!("{key}={value}")]);
}

/// Returns a text as TOML writes it. JSON's escapes are TOML's, but for DEL.
fn toml_text(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
