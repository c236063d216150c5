//! Whose session a file holds: by its name where that says it, else by its first record.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::discover::Found;
use crate::input::{Input, first_line, plain_form};

/// The first record of a thread carries its instructions and may be long.
const HEAD: usize = 1024 * 1024;

/// A session that has written nothing but notes for so long is not going to be a copy.
const YOUNG: Duration = Duration::from_secs(60);

/// Whose session a file holds, and which part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The agent's own name for the session.
    pub(crate) session: String,
    /// Who speaks in it.
    pub(crate) role: Role,
    /// The session whose history this one goes on from.
    pub(crate) forked_from: Option<String>,
}

/// Who speaks in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The agent that the user talks to.
    Main,
    /// An agent that another one has begun.
    Subagent {
        /// Its id.
        id: String,
        /// The session of the one that has begun it.
        parent: String,
    },
}

impl Identity {
    /// Finds out whose session `found` holds; nothing if its first record is not whole yet.
    pub(crate) fn of(found: &Found) -> Option<Self> {
        let path = plain_form(&found.path);
        Some(match found.provider.name {
            "claude" => return claude(&path),
            "codex" => codex(&path, &head_of(found)?),
            "gemini" => gemini(&path, &head_of(found)?),
            "copilot" => copilot(&path),
            _ => Identity::main(stem(&path)),
        })
    }

    fn main(session: impl Into<String>) -> Self {
        Identity { session: session.into(), role: Role::Main, forked_from: None }
    }

    fn subagent(id: &str, parent: impl Into<String>) -> Self {
        let role = Role::Subagent { id: id.to_owned(), parent: parent.into() };
        Identity { session: id.to_owned(), role, forked_from: None }
    }
}

/// `<session>.jsonl`, `<session>/subagents/**/agent-<id>.jsonl`, and formerly `agent-<id>.jsonl`.
fn claude(path: &Path) -> Option<Identity> {
    let Some(id) = stem(path).strip_prefix("agent-") else {
        return has_begun(path).then(|| Identity::main(stem(path)));
    };
    let parts: Vec<_> = path.iter().filter_map(|part| part.to_str()).collect();
    if let Some(at) = parts.iter().rposition(|part| *part == "subagents")
        && at > 0
    {
        return Some(Identity::subagent(id, parts[at - 1]));
    }
    let head: Value = serde_json::from_slice(&whole_head(path)?).unwrap_or_default();
    Some(match head["sessionId"].as_str() {
        Some(parent) if head["isSidechain"] == true => Identity::subagent(id, parent),
        _ => Identity::main(stem(path)),
    })
}

/// Tells whether a session has come to its first record proper, by which a copy is known, or is
/// not going to.
fn has_begun(path: &Path) -> bool {
    let mut head = vec![0; 64 * 1024];
    let Ok(read) = Input::open(path).and_then(|mut input| input.read_at(0, &mut head)) else {
        return true;
    };
    let is_silent = || {
        let modified = std::fs::metadata(path).and_then(|found| found.modified());
        modified.ok().and_then(|time| time.elapsed().ok()).is_none_or(|age| age > YOUNG)
    };
    let has_id = memchr::memmem::find(&head[..read], b"\"uuid\":").is_some();
    read == 0 || has_id || read == head.len() || is_silent()
}

/// The first `session_meta` is the thread's own; one that was begun by another names that one.
fn codex(path: &Path, head: &Value) -> Identity {
    let meta = if head["payload"].is_object() { &head["payload"] } else { head };
    let session = meta["id"].as_str().unwrap_or_else(|| thread_in_name(stem(path)));
    let spawn = &meta["source"]["subagent"]["thread_spawn"]["parent_thread_id"];
    let parent = spawn.as_str().or_else(|| meta["parent_thread_id"].as_str());
    let is_begun = meta["source"]["subagent"].is_object() || meta["source"]["subagent"].is_string();
    match parent {
        Some(parent) if is_begun && parent != session => Identity::subagent(session, parent),
        _ => {
            let forked_from = meta["forked_from_id"].as_str().map(str::to_owned);
            Identity { forked_from, ..Identity::main(session) }
        }
    }
}

/// `rollout-<time>-<thread>` or `rollout-<time>-<thread>_<rollout>`; an id has 36 characters.
fn thread_in_name(stem: &str) -> &str {
    let stem = stem.split_once('_').map_or(stem, |(stem, _)| stem);
    stem.len().checked_sub(36).and_then(|at| stem.get(at..)).unwrap_or(stem)
}

/// `chats/session-<time>-<id>.jsonl`, and `chats/<session>/<id>.jsonl` for subagents.
fn gemini(path: &Path, head: &Value) -> Identity {
    let session = head["sessionId"].as_str().unwrap_or_else(|| stem(path));
    let folder = path.parent().map(stem).unwrap_or_default();
    match folder {
        "chats" => Identity::main(session),
        parent => Identity::subagent(session, parent),
    }
}

/// `session-state/<session>/events.jsonl`, and formerly `session_<session>_<time>.json`.
fn copilot(path: &Path) -> Identity {
    let name = stem(path);
    match name.strip_prefix("session_").and_then(|name| name.rsplit_once('_')) {
        Some((session, _)) => Identity::main(session),
        None => Identity::main(path.parent().map(stem).unwrap_or(name)),
    }
}

fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

/// Returns the first record, or as much of a document's beginning as names its session.
fn head_of(found: &Found) -> Option<Value> {
    let head = whole_head(&found.path)?;
    Some(match serde_json::from_slice(&head) {
        Ok(value) => value,
        Err(_) => session_of_document(&found.path).unwrap_or_default(),
    })
}

/// Returns the first line, if it has ended or needs no end.
fn whole_head(path: &Path) -> Option<Vec<u8>> {
    let (line, has_ended) = first_line(path, HEAD).ok()?;
    let is_whole = || serde_json::from_slice::<serde::de::IgnoredAny>(&line).is_ok();
    (has_ended || is_whole()).then_some(line)
}

/// Finds the session's id in a document that goes over many lines.
fn session_of_document(path: &Path) -> Option<Value> {
    let mut text = vec![0; 64 * 1024];
    let read = Input::open(path).ok()?.read_at(0, &mut text).ok()?;
    let text = String::from_utf8_lossy(&text[..read]);
    let (_, behind) = text.split_once("\"sessionId\"")?;
    let value = behind.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let (session, _) = value.split_once('"')?;
    Some(serde_json::json!({ "sessionId": session }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_whose_session_it_is() {
        let main = claude(Path::new("/h/.claude/projects/p/s1.jsonl"));
        assert_eq!(main, Some(Identity::main("s1")));
        let agent =
            claude(Path::new("/h/.claude/projects/p/s1/subagents/workflows/w/agent-a.jsonl"));
        assert_eq!(agent, Some(Identity::subagent("a", "s1")));
        assert_eq!(copilot(Path::new("/h/session-state/s2/events.jsonl")), Identity::main("s2"));
        assert_eq!(copilot(Path::new("/h/x/session_s_3_1700.json")), Identity::main("s_3"));
        let name = "rollout-2026-01-01T00-00-00-019ddeed-bc6c-7df1-a1b3-f372c7e69cc8_r2";
        assert_eq!(thread_in_name(name), "019ddeed-bc6c-7df1-a1b3-f372c7e69cc8");
    }
}
