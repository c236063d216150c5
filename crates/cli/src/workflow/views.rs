//! `--view LAYOUT=DIR`: a run as files while it goes on.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use quipu_event::RunId;
use quipu_export::{Existing, ExportError, ExportOptions, LAYOUTS, LayoutEntry, LiveView};

use crate::Context;
use crate::commands::export::{redaction, told_folder};
use crate::commands::receipt::prices;
use crate::exit::chain;
use crate::format::count;
use crate::format::note::note;
use crate::format::shell_word::shell_word;

/// A layout that is to be written while the run goes on, and where.
#[derive(Clone, Debug)]
pub(crate) struct ViewWish {
    layout: &'static LayoutEntry,
    out: PathBuf,
}

impl ViewWish {
    /// Returns the wish as it is typed, good in every directory.
    pub(crate) fn spelled(&self) -> std::io::Result<std::ffi::OsString> {
        let mut text = std::ffi::OsString::from(format!("{}=", self.layout.name));
        text.push(std::path::absolute(&self.out)?);
        Ok(text)
    }
}

impl FromStr for ViewWish {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || LAYOUTS.iter().map(|layout| layout.name).collect::<Vec<_>>().join(", ");
        let Some((name, out)) = text.split_once('=').filter(|(_, out)| !out.is_empty()) else {
            return Err("expected LAYOUT=DIR, such as html=report".to_owned());
        };
        match LayoutEntry::find(name) {
            Some(layout) => Ok(ViewWish { layout, out: PathBuf::from(out) }),
            None => Err(format!("there is no layout {name:?}: expected one of {}", names())),
        }
    }
}

/// The views of a run that goes on.
pub(super) struct Views(Vec<(ViewWish, LiveView)>);

impl Views {
    /// Begins to write what is recorded of `run`. Fails when a directory cannot be written.
    pub(super) fn begin(
        context: &Context,
        wishes: &[ViewWish],
        run: &RunId,
        existing: Existing,
    ) -> anyhow::Result<Self> {
        let layout = context.settings.layout();
        let prices = prices::table(&context.settings, None)?;
        let begin = |wish: &ViewWish| {
            let redaction = wish.layout.hides_secrets.then(|| redaction(context));
            let prices = Arc::clone(&prices);
            let options = ExportOptions { prices, ..ExportOptions::new(&wish.out) };
            let view = LiveView::begin(&layout, run, wish.layout, options, existing, redaction);
            let view = view.map_err(|error| match error {
                ExportError::Folder(error) => told_folder(error),
                error => error.into(),
            })?;
            anyhow::Ok((wish.clone(), view))
        };
        Ok(Views(wishes.iter().map(begin).collect::<anyhow::Result<_>>()?))
    }

    /// Waits until everything is written, and tells what could not be.
    pub(super) fn finish(self, context: &Context, quiet: bool) {
        for (wish, view) in self.0 {
            let (name, out) = (wish.layout.name, wish.out.display());
            match view.finish() {
                Ok(seen) if !quiet => {
                    let files = count::of(seen.written.files, "file");
                    let losses = match seen.losses.total() {
                        0 => String::new(),
                        left_out => format!(", {} left out", count::of(left_out, "event")),
                    };
                    note(&format!("{name} view in {out}: {files}{losses}"));
                    if seen.keeps_index {
                        let into = wish.out.to_string_lossy();
                        let export = context.settings.command(format_args!(
                            "export --all --to {name} --force --out {}",
                            shell_word(&into)
                        ));
                        note(&format!(
                            "{out} has a list of other runs, which does not name this one; \
                             `{export}` lists all"
                        ));
                    }
                }
                Ok(_) => {}
                Err(error) => note(&format!(
                    "the {name} view in {out} is not whole: {}; `quipu export` makes it anew",
                    chain(&error)
                )),
            }
        }
    }
}
