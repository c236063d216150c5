//! What was collected last time, so that files which have not changed need not be looked into.
//!
//! It may be deleted at any time: what a transcript holds says the same, only slower.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use quipu_event::RunId;
use quipu_journal::Layout;
use quipu_provider::find_provider;
use serde::{Deserialize, Serialize};

use crate::collector::Part;
use crate::discover::FileStamp;
use crate::identity::{Identity, Role};
use crate::plan::Memory;

const VERSION: u32 = 2;

/// What was collected last time.
pub(crate) struct Cache {
    path: PathBuf,
    entries: HashMap<PathBuf, Entry>,
    has_changed: bool,
}

/// What was found at one path.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    #[serde(with = "stamp")]
    pub(crate) stamp: FileStamp,
    provider: String,
    /// The session that the run is that of, and the one whose file this is.
    root: String,
    session: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    /// The run it is a part of, and how long its transcript was.
    pub(crate) run: RunId,
    transcript: u64,
}

#[derive(Serialize, Deserialize)]
struct Page {
    version: u32,
    files: HashMap<PathBuf, Entry>,
}

impl Cache {
    /// Reads what is there; anything else counts as nothing.
    pub(crate) fn read(layout: &Layout) -> Self {
        let path = layout.storage().join("cache").join("collect.json");
        let page = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Page>(&text).ok());
        let entries = page.filter(|page| page.version == VERSION).map(|page| page.files);
        Cache { path, entries: entries.unwrap_or_default(), has_changed: false }
    }

    /// Returns what was found at `path`, if the file has not changed since, and neither has its
    /// transcript become shorter.
    pub(crate) fn unchanged(
        &self,
        path: &Path,
        stamp: FileStamp,
        layout: &Layout,
    ) -> Option<&Entry> {
        let entry = self.entries.get(path).filter(|entry| entry.stamp == stamp)?;
        let transcript = fs::metadata(layout.transcript(&entry.run)).ok()?;
        (transcript.len() >= entry.transcript).then_some(entry)
    }

    /// Returns what it knows of all files, also of those that are gone.
    pub(crate) fn memory(&self) -> Memory {
        let sessions = self.entries.values().filter_map(|entry| {
            let provider = find_provider(&entry.provider)?.name;
            Some((provider, entry.identity()))
        });
        let roots = self.entries.iter().map(|(path, entry)| (path.clone(), entry.root.clone()));
        Memory { sessions: sessions.collect(), roots: roots.collect() }
    }

    /// Notes that a file, as it stood then, is a part of its run to its end.
    pub(crate) fn note(&mut self, file: &Part, layout: &Layout) {
        let Part { path, stamp, identity, provider, root, run } = file;
        let Ok(transcript) = fs::metadata(layout.transcript(run)) else { return };
        let parent = match &identity.role {
            Role::Main => None,
            Role::Subagent { parent, .. } => Some(parent.clone()),
        };
        let entry = Entry {
            stamp: *stamp,
            provider: (*provider).to_owned(),
            root: root.clone(),
            session: identity.session.clone(),
            parent,
            run: run.clone(),
            transcript: transcript.len(),
        };
        self.entries.insert(path.to_owned(), entry);
        self.has_changed = true;
    }

    /// Writes it down, if there is anything new. Closed to others, and whole or not at all.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.has_changed) {
            return Ok(());
        }
        let page = Page { version: VERSION, files: std::mem::take(&mut self.entries) };
        let text = serde_json::to_vec(&page)?;
        self.entries = page.files;
        if let Some(folder) = self.path.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
        }
        let draft = self.path.with_extension(format!("{}.new", std::process::id()));
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&draft)?;
        file.write_all(&text)?;
        fs::rename(&draft, &self.path)
    }
}

impl Entry {
    /// Returns whose session the file holds.
    pub(crate) fn identity(&self) -> Identity {
        let session = self.session.clone();
        let role = match &self.parent {
            Some(parent) => Role::Subagent { id: session.clone(), parent: parent.clone() },
            None => Role::Main,
        };
        Identity { session, role, forked_from: None }
    }
}

/// A stamp as four numbers.
mod stamp {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::FileStamp;

    pub(super) fn serialize<S: Serializer>(stamp: &FileStamp, to: S) -> Result<S::Ok, S::Error> {
        let modified = i64::try_from(stamp.modified_ns).unwrap_or(i64::MAX);
        (stamp.device, stamp.inode, stamp.size, modified).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<FileStamp, D::Error> {
        let (device, inode, size, modified): (u64, u64, u64, i64) = Deserialize::deserialize(from)?;
        Ok(FileStamp { device, inode, size, modified_ns: modified.into() })
    }
}
