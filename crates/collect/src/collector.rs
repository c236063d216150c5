//! All sessions on a disk: found, put together, and compared with what was collected before.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::time::SystemTime;

use quipu_event::RunId;
use quipu_journal::Layout;
use quipu_provider::Provider;

use crate::cache::Cache;
use crate::discover::{FileStamp, Found, discover};
use crate::homes::{Homes, Root};
use crate::identity::Identity;
use crate::plan::{Session, plan};
use crate::store::Store;

/// Records the sessions that agents leave behind.
pub struct Collector {
    store: Store,
    roots: Vec<Root>,
    /// Sessions that have not changed since then are left alone.
    since: Option<SystemTime>,
}

/// What there is to collect.
pub struct Plan {
    /// Sessions of which one may be a copy of another are collected in the order of their birth.
    pub(crate) families: Vec<Vec<Session>>,
    pub(crate) identities: Vec<Part>,
    pub(crate) cache: Cache,
    /// What need not be read, by provider.
    pub unchanged: BTreeMap<&'static str, u64>,
    /// How many files are to be read.
    pub files: u64,
    /// How many bytes they have.
    pub bytes: u64,
}

/// A session that is to be collected.
#[derive(Debug)]
pub struct PlannedSession {
    /// The run it is recorded as.
    pub run_id: RunId,
    /// Whose session it is.
    pub provider: &'static str,
    /// The agent's own name for it.
    pub session: String,
    /// Its files that are to be read, the main agent's first.
    pub files: Vec<PathBuf>,
    /// How many bytes they have.
    pub bytes: u64,
    /// Whether its run has no transcript yet.
    pub is_new: bool,
}

/// A file that is to be read, and what it is a part of.
pub(crate) struct Part {
    pub(crate) path: PathBuf,
    pub(crate) stamp: FileStamp,
    pub(crate) identity: Identity,
    pub(crate) provider: &'static str,
    /// The session of the run.
    pub(crate) root: String,
    pub(crate) run: RunId,
}

impl Collector {
    /// Makes a collector of the sessions of `providers` below `homes`.
    pub fn new(store: Store, homes: &Homes, providers: &[&'static Provider]) -> Self {
        Collector { store, roots: homes.roots(providers), since: None }
    }

    /// Leaves alone what has not changed since `time`.
    pub fn since(mut self, time: SystemTime) -> Self {
        self.since = Some(time);
        self
    }

    /// Returns the folders that are searched.
    pub fn folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<_> = self.roots.iter().map(|root| root.folder.clone()).collect();
        folders.dedup();
        folders
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// Finds out what there is to collect, and changes nothing.
    pub fn plan(&self) -> Plan {
        let cache = Cache::read(&self.store.layout);
        let mut unchanged: BTreeMap<&'static str, u64> = BTreeMap::new();
        let (mut files, mut same) = (Vec::new(), Vec::new());
        for found in discover(&self.roots) {
            if self.is_too_old(&found) {
                continue;
            }
            match cache.unchanged(&found.path, found.stamp, &self.store.layout) {
                Some(entry) => same.push((found, entry.identity())),
                None => files.extend(Identity::of(&found).map(|identity| (found, identity))),
            }
        }
        // Which of several files of the same agent is to be read can be told of all of them only.
        let name =
            |(found, identity): &(Found, Identity)| (found.provider.name, identity.session.clone());
        let changed: HashSet<_> = files.iter().map(name).collect();
        for file in same {
            if changed.contains(&name(&file)) {
                files.extend(Identity::of(&file.0).map(|identity| (file.0, identity)));
            } else {
                *unchanged.entry(file.0.provider.name).or_default() += 1;
            }
        }
        let looked_at: Vec<_> = files
            .iter()
            .map(|(found, identity)| (found.path.clone(), found.stamp, identity.clone()))
            .collect();
        let sessions = plan(files, &cache.memory());
        let identities = identified(looked_at, &sessions);
        let sources = sessions.iter().flat_map(|session| &session.sources);
        let (count, bytes) =
            sources.fold((0, 0), |(n, bytes), file| (n + 1, bytes + file.stamp.size));
        let families = families(sessions);
        Plan { families, identities, cache, unchanged, files: count, bytes }
    }

    /// Tells whether a file has not changed since collecting is to begin.
    pub(crate) fn is_too_old(&self, found: &Found) -> bool {
        let Some(since) = self.since else { return false };
        let since = since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        found.stamp.modified_ns < since.as_nanos() as i128
    }
}

impl Plan {
    /// Returns the sessions that are to be collected.
    pub fn sessions(&self, layout: &Layout) -> Vec<PlannedSession> {
        let planned = |session: &Session| PlannedSession {
            run_id: session.run_id.clone(),
            provider: session.provider.name,
            session: session.session.clone(),
            files: session.sources.iter().map(|file| file.path.clone()).collect(),
            bytes: session.sources.iter().map(|file| file.stamp.size).sum(),
            is_new: !layout.transcript(&session.run_id).exists(),
        };
        self.families.iter().flatten().map(planned).collect()
    }
}

/// Says of each file which run it is a part of, also of those that another one repeats.
fn identified<'a>(
    files: Vec<(PathBuf, FileStamp, Identity)>,
    sessions: &'a [Session],
) -> Vec<Part> {
    let paths_of = |session: &'a Session| {
        let sources = session.sources.iter().map(|file| &file.path);
        sources.chain(&session.repeats).map(move |path| (path, session))
    };
    let parts: HashMap<&PathBuf, &Session> = sessions.iter().flat_map(paths_of).collect();
    let identified = files.into_iter().filter_map(|(path, stamp, identity)| {
        let session = parts.get(&path)?;
        let (root, run) = (session.session.clone(), session.run_id.clone());
        Some(Part { path, stamp, identity, provider: session.provider.name, root, run })
    });
    identified.collect()
}

/// Puts the sessions together of which one may be a copy of another; the largest families first.
fn families(sessions: Vec<Session>) -> Vec<Vec<Session>> {
    let mut families: BTreeMap<PathBuf, Vec<Session>> = BTreeMap::new();
    for session in sessions {
        let main = session.sources.iter().find(|file| file.agent.is_none());
        let key = match main {
            Some(main) if session.may_be_copied(main) => main.folder().to_owned(),
            _ => PathBuf::from(session.run_id.as_str()),
        };
        families.entry(key).or_default().push(session);
    }
    let mut families: Vec<_> = families.into_values().collect();
    for family in &mut families {
        let born =
            |session: &Session| session.sources.first().map(|file| (file.born, file.path.clone()));
        family.sort_by_key(born);
    }
    let size = |family: &Vec<Session>| -> u64 {
        family.iter().flat_map(|session| &session.sources).map(|file| file.stamp.size).sum()
    };
    families.sort_by_key(|family| std::cmp::Reverse(size(family)));
    families
}
