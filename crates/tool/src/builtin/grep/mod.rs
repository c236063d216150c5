//! Grep: lines that match a regular expression.

mod search;

use std::ops::ControlFlow;
use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};

use super::MOST_LINES;
use super::arguments::{Argument, Arguments, Shape};
use super::on_files::{Site, Work};
use crate::Answer;
use crate::sandbox::{FoundKind, Place, Refusal, Trouble, Walk};
use search::{Search, Searched};

pub(super) const GREP: Work = Work {
    name: "Grep",
    description: "Searches files for a regular expression, as ripgrep does, and answers \
                  `file:line:text`. What `.gitignore` leaves out, `.git`, binary files and files with \
                  several names (hard links) are not searched; links are not followed. Long lines are \
                  cut.",
    arguments: &[
        Argument::required("pattern", Shape::Text, "The regular expression, in Rust's syntax."),
        Argument::optional(
            "path",
            Shape::Text,
            "The file or directory to search; the working directory if it is left out.",
        ),
        Argument::optional("glob", Shape::Text, "Which files to search, such as `*.{ts,tsx}`."),
        Argument::optional(
            "output_mode",
            Shape::OneOf(&["content", "files_with_matches", "count"]),
            "What to answer: matching lines (content, the default), the names of files, or how many \
             lines match in each.",
        ),
        Argument::optional("case_insensitive", Shape::Flag, "Whether case makes no difference."),
    ],
    is_read_only: true,
    perform: grep,
};

/// What is answered of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Content,
    Names,
    Count,
}

fn grep(arguments: &Arguments, site: &Site) -> Result<Answer, Trouble> {
    let matcher = matcher_of(arguments)?;
    let chosen = chosen_by(arguments)?;
    let mode = match arguments.text("output_mode") {
        Some("files_with_matches") => Mode::Names,
        Some("count") => Mode::Count,
        _ => Mode::Content,
    };
    let mut harvest = Harvest::new(Search::new(matcher), mode);
    let place = match arguments.text("path") {
        Some(path) => site.root.place(path)?,
        None => Place::root(),
    };
    match site.root.open_dir(&place) {
        Ok(dir) => {
            let place = site.root.straightened(place);
            let is_wanted = || site.is_wanted();
            // Whether it came to its end shows in the harvest.
            let _ = Walk::unignored(&site.root, &is_wanted).below(&dir, &place, &mut |found| {
                if found.kind != FoundKind::File
                    || chosen.matched(found.place.path(), false).is_ignore()
                {
                    return ControlFlow::Continue(());
                }
                match site.root.open_found(found.dir, found.name, found.place) {
                    Ok(opened) => harvest.gather(opened.file, found.place),
                    Err(trouble) => harvest.leave_out(&trouble),
                }
                harvest.is_full()
            });
        }
        Err(refused @ Trouble::Refused { .. }) => return Err(refused),
        Err(Trouble::Failed(_)) => {
            let opened = site.root.open_file(&place)?;
            harvest.gather(opened.file, &place);
        }
    }
    Ok(harvest.into_answer())
}

fn matcher_of(arguments: &Arguments) -> Result<RegexMatcher, Trouble> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(arguments.flag("case_insensitive")).line_terminator(Some(b'\n'));
    let matcher = builder.build(arguments.required("pattern"));
    matcher.map_err(|cause| Trouble::Failed(format!("`pattern` is no regular expression: {cause}")))
}

fn chosen_by(arguments: &Arguments) -> Result<Override, Trouble> {
    let mut builder = OverrideBuilder::new(Path::new(""));
    if let Some(glob) = arguments.text("glob") {
        let bad = |cause| Trouble::Failed(format!("`glob` is no pattern: {cause}"));
        return builder.add(glob).map_err(bad)?.build().map_err(bad);
    }
    Ok(Override::empty())
}

/// What was found so far.
struct Harvest {
    search: Search,
    mode: Mode,
    lines: Vec<String>,
    is_cut: bool,
    hard_links: usize,
    endless: usize,
}

impl Harvest {
    fn new(search: Search, mode: Mode) -> Harvest {
        Harvest { search, mode, lines: Vec::new(), is_cut: false, hard_links: 0, endless: 0 }
    }

    fn gather(&mut self, file: std::fs::File, place: &Place) {
        let kept = match self.mode {
            Mode::Content => MOST_LINES - self.lines.len(),
            Mode::Names | Mode::Count => 0,
        };
        match self.search.search(file, kept, self.mode == Mode::Names) {
            Searched::Matches { count: 0, .. } | Searched::Skipped => {}
            Searched::EndlessLine => self.endless += 1,
            Searched::Matches { count, lines } => match self.mode {
                Mode::Names => self.lines.push(place.to_string()),
                Mode::Count => self.lines.push(format!("{place}:{count}")),
                Mode::Content => {
                    self.is_cut |= count > lines.len() as u64;
                    let lines = lines.into_iter();
                    self.lines
                        .extend(lines.map(|(number, text)| format!("{place}:{number}:{text}")));
                }
            },
        }
    }

    fn leave_out(&mut self, trouble: &Trouble) {
        if matches!(trouble, Trouble::Refused { why: Refusal::HardLink { .. }, .. }) {
            self.hard_links += 1;
        }
    }

    fn is_full(&mut self) -> ControlFlow<()> {
        if self.lines.len() < MOST_LINES {
            return ControlFlow::Continue(());
        }
        self.is_cut = true;
        ControlFlow::Break(())
    }

    fn into_answer(self) -> Answer {
        let mut lines = self.lines;
        if lines.is_empty() {
            lines.push("no matches".to_owned());
        }
        if self.is_cut {
            lines.push(format!("[… more than {MOST_LINES} lines: the rest is left out …]"));
        }
        if self.hard_links > 0 {
            let files = self.hard_links;
            lines.push(format!("[files with several names (hard links), not searched: {files}]"));
        }
        if self.endless > 0 {
            let files = self.endless;
            lines.push(format!("[files with a line of more than 16 MiB, not searched: {files}]"));
        }
        Answer::completed(lines.join("\n"))
    }
}
