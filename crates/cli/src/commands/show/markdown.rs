//! `quipu show --md`: the page of Markdown that `quipu export` writes, on the screen.
//!
//! The page has nothing in it that a terminal would obey, so that it is the same everywhere.

use std::io::{self, Write};

use quipu_journal::Reader;
use quipu_view::markdown::Length;
use quipu_view::{FileView, MarkdownView, Shelf};

use super::Outcome;
use crate::format::damage::DamageCount;
use crate::format::note::note;

/// Prints the page.
pub(super) fn print(reader: Reader, length: Length, out: impl Write) -> anyhow::Result<Outcome> {
    let mut view = MarkdownView::new(length);
    let mut shelf = Printer { out, failed: Ok(()) };
    let mut outcome = Outcome { shown: 0, is_filtered: false, damage: DamageCount::default() };
    for item in reader {
        match item {
            Ok(event) => {
                view.add(&event, &mut shelf);
                outcome.shown += 1;
            }
            Err(problem) => {
                if let Some(damage) = outcome.damage.note(problem)? {
                    note(&damage.to_string());
                }
            }
        }
        // There is no use in going on when nobody takes it.
        std::mem::replace(&mut shelf.failed, Ok(()))?;
    }
    view.finish(&mut shelf);
    shelf.failed?;
    shelf.out.flush()?;
    Ok(outcome)
}

/// A shelf whose only page is printed.
struct Printer<W> {
    out: W,
    /// The first failure, until somebody asks.
    failed: io::Result<()>,
}

impl<W: Write> Shelf for Printer<W> {
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
