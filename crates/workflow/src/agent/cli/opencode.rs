//! OpenCode: `opencode run --format json --thinking -- PROMPT`.
//!
//! It puts quotation marks around an argument with a space in it and sends them to the model, so such
//! a prompt goes by standard input. Its `-c` would continue whatever session was last: it is never
//! used. It has no system prompt of the caller's, so one is told before the prompt.

use serde_json::{Value, json};

use super::{
    Cli, Ids, Invocation, Options, Question, Serving, extra, fits_option, merge, no_piece,
};

pub(super) const CLI: Cli = Cli {
    name: "opencode",
    program: "opencode",
    surface: ("opencode", "stream"),
    ask,
    piece: no_piece,
    tool_prefix: "quipu_",
    ids: Ids::OfModel,
    counts_whole_session: false,
};

fn ask(question: &Question<'_>, options: &mut Options) -> Result<Invocation, String> {
    let mut call = Invocation { sent: question.inlined(), ..Invocation::default() };
    call.push(&["run", "--format", "json"]);
    if options.flag(&["thinking"]) != Some(false) {
        call.push(&["--thinking"]);
    }
    call.option("--model", options.text(&["model"]));
    call.option("-s", question.resume.map(str::to_owned));
    if options.is_set(&["dangerously_skip_permissions", "yolo"]) {
        call.push(&["--dangerously-skip-permissions"]);
    }
    for (name, key) in [("--agent", "agent"), ("--variant", "variant"), ("--title", "title")] {
        call.option(name, options.text(&[key]));
    }
    for file in options.list(&["file", "files"]) {
        call.push(&["--file", &file]);
    }
    extra(&mut call, options);
    if fits_option(&call.sent) && !call.sent.contains(' ') {
        call.push(&["--", &call.sent.clone()]);
    } else {
        call.stdin = Some(call.sent.clone());
    }
    if let Some(serving) = question.serving {
        call.env.insert(CONFIG.to_owned(), config_of(serving).to_string());
    }
    Ok(call)
}

/// The variable that holds a configuration which comes before those in files.
const CONFIG: &str = "OPENCODE_CONFIG_CONTENT";

/// The names of its own tools, under which somebody may have allowed them.
const OWN_TOOLS: &[&str] = &[
    "*",
    "bash",
    "edit",
    "write",
    "read",
    "glob",
    "grep",
    "list",
    "task",
    "webfetch",
    "websearch",
    "codesearch",
    "todowrite",
    "todoread",
    "skill",
    "lsp",
    "patch",
    "multiedit",
    "question",
];

/// Returns the configuration that has it start our server, whose tools need no permission.
fn config_of(serving: &Serving) -> Value {
    let given = serving.variable(CONFIG).and_then(|text| serde_json::from_str(&text).ok());
    let mut config = given.filter(Value::is_object).unwrap_or_else(|| json!({}));
    let timeout = Serving::patience_ms();
    let server = json!({
        "type": "local", "command": serving.command, "enabled": true, "timeout": timeout,
    });
    merge(&mut config, json!({ "mcp": serving.servers(server) }));
    merge(&mut config, json!({ "experimental": { "mcp_timeout": timeout } }));
    if serving.intercepts {
        for tool in OWN_TOOLS {
            merge(&mut config, json!({ "permission": { *tool: "deny" } }));
        }
    }
    // The last rule that fits is the one that counts.
    merge(&mut config, json!({ "permission": { "quipu_*": "allow" } }));
    config
}
