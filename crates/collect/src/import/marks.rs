//! Which foreign record an event was made from, as one number that can be compared.
//!
//! A record is its place and its bytes. Only the first event made from it has the bytes; the others
//! have its place, and stand behind that first one.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use quipu_event::{Origin, Raw};

/// The records met so far.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The record that was last met at a place.
    at: HashMap<u64, u64>,
    /// How many events there are of a record.
    count: HashMap<u64, u32>,
    /// What each file holds, as far as a transcript says so; apart from that, what it held as a
    /// document.
    files: HashMap<(String, bool), Content>,
}

/// The records of one file by where they begin.
type Content = BTreeMap<u64, Piece>;

/// A record of a file.
#[derive(Debug)]
struct Piece {
    len: u64,
    /// What was kept of it, where something may be hidden.
    bytes: u64,
    place: u64,
    record: u64,
}

impl Marks {
    /// Takes in one more event and returns its record, and how many of it there were before.
    pub(super) fn add(&mut self, origin: &Origin, raw: Option<&Raw>) -> (u64, u32) {
        self.count_in(origin, raw.and_then(Raw::bytes).as_deref())
    }

    /// Takes in an event of a transcript. Records of the file that this one was written over are
    /// forgotten: if they come back, they are new.
    pub(super) fn add_written(&mut self, origin: &Origin, raw: Option<&Raw>, is_document: bool) {
        let bytes = raw.and_then(Raw::bytes);
        let file = (origin.file.clone(), is_document);
        if bytes.is_some() {
            self.write_over(&file, origin);
        }
        let (record, _) = self.count_in(origin, bytes.as_deref());
        if bytes.is_some() || origin.len == 0 {
            let bytes = hash(bytes.unwrap_or_default());
            let piece = Piece { len: origin.len, bytes, place: place_of(origin), record };
            self.files.entry(file).or_default().insert(origin.offset, piece);
        }
    }

    /// Returns how many events there are of `record`.
    pub(super) fn count(&self, record: u64) -> u32 {
        self.count.get(&record).copied().unwrap_or_default()
    }

    /// Returns the files of which records are known.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.keys().filter(|(_, is_document)| !is_document).map(|(file, _)| file.as_str())
    }

    /// Tells whether a file that holds `bytes` still has all that is known of it, each record where it
    /// was. `as_kept` makes of a record's bytes those that are kept.
    pub(super) fn agree_with(
        &self,
        file: &str,
        bytes: &[u8],
        as_kept: impl Fn(&[u8]) -> Vec<u8>,
    ) -> bool {
        let content = self.files.get(&(file.to_owned(), false)).into_iter().flatten();
        content.filter(|(_, piece)| piece.len > 0).all(|(&offset, piece)| {
            let range = usize::try_from(offset).ok().zip(usize::try_from(piece.len).ok());
            let found = range.and_then(|(at, len)| bytes.get(at..at.checked_add(len)?));
            found.is_some_and(|found| hash(as_kept(found)) == piece.bytes)
        })
    }

    /// Forgets the records of a file.
    pub(super) fn forget(&mut self, file: &str) {
        for (_, piece) in self.files.remove(&(file.to_owned(), false)).unwrap_or_default() {
            self.drop_piece(&piece);
        }
    }

    /// Forgets everything behind the beginning of a record that lies where another one lay.
    fn write_over(&mut self, file: &(String, bool), origin: &Origin) {
        let Some(content) = self.files.get_mut(file) else { return };
        let (begin, end) = (origin.offset, origin.offset.saturating_add(origin.len));
        let reaches_in = |(at, piece): (&u64, &Piece)| at.saturating_add(piece.len) > begin;
        let is_met = content.range(begin..end).next().is_some()
            || content.range(..begin).next_back().is_some_and(reaches_in);
        if is_met {
            for piece in content.split_off(&begin).into_values() {
                self.drop_piece(&piece);
            }
        }
    }

    fn drop_piece(&mut self, piece: &Piece) {
        self.count.remove(&piece.record);
        self.at.remove(&piece.place);
    }

    fn count_in(&mut self, origin: &Origin, bytes: Option<&[u8]>) -> (u64, u32) {
        let place = place_of(origin);
        let record = match bytes {
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
}

fn place_of(origin: &Origin) -> u64 {
    hash((&origin.file, origin.offset, origin.len))
}

fn hash(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
