//! Which files have changed, as the kernel tells it.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecursiveMode, Watcher};

use super::FollowObserver;
use crate::error::CollectError;
use crate::homes::Root;

/// Watches the folders in which sessions lie.
pub(super) struct Watch {
    watcher: notify::RecommendedWatcher,
    heard: Receiver<notify::Result<notify::Event>>,
    folders: Vec<Folder>,
}

struct Folder {
    path: PathBuf,
    is_there: bool,
    /// Which folder is watched: one that is made anew has the same path and is another one.
    watched: Option<(u64, u64)>,
    is_told: bool,
}

/// What has been heard.
pub(super) enum News {
    /// These have changed.
    Changed(BTreeSet<PathBuf>),
    /// More has changed than could be told.
    Lost,
    /// Nothing.
    Silence,
}

impl Watch {
    pub(super) fn new(roots: &[Root], observer: &dyn FollowObserver) -> Result<Self, CollectError> {
        let (tell, heard): (Sender<_>, _) = channel();
        // Whoever has stopped listening is not told.
        let watcher = notify::recommended_watcher(move |event| drop(tell.send(event)));
        let watcher =
            watcher.map_err(|source| CollectError::Watch { path: PathBuf::new(), source })?;
        let mut paths: Vec<PathBuf> = roots.iter().map(fixed_part).collect();
        paths.sort();
        paths.dedup();
        let folder = |path| Folder { path, is_there: false, watched: None, is_told: false };
        let folders = paths.into_iter().map(folder);
        let mut watch = Watch { watcher, heard, folders: folders.collect() };
        watch.renew(observer);
        Ok(watch)
    }

    /// Watches the folders that have come to be since, and tells of those that cannot be watched.
    /// Returns whether there are any.
    pub(super) fn renew(&mut self, observer: &dyn FollowObserver) -> bool {
        let mut is_more = false;
        for folder in &mut self.folders {
            let present = std::fs::metadata(&folder.path).ok().filter(Metadata::is_dir);
            let present = present.map(|found| (found.dev(), found.ino()));
            folder.is_there = present.is_some();
            if present.is_none() || present == folder.watched {
                continue;
            }
            folder.watched = None;
            let outcome = match is_remote(&folder.path) {
                true => Err("it is on a network file system".to_owned()),
                false => self
                    .watcher
                    .watch(&folder.path, RecursiveMode::Recursive)
                    .map_err(|error| error.to_string()),
            };
            match outcome {
                Ok(()) => (folder.watched, is_more) = (present, true),
                Err(reason) if !folder.is_told => {
                    folder.is_told = true;
                    observer.blind(&folder.path, &reason);
                }
                Err(_) => {}
            }
        }
        is_more
    }

    /// Tells whether there is a folder whose changes nobody tells.
    pub(super) fn is_blind(&self) -> bool {
        self.folders.iter().any(|folder| folder.is_there && folder.watched.is_none())
    }

    /// Waits for news, at most for `patience`, and takes all there are.
    pub(super) fn next(&mut self, patience: Duration) -> News {
        let first = match self.heard.recv_timeout(patience) {
            Ok(first) => first,
            Err(RecvTimeoutError::Timeout) => return News::Silence,
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(patience);
                return News::Silence;
            }
        };
        let mut paths = BTreeSet::new();
        let mut is_lost = false;
        for event in std::iter::once(first).chain(self.heard.try_iter()) {
            match event {
                Ok(event) if event.need_rescan() => is_lost = true,
                Ok(event) if is_change(&event.kind) => paths.extend(event.paths),
                Ok(_) => {}
                Err(_) => is_lost = true,
            }
        }
        match (is_lost, paths.is_empty()) {
            (true, _) => News::Lost,
            (false, true) => News::Silence,
            (false, false) => News::Changed(paths),
        }
    }
}

/// Others, and we ourselves, may read as much as they like.
fn is_change(kind: &EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}

/// Returns the folder below which all files of a root lie.
fn fixed_part(root: &Root) -> PathBuf {
    let names = root.files.pattern.split('/').take_while(|name| !name.contains('*'));
    names.fold(root.folder.clone(), |folder, name| folder.join(name))
}

/// Tells whether other machines may change what lies at `path`, of which the kernel does not tell.
fn is_remote(path: &Path) -> bool {
    const REMOTE: [u64; 7] = [
        0x6969,      // NFS
        0xff53_4d42, // CIFS
        0xfe53_4d42, // SMB2
        0x517b,      // SMB
        0x0102_1997, // 9P
        0x6573_5546, // FUSE
        0x00c3_6400, // Ceph
    ];
    rustix::fs::statfs(path).is_ok_and(|found| REMOTE.contains(&(found.f_type as u64)))
}
