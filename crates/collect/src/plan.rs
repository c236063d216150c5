//! Which files make up which session: subagents belong to the session that began them.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use quipu_event::RunId;
use quipu_provider::{Provider, Surface};

use crate::discover::{FileStamp, Found};
use crate::forks;
use crate::identity::{Identity, Role};
use crate::input::{is_compressed, plain_form};
use crate::run_id::run_of_session;

/// A session, and the files of it that are to be read.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) run_id: RunId,
    pub(crate) provider: &'static Provider,
    /// The agent's own name for it.
    pub(crate) session: String,
    /// The session whose history it goes on from, if its first record says so.
    pub(crate) forked_from: Option<String>,
    /// Its files: the main agent's first, then in the order in which they came to be.
    pub(crate) sources: Vec<SourceFile>,
    /// Files that say what one of those says, or less.
    pub(crate) repeats: Vec<PathBuf>,
}

impl Session {
    /// Tells whether `file` may begin with a copy of another session that only its records' ids
    /// give away. Others say themselves what they have copied.
    pub(crate) fn may_be_copied(&self, file: &SourceFile) -> bool {
        self.provider.name == forks::COPIER && file.agent.is_none()
    }
}

/// One file of a session.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    pub(crate) surface: &'static Surface,
    /// The subagent that speaks in it.
    pub(crate) agent: Option<String>,
    pub(crate) stamp: FileStamp,
    pub(crate) born: SystemTime,
}

impl SourceFile {
    /// Returns what the file is called within its session, wherever the session lies.
    pub(crate) fn key(&self) -> String {
        key_of(&self.path)
    }

    /// Tells whether its agent writes it anew as a whole instead of adding to it.
    pub(crate) fn is_document(&self) -> bool {
        plain_form(&self.path).extension().is_some_and(|extension| extension == "json")
    }

    /// Returns the folder in which the sessions lie that it may be a copy of.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

/// Returns what the file at `path` is called within its session.
///
/// A folder that is renamed, a file that is archived or compressed: the name stays.
pub(crate) fn key_of(path: &Path) -> String {
    let plain = plain_form(path);
    let parts: Vec<_> = plain.iter().filter_map(|part| part.to_str()).collect();
    let from = parts.iter().rposition(|part| *part == "subagents");
    let from = from.unwrap_or(parts.len().saturating_sub(1));
    parts[from..].join("/")
}

/// What was found before.
#[derive(Default)]
pub(crate) struct Memory {
    /// Whose sessions there were.
    pub(crate) sessions: Vec<(&'static str, Identity)>,
    /// The session of the run that each file is a part of.
    pub(crate) roots: HashMap<PathBuf, String>,
}

/// What is known of each file: what it is, and whose session it holds.
pub(crate) type Identified = (Found, Identity);

/// Puts files together to sessions, in a stable order.
///
/// `memory` is what was found before: a file stays with the run it was a part of, and those that
/// are gone may have been what others belong to.
pub(crate) fn plan(files: Vec<Identified>, memory: &Memory) -> Vec<Session> {
    let found = files.iter().map(|(found, id)| (found.provider.name, id));
    let parents = Parents::of(found, &memory.sessions);
    let root_of = |(found, identity): &Identified| match memory.roots.get(&found.path) {
        Some(root) => root.clone(),
        None => parents.root_of(found.provider.name, identity),
    };
    let roots: Vec<String> = files.iter().map(root_of).collect();
    let mut sessions: Vec<Session> = Vec::new();
    let mut places: HashMap<RunId, usize> = HashMap::new();
    for ((found, identity), session) in files.into_iter().zip(roots) {
        let run_id = run_of_session(found.provider.name, &session);
        let place = *places.entry(run_id.clone()).or_insert(sessions.len());
        if place == sessions.len() {
            let provider = found.provider;
            let (sources, repeats) = (Vec::new(), Vec::new());
            let forked_from = None;
            sessions.push(Session { run_id, provider, session, forked_from, sources, repeats });
        }
        let session = &mut sessions[place];
        let agent = match identity.role {
            Role::Main => {
                session.forked_from = identity.forked_from.or(session.forked_from.take());
                None
            }
            Role::Subagent { id, .. } => Some(id),
        };
        let Found { surface, path, stamp, born, .. } = found;
        session.sources.push(SourceFile { path, surface, agent, stamp, born });
    }
    for session in &mut sessions {
        let paths: Vec<PathBuf> = session.sources.iter().map(|s| s.path.clone()).collect();
        order(&mut session.sources);
        let is_read = |path: &PathBuf| session.sources.iter().any(|s| s.path == *path);
        session.repeats = paths.into_iter().filter(|path| !is_read(path)).collect();
    }
    sessions
}

/// Puts the main agent's files first, and leaves out those that another one repeats.
fn order(sources: &mut Vec<SourceFile>) {
    sources.sort_by(|a, b| {
        let rank = |source: &SourceFile| (source.agent.is_some(), source.born, source.key());
        rank(a).cmp(&rank(b))
    });
    // For a moment a file and its compressed form are both there; the plain one is newer.
    let plain: Vec<PathBuf> =
        sources.iter().map(|s| s.path.clone()).filter(|path| !is_compressed(path)).collect();
    sources.retain(|s| !is_compressed(&s.path) || !plain.contains(&plain_form(&s.path)));
    // Of two copies the longer one says more.
    let sizes: Vec<(String, u64)> = sources.iter().map(|s| (s.key(), s.stamp.size)).collect();
    let mut seen = HashSet::new();
    sources.retain(|source| {
        let (key, size) = (source.key(), source.stamp.size);
        let is_longest = sizes.iter().all(|(other, length)| *other != key || *length <= size);
        is_longest && seen.insert(key)
    });
    // A chat that was resumed by a newer version goes on in a file of lines.
    let has_lines = sources.iter().any(|s| s.agent.is_none() && !s.is_document());
    if has_lines {
        sources.retain(|s| s.agent.is_some() || !s.is_document());
    }
}

/// Which session has begun which.
struct Parents<'a> {
    parents: HashMap<(&'static str, &'a str), &'a str>,
}

impl<'a> Parents<'a> {
    fn of(
        files: impl Iterator<Item = (&'static str, &'a Identity)>,
        known: &'a [(&'static str, Identity)],
    ) -> Parents<'a> {
        let known = known.iter().map(|(provider, identity)| (*provider, identity));
        let parents = files.chain(known).filter_map(|(provider, identity)| match &identity.role {
            Role::Subagent { parent, .. } => Some(((provider, &*identity.session), &**parent)),
            Role::Main => None,
        });
        Parents { parents: parents.collect() }
    }

    /// Returns the session that began the one that began … this one.
    fn root_of(&self, provider: &'static str, identity: &Identity) -> String {
        let mut session = match &identity.role {
            Role::Main => &identity.session,
            Role::Subagent { parent, .. } => &**parent,
        };
        // Those that name each other go round no more often than there are files.
        for _ in 0..self.parents.len() {
            match self.parents.get(&(provider, session)) {
                Some(parent) => session = parent,
                None => break,
            }
        }
        session.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_its_name_wherever_it_is_moved() {
        let cases = [
            ("/h/.codex/sessions/2026/01/02/rollout-1.jsonl", "rollout-1.jsonl"),
            ("/h/.codex/archived_sessions/rollout-1.jsonl.zst", "rollout-1.jsonl"),
            ("/h/p/s/subagents/agent-1.jsonl", "subagents/agent-1.jsonl"),
            ("/h/p/s/subagents/workflows/w/agent-1.jsonl", "subagents/workflows/w/agent-1.jsonl"),
        ];
        for (path, key) in cases {
            assert_eq!(key_of(Path::new(path)), key);
        }
    }
}
