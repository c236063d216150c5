//! Sessions that begin with a copy of another one: which, and how much of it.
//!
//! Claude Code copies the records of a session, ids and all, when it is forked or resumed under
//! another name. Within one folder of sessions the ids of all records are remembered while they
//! are read, in the order in which the files came to be, so that a copy is known by its first
//! record. Codex says itself what it has copied.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use memchr::memmem;
use quipu_event::RunId;
use quipu_journal::Layout;

use crate::history::SourceHistory;
use crate::known::{Known, own_id, record_ids};
use crate::plan::SourceFile;
use crate::run_id::run_of_session;

/// Whose sessions are copied without a word: Claude Code's.
pub(crate) const COPIER: &str = "claude";

/// The label of a run whose session goes on from another one.
pub(crate) const FORKED_FROM: &str = "forked_from";
pub(crate) const FORKED_FROM_SESSION: &str = "forked_from_session";

/// Clocks of agents and of file systems differ by so much.
const COARSE: Duration = Duration::from_secs(5);
/// An id in a file is looked for so far from its beginning.
const HEAD: usize = 256 * 1024;
/// Behind the end of a piece an id may go on so far.
const OVERLAP: usize = 48;

/// The records of the sessions in one folder, as far as they have been read.
#[derive(Default)]
pub(crate) struct Forks {
    sessions: Vec<String>,
    owners: HashMap<u128, u32>,
}

/// Takes the ids out of the bytes of one session.
pub(crate) struct Scan {
    owner: u32,
    rest: Vec<u8>,
}

impl Forks {
    /// Begins to remember the records of `session`.
    pub(crate) fn scan(&mut self, session: &str) -> Scan {
        self.sessions.push(session.to_owned());
        Scan { owner: self.sessions.len() as u32 - 1, rest: Vec::new() }
    }

    /// Forgets the records of `session`, which was not read to its end.
    pub(crate) fn forget(&mut self, session: &str) {
        for (owner, name) in self.sessions.iter_mut().enumerate() {
            if name == session {
                name.clear();
                self.owners.retain(|_, of| *of as usize != owner);
            }
        }
    }

    /// Remembers the records in the next bytes of a session.
    pub(crate) fn note(&mut self, scan: &mut Scan, bytes: &[u8]) {
        let head = &bytes[..bytes.len().min(OVERLAP)];
        scan.rest.extend_from_slice(head);
        let across = std::mem::take(&mut scan.rest);
        for id in record_ids(&across).chain(record_ids(bytes)) {
            self.owners.entry(id).or_insert(scan.owner);
        }
        let keep = if bytes.len() >= OVERLAP { bytes } else { &across };
        scan.rest = keep[keep.len().saturating_sub(OVERLAP)..].to_vec();
    }

    /// Returns what `file`, of which the transcript holds `held`, has from another session.
    ///
    /// A session that nobody has recorded has nothing that could be named instead of repeated.
    pub(crate) fn copied(
        &mut self,
        file: &SourceFile,
        held: &SourceHistory,
        layout: &Layout,
    ) -> Option<Known> {
        let session = if held.events.is_empty() {
            self.find(file)?
        } else {
            // What was found when the file was first seen holds.
            let session = held.copied_from.clone()?;
            self.load(&session, file.folder(), layout);
            session
        };
        let run = run_of_session(COPIER, &session);
        if !layout.transcript(&run).exists() {
            return None;
        }
        let owner = self.sessions.iter().position(|name| *name == session)? as u32;
        let own = self.owners.iter().filter(|(_, of)| **of == owner).map(|(id, _)| *id);
        let ids: HashSet<u128> = own.collect();
        Some(Known::Copied { ids, session, run, met: None, is_met: false })
    }

    /// Finds the session that the first record of a new file was copied from.
    fn find(&mut self, file: &SourceFile) -> Option<String> {
        let head = head_of(&file.path).ok()?;
        let root = record_ids(&head).next()?;
        if let Some(owner) = self.owners.get(&root) {
            let session = self.sessions.get(*owner as usize)?.clone();
            // Tools quote the records of other sessions, too.
            let path = file.folder().join(format!("{session}.jsonl"));
            return holds(&path, root).then_some(session);
        }
        let written = written_at(&head);
        let siblings = siblings(file, written).into_iter();
        let mut unread = siblings.filter(|(session, _)| !self.sessions.contains(session));
        let (session, path) = unread.find(|(_, path)| holds(path, root))?;
        self.read(&session, &path).ok()?;
        Some(session)
    }

    /// Remembers the records of `session`, from its file or from its transcript.
    fn load(&mut self, session: &str, folder: &Path, layout: &Layout) {
        if self.sessions.iter().any(|name| name == session) {
            return;
        }
        let path = folder.join(format!("{session}.jsonl"));
        if self.read(session, &path).is_err() {
            let transcript = layout.transcript(&run_of_session(COPIER, session));
            // Within a transcript foreign records are quoted.
            let text = fs::read(transcript).unwrap_or_default();
            let mut scan = self.scan(session);
            let plain: Vec<u8> = text.into_iter().filter(|byte| *byte != b'\\').collect();
            self.note(&mut scan, &plain);
        }
    }

    fn read(&mut self, session: &str, path: &Path) -> io::Result<()> {
        let mut file = File::open(path)?;
        let mut scan = self.scan(session);
        let mut piece = vec![0; HEAD];
        loop {
            match file.read(&mut piece)? {
                0 => return Ok(()),
                read => self.note(&mut scan, &piece[..read]),
            }
        }
    }
}

/// Returns the run that a session goes on from, for its label.
pub(crate) fn run_label(known: &Known) -> Option<(&str, &RunId)> {
    match known {
        Known::Copied { session, run, .. } => Some((session, run)),
        Known::Read(_) => None,
    }
}

fn head_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Returns when the first record was written, if it says so.
fn written_at(head: &[u8]) -> Option<SystemTime> {
    const KEY: &[u8] = b"\"timestamp\":\"";
    let at = memmem::find(head, KEY)? + KEY.len();
    let end = memchr::memchr(b'"', &head[at..])?;
    let time = std::str::from_utf8(&head[at..at + end]).ok()?;
    let micros = quipu_event::Timestamp::parse(time).ok()?.as_micros();
    Some(SystemTime::UNIX_EPOCH + Duration::from_micros(u64::try_from(micros).ok()?))
}

/// Returns the sessions in the folder of `file` that came to be before it, and that were written to
/// when its first record was written, or later: no other can hold that record.
fn siblings(file: &SourceFile, written: Option<SystemTime>) -> Vec<(String, PathBuf)> {
    let Ok(entries) = fs::read_dir(file.folder()) else { return Vec::new() };
    let is_possible = |path: &PathBuf| {
        let Ok(found) = fs::metadata(path) else { return false };
        let born = found.created().or_else(|_| found.modified());
        let is_earlier = born.is_ok_and(|born| (born, path) < (file.born, &file.path));
        let is_later = |time| found.modified().is_ok_and(|modified| modified + COARSE >= time);
        *path != file.path && is_earlier && written.is_none_or(is_later)
    };
    let named = |path: PathBuf| {
        let is_session = path.extension().is_some_and(|extension| extension == "jsonl");
        let session = path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
        session.filter(|_| is_session).map(|session| (session, path))
    };
    let paths = entries.flatten().map(|entry| entry.path()).filter(is_possible);
    let mut sessions: Vec<_> = paths.filter_map(named).collect();
    sessions.sort();
    sessions
}

/// Tells whether a record of the file at `path` has this id itself.
fn holds(path: &Path, id: u128) -> bool {
    let text = uuid::Uuid::from_u128(id).hyphenated().to_string();
    if !contains(path, text.as_bytes()) {
        return false;
    }
    let Ok(file) = File::open(path) else { return false };
    let mut lines = io::BufReader::new(file).split(b'\n').map_while(Result::ok);
    lines.any(|line| memmem::find(&line, text.as_bytes()).is_some() && own_id(&line) == Some(id))
}

fn contains(path: &Path, needle: &[u8]) -> bool {
    let Ok(mut file) = File::open(path) else { return false };
    let finder = memmem::Finder::new(needle);
    let mut piece = vec![0; HEAD];
    let mut kept = 0;
    while let Ok(read) = file.read(&mut piece[kept..]) {
        if read == 0 {
            break;
        }
        let filled = kept + read;
        if finder.find(&piece[..filled]).is_some() {
            return true;
        }
        kept = filled.min(needle.len() - 1);
        piece.copy_within(filled - kept..filled, 0);
    }
    false
}
