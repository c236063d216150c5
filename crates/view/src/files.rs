//! Views whose answer is a tree of files: what such a view is, and where it puts its bytes.
//!
//! A file view knows paths and bytes and nothing of disks: whoever runs it hands in a [`Shelf`].
//! Bytes leave the view while events come in, so that a run of any length needs no more memory
//! than its largest event, unless a layout needs the whole run to write its first line.

use std::collections::BTreeMap;

use quipu_event::{Event, Kind};

/// A fold over the events of one run that puts files on a shelf.
///
/// It sees the events of one run only, in their order, and is asked to finish once. The same events
/// give the same bytes, whether they come from a file or while they are recorded.
pub trait FileView: Send {
    /// Takes the next event of the run.
    fn add(&mut self, event: &Event, shelf: &mut dyn Shelf);

    /// Takes note that there is no further event.
    fn finish(&mut self, shelf: &mut dyn Shelf);

    /// Returns what could not be carried so far.
    fn losses(&self) -> &Losses;

    /// Returns what kept the view from putting down its files, if anything did.
    fn failure(&self) -> Option<&str> {
        None
    }
}

/// Where a file view puts its bytes. Paths are relative, with `/` between their parts.
///
/// A shelf that cannot take something keeps that to itself until its owner asks.
pub trait Shelf {
    /// Adds `bytes` at the end of the file at `path`, which need not exist yet.
    fn append(&mut self, path: &str, bytes: &[u8]);

    /// Makes `bytes` the whole of the file at `path`.
    fn put(&mut self, path: &str, bytes: &[u8]);

    /// Gives the file at `from` the path `to`, in place of what is there; nothing if there is none.
    fn rename(&mut self, from: &str, to: &str);
}

/// A shelf in memory: what a view wrote, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileTree(pub BTreeMap<String, Vec<u8>>);

impl FileTree {
    /// Returns the text of the file at `path`; nothing when there is none or it is not text.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }
}

impl Shelf for FileTree {
    fn append(&mut self, path: &str, bytes: &[u8]) {
        self.0.entry(path.to_owned()).or_default().extend_from_slice(bytes);
    }

    fn put(&mut self, path: &str, bytes: &[u8]) {
        self.0.insert(path.to_owned(), bytes.to_vec());
    }

    fn rename(&mut self, from: &str, to: &str) {
        if let Some(bytes) = self.0.remove(from) {
            self.0.insert(to.to_owned(), bytes);
        }
    }
}

/// The events that a layout has no place for, by type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// How many events of each type were left out as a whole.
    pub events: BTreeMap<String, u64>,
}

impl Losses {
    /// Counts an event that was left out.
    pub fn leave_out(&mut self, event: &Event) {
        self.leave_out_many(&event.kind, 1);
    }

    /// Counts events of one type that were left out.
    pub fn leave_out_many(&mut self, kind: &Kind, count: u64) {
        match self.events.get_mut(kind.as_str()) {
            Some(sum) => *sum += count,
            None if count == 0 => {}
            None => drop(self.events.insert(kind.as_str().to_owned(), count)),
        }
    }

    /// Returns how many events were left out.
    pub fn total(&self) -> u64 {
        self.events.values().sum()
    }

    /// Adds what another run lost.
    pub fn merge(&mut self, other: &Losses) {
        for (name, count) in &other.events {
            *self.events.entry(name.clone()).or_default() += count;
        }
    }
}
