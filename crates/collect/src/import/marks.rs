//! Which foreign record an event was made from, as one number that can be compared.
//!
//! A record is its place and its bytes. Only the first event made from it has the bytes; the others
//! have its place, and stand behind that first one.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use quipu_event::{Origin, Raw};

/// The records met so far.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The record that was last met at a place.
    at: HashMap<u64, u64>,
    /// How many events there are of a record.
    count: HashMap<u64, u32>,
}

impl Marks {
    /// Takes in one more event and returns its record, and how many of it there were before.
    pub(super) fn add(&mut self, origin: &Origin, raw: Option<&Raw>) -> (u64, u32) {
        let place = hash((&origin.file, origin.offset, origin.len));
        let record = match raw.and_then(Raw::bytes) {
            Some(bytes) => {
                let record = hash((place, bytes));
                self.at.insert(place, record);
                record
            }
            None => *self.at.entry(place).or_insert(place),
        };
        let count = self.count.entry(record).or_default();
        *count += 1;
        (record, *count - 1)
    }

    /// Returns how many events there are of `record`.
    pub(super) fn count(&self, record: u64) -> u32 {
        self.count.get(&record).copied().unwrap_or_default()
    }
}

fn hash(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
