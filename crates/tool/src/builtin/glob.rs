//! Glob: files and directories whose path fits a pattern.

use std::ops::ControlFlow;
use std::path::{Component, Path};

use globset::{GlobBuilder, GlobMatcher};

use super::MOST_LINES;
use super::arguments::{Argument, Arguments, Shape};
use super::on_files::{Site, Work};
use crate::Answer;
use crate::sandbox::{FoundKind, Place, Refusal, Trouble, Walk};

pub(super) const GLOB: Work = Work {
    name: "Glob",
    description: "Finds files and directories by a pattern: `*` and `?` stand for anything but `/`, `**` \
                  for any number of directories, `{a,b}` for either, `[a-z]` for a letter. Answers paths \
                  relative to the working directory, directories with a `/` at the end. Links are not \
                  followed, and `.git` is not entered.",
    arguments: &[
        Argument::required("pattern", Shape::Text, "The pattern, such as `src/**/*.rs`."),
        Argument::optional(
            "cwd",
            Shape::Text,
            "The directory that the pattern starts from; the working directory if it is left out.",
        ),
    ],
    is_read_only: true,
    perform: glob,
};

/// What stands for something else in a pattern.
const SPECIAL: &[char] = &['*', '?', '[', ']', '{', '}', '\\'];

fn glob(arguments: &Arguments, site: &Site) -> Result<Answer, Trouble> {
    let (start, pattern) = start_and_pattern(arguments, site)?;
    let matcher = matcher_of(pattern)?;
    let mut lines = Vec::new();
    let dir = match site.root.open_dir(&start) {
        Err(refused @ Trouble::Refused { .. }) => return Err(refused),
        // A directory that is not there has nothing in it that fits.
        Err(Trouble::Failed(_)) => return Ok(answer_of(&lines)),
        Ok(dir) => dir,
    };
    let is_wanted = || site.is_wanted();
    let walked = Walk::everything(&site.root, &is_wanted).below(&dir, &start, &mut |found| {
        let path = found.place.path();
        let from_start = path.strip_prefix(start.path()).unwrap_or(path);
        if matcher.is_match(from_start) {
            if lines.len() == MOST_LINES {
                return ControlFlow::Break(());
            }
            let slash = if found.kind == FoundKind::Dir { "/" } else { "" };
            lines.push(format!("{}{slash}", found.place));
        }
        ControlFlow::Continue(())
    });
    if walked.is_break() {
        lines.push(format!("[… more than {MOST_LINES} paths fit: the rest is left out …]"));
    }
    Ok(answer_of(&lines))
}

fn answer_of(lines: &[String]) -> Answer {
    Answer::completed(match lines.is_empty() {
        true => "nothing fits the pattern".to_owned(),
        false => lines.join("\n"),
    })
}

/// Returns the directory to start in, which the pattern names as far as nothing in it is special, and
/// the rest of the pattern.
fn start_and_pattern<'a>(
    arguments: &'a Arguments,
    site: &Site,
) -> Result<(Place, &'a str), Trouble> {
    let asked = arguments.required("pattern");
    let (fixed, pattern) = divide(asked);
    let leads_up = Path::new(pattern).components().any(|part| part == Component::ParentDir);
    if leads_up {
        return Err(Trouble::Refused { file: asked.to_owned(), why: Refusal::Outside });
    }
    let cwd = match arguments.text("cwd") {
        Some(cwd) => site.root.place(cwd)?,
        None => Place::root(),
    };
    site.root.open_dir(&cwd)?;
    let start = match fixed {
        "" => cwd,
        fixed if fixed.starts_with('/') => site.root.place(fixed)?,
        fixed => cwd.join(Path::new(fixed)),
    };
    Ok((start, pattern))
}

/// Divides a pattern before the first part that has something special in it, or is the last one.
fn divide(pattern: &str) -> (&str, &str) {
    let special = pattern.find(SPECIAL).unwrap_or(pattern.len());
    match pattern[..special].rfind('/') {
        Some(0) => ("/", &pattern[1..]),
        Some(slash) => (&pattern[..slash], &pattern[slash + 1..]),
        None => ("", pattern),
    }
}

fn matcher_of(pattern: &str) -> Result<GlobMatcher, Trouble> {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let pattern = pattern.strip_suffix('/').unwrap_or(pattern);
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    let glob =
        glob.map_err(|cause| Trouble::Failed(format!("`pattern` is no pattern: {cause}")))?;
    Ok(glob.compile_matcher())
}
