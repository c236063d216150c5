//! OpenCode: `opencode run --format json --thinking -- PROMPT`.
//!
//! It puts quotation marks around an argument with a space in it and sends them to the model, so such
//! a prompt goes by standard input. Its `-c` would continue whatever session was last: it is never
//! used. It has no system prompt of the caller's, so one is told before the prompt.

use super::{Cli, Invocation, Options, Question, Speech, extra, fits_option, no_piece};

pub(super) const CLI: Cli = Cli {
    name: "opencode",
    program: "opencode",
    surface: ("opencode", "stream"),
    ask,
    // A tool is told of when it is done.
    tool_begins: "",
    tool_ends: "",
    speech: Speech::Blocks,
    piece: no_piece,
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
    Ok(call)
}
