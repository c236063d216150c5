//! `quipu show --md`: the page of Markdown that `quipu export` writes, on the screen.

use std::io::{self, BufWriter, Write};

use quipu_journal::Reader;
use quipu_view::markdown::Length;
use quipu_view::{FileView, MarkdownView, Shelf};

use super::Outcome;
use super::filter::Filter;
use crate::format::damage::DamageCount;
use crate::format::note::note;
use crate::format::visible::visible;
use crate::output::{Paging, Screen};

/// Returns where the page goes: to the byte for a program, and for a person without anything that a
/// terminal would obey.
pub(super) fn out(screen: Screen, paging: Paging) -> Box<dyn Write> {
    if screen.is_terminal() {
        Box::new(Harmless(BufWriter::new(screen.paged(paging))))
    } else {
        screen.data()
    }
}

/// Prints the events that `filter` takes.
pub(super) fn print(
    ends_early: bool,
    reader: Reader,
    filter: &Filter<'_>,
    length: Length,
    out: Box<dyn Write>,
) -> anyhow::Result<Outcome> {
    let mut view = MarkdownView::new(length);
    let mut shelf = Printer { out, failed: Ok(()) };
    let mut outcome = Outcome { shown: 0, is_filtered: false, damage: DamageCount::default() };
    for item in reader {
        match item {
            Ok(event) if event.seq > filter.to && ends_early => break,
            Ok(event) if filter.takes(&event) => {
                view.add(&event, &mut shelf);
                outcome.shown += 1;
            }
            Ok(_) => outcome.is_filtered = true,
            Err(problem) => {
                if let Some(damage) = outcome.damage.note(problem)? {
                    note(&damage.to_string());
                }
            }
        }
        // A reader that went away has seen what it wanted; there is no use in going on.
        std::mem::replace(&mut shelf.failed, Ok(()))?;
    }
    view.finish(&mut shelf);
    shelf.failed?;
    shelf.out.flush()?;
    Ok(outcome)
}

/// A shelf whose only page is printed.
struct Printer {
    out: Box<dyn Write>,
    /// The first failure, until somebody asks.
    failed: io::Result<()>,
}

impl Shelf for Printer {
    fn append(&mut self, _: &str, bytes: &[u8]) {
        if self.failed.is_ok() {
            self.failed = self.out.write_all(bytes);
        }
    }

    fn put(&mut self, path: &str, bytes: &[u8]) {
        self.append(path, bytes);
    }

    /// What is printed has no name to change.
    fn rename(&mut self, _: &str, _: &str) {}
}

/// Passes text on without what a terminal would obey.
struct Harmless<W>(W);

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(visible(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
