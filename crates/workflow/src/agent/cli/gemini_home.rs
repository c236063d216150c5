//! A home for Gemini CLI in which its settings also name our server; everything else in it is the user's.
//!
//! There is no flag for an MCP server, and only root can set one up for everybody. So it gets a directory
//! of links to what stands in the user's own, with settings of its own beside them. The user's settings
//! are read and never written.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Invocation, SERVER, Serving, merge};

/// The variable that says where its home is.
const HOME: &str = "GEMINI_CLI_HOME";
/// Its directory there.
const FOLDER: &str = ".gemini";
const SETTINGS: &str = "settings.json";
/// Where it keeps its sessions: they must be there for the next turn.
const SESSIONS: &str = "tmp";

/// Makes the home, and has the program use it.
pub(super) fn prepare(
    call: &mut Invocation,
    serving: &Serving,
    prefix: &str,
) -> Result<(), String> {
    let home = serving.variable(HOME).or_else(|| serving.variable("HOME"));
    let Some(home) = home.map(PathBuf::from) else {
        return Err("there is no home directory, so it cannot be told of the tools".to_owned());
    };
    let made = furnish(&home.join(FOLDER), serving, prefix);
    let scratch = made.map_err(|cause| format!("it cannot be told of the tools: {cause}"))?;
    call.env.insert(HOME.to_owned(), scratch.path().display().to_string());
    call.scratch = Some(scratch);
    Ok(())
}

fn furnish(own: &Path, serving: &Serving, prefix: &str) -> io::Result<TempDir> {
    let scratch = tempfile::Builder::new().prefix("quipu-gemini-").tempdir()?;
    let folder = scratch.path().join(FOLDER);
    fs::DirBuilder::new().mode(0o700).create(&folder)?;
    // It makes this directory by itself; a link to it needs it before.
    fs::DirBuilder::new().recursive(true).mode(0o700).create(own.join(SESSIONS))?;
    for entry in fs::read_dir(own)? {
        let name = entry?.file_name();
        if name != SETTINGS {
            symlink(own.join(&name), folder.join(&name))?;
        }
    }
    let settings = with_tools(read_settings(&own.join(SETTINGS))?, serving, prefix);
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(folder.join(SETTINGS))?;
    file.write_all(settings.to_string().as_bytes())?;
    Ok(scratch)
}

/// Reads the user's settings. None are as good as empty ones; those that nobody can read are an error.
fn read_settings(file: &Path) -> io::Result<Value> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(json!({})),
        Err(cause) => return Err(cause),
    };
    let settings: Value = serde_json::from_str(&without_comments(&text)).map_err(|cause| {
        io::Error::new(io::ErrorKind::InvalidData, format!("{}: {cause}", file.display()))
    })?;
    Ok(if settings.is_object() { settings } else { json!({}) })
}

fn with_tools(mut settings: Value, serving: &Serving, prefix: &str) -> Value {
    let (command, args) = serving.program();
    let timeout = Serving::patience_ms();
    // Trusted: its calls need no permission, because what they may do is decided here.
    let server = json!({ "command": command, "args": args, "trust": true, "timeout": timeout });
    merge(&mut settings, json!({ "mcpServers": serving.servers(server) }));
    if serving.intercepts {
        let names: Vec<String> =
            serving.tools.iter().map(|tool| format!("{prefix}{tool}")).collect();
        merge(&mut settings, json!({ "tools": { "core": names }, "mcp": { "allowed": [SERVER] } }));
    } else if let Some(Value::Array(allowed)) = settings.pointer_mut("/mcp/allowed") {
        allowed.push(json!(SERVER));
    }
    settings
}

/// Takes the comments out of JSON: the program allows them.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let length = match sign {
            '"' => string_length(rest),
            '/' if rest.starts_with("//") => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest.split_once("*/").map_or("", |(_, behind)| behind);
                continue;
            }
            sign => sign.len_utf8(),
        };
        plain.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    plain
}

/// Returns how long the string is that a text begins with, its quotation marks included.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, sign) in text.char_indices().skip(1) {
        match sign {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests;
