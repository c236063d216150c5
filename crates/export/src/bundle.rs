//! A view whose files leave packed: `<folder>.zip` for each folder that it makes.
//!
//! What the view puts down waits in files without a name, which vanish with this value; memory
//! holds no more than a piece of each. The same files give the same zip: nothing in it is of today.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use quipu_event::{Event, Timestamp};
use quipu_view::{FileView, Losses, Shelf};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// So much is handed on at a time.
const PIECE: usize = 256 * 1024;
/// From this size on, a zip needs its long form.
const LONG_FORM: u64 = 1 << 31;

/// A view whose folders become zips.
pub struct Bundled<V> {
    view: V,
    spool: Spool,
    /// When the run began: the date of every file in its zips.
    begun: Option<Timestamp>,
    failure: Option<String>,
}

impl<V: FileView> Bundled<V> {
    /// Packs what `view` puts down.
    pub fn new(view: V) -> Self {
        Bundled { view, spool: Spool::default(), begun: None, failure: None }
    }
}

impl<V: FileView> FileView for Bundled<V> {
    fn add(&mut self, event: &Event, _: &mut dyn Shelf) {
        self.begun.get_or_insert(event.timestamp);
        self.view.add(event, &mut self.spool);
    }

    /// Puts down the zips. A bundle that could not be made whole is not put down at all.
    fn finish(&mut self, shelf: &mut dyn Shelf) {
        self.view.finish(&mut self.spool);
        let spool = std::mem::take(&mut self.spool);
        if let Err(error) = spool.pack(dated(self.begun), shelf) {
            self.failure = Some(format!("cannot pack the bundle: {error}"));
        }
    }

    fn losses(&self) -> &Losses {
        self.view.losses()
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref().or_else(|| self.view.failure())
    }
}

/// Files that wait to be packed.
#[derive(Default)]
struct Spool {
    files: BTreeMap<String, BufWriter<File>>,
    /// What went wrong first.
    error: Option<io::Error>,
}

impl Spool {
    fn write(&mut self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let file = match self.files.get_mut(path) {
            Some(file) => file,
            None => {
                let file = BufWriter::new(tempfile::tempfile()?);
                self.files.entry(path.to_owned()).or_insert(file)
            }
        };
        file.write_all(bytes)
    }

    fn note(&mut self, outcome: io::Result<()>) {
        if let Err(error) = outcome {
            self.error.get_or_insert(error);
        }
    }

    fn pack(mut self, date: DateTime, shelf: &mut dyn Shelf) -> io::Result<()> {
        if let Some(error) = self.error {
            return Err(error);
        }
        while let Some((first, _)) = self.files.first_key_value() {
            let folder = first.split_once('/').map_or(first.as_str(), |(folder, _)| folder);
            let folder = folder.to_owned();
            let within = format!("{folder}/");
            let mut zip = ZipWriter::new(tempfile::tempfile()?);
            while let Some(file) = self.files.first_entry() {
                let name = file.key().strip_prefix(&within).map(str::to_owned);
                // A file beside the folders is a bundle of itself.
                let name = match name {
                    Some(name) => name,
                    None if *file.key() == folder => folder.clone(),
                    None => break,
                };
                pack_file(&mut zip, &name, date, file.remove().into_inner()?)?;
            }
            hand_on(&format!("{folder}.zip"), zip.finish()?, shelf)?;
        }
        Ok(())
    }
}

impl Shelf for Spool {
    fn append(&mut self, path: &str, bytes: &[u8]) {
        let outcome = self.write(path, bytes);
        self.note(outcome);
    }

    fn put(&mut self, path: &str, bytes: &[u8]) {
        self.files.remove(path);
        self.append(path, bytes);
    }

    fn rename(&mut self, from: &str, to: &str) {
        if let Some(file) = self.files.remove(from) {
            self.files.insert(to.to_owned(), file);
        }
    }
}

fn pack_file(
    zip: &mut ZipWriter<File>,
    name: &str,
    date: DateTime,
    mut file: File,
) -> io::Result<()> {
    let size = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    let options = SimpleFileOptions::DEFAULT
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(date)
        .unix_permissions(0o600)
        .large_file(size >= LONG_FORM);
    zip.start_file(name, options)?;
    io::copy(&mut file, zip)?;
    Ok(())
}

fn hand_on(path: &str, mut packed: File, shelf: &mut dyn Shelf) -> io::Result<()> {
    packed.rewind()?;
    let mut piece = vec![0; PIECE];
    let mut is_first = true;
    loop {
        let length = packed.read(&mut piece)?;
        if length == 0 {
            return Ok(());
        }
        let bytes = &piece[..length];
        if is_first {
            shelf.put(path, bytes)
        } else {
            shelf.append(path, bytes)
        }
        is_first = false;
    }
}

/// Returns a moment as a zip can say it; the oldest that it can where it cannot.
fn dated(moment: Option<Timestamp>) -> DateTime {
    let spelled = moment.map(|moment| moment.to_string()).unwrap_or_default();
    let numbers: Vec<u16> =
        spelled.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect();
    let byte = |number: u16| u8::try_from(number).unwrap_or_default();
    let date = match numbers[..] {
        [year, month, day, hour, minute, second, ..] => DateTime::from_date_and_time(
            year,
            byte(month),
            byte(day),
            byte(hour),
            byte(minute),
            byte(second),
        )
        .ok(),
        _ => None,
    };
    date.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quipu_view::{FileTree, WinkView};

    #[test]
    fn a_bundle_that_could_not_be_kept_whole_is_told_and_not_put_down() {
        let line =
            br#"{"seq":1,"run_id":"r","type":"run.started","timestamp":"2026-01-01T00:00:00Z"}"#;
        let event = quipu_event::decode_line(line).unwrap();
        let mut shelf = FileTree::default();
        let mut view = Bundled::new(WinkView::new());
        view.add(&event, &mut shelf);
        view.spool.note(Err(io::Error::other("the disk is full")));
        view.finish(&mut shelf);
        assert_eq!(shelf, FileTree::default());
        assert_eq!(view.failure(), Some("cannot pack the bundle: the disk is full"));
    }
}
