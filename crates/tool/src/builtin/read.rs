//! Read: the text of a file, or some lines of it.

use std::io::{BufRead, BufReader, Read};

use quipu_event::Kind;

use super::LONGEST_FILE;
use super::arguments::{Argument, Arguments, Shape};
use super::on_files::{Site, Work};
use crate::Answer;
use crate::sandbox::{Opened, Place, Trouble};

/// How much of a file is looked at to tell whether it is text.
const LOOKED_AT: usize = 8 * 1024;

pub(super) const READ: Work = Work {
    name: "Read",
    description: "Reads a text file, whole or some lines of it. Files of more than 5 MiB are read by \
                  `offset` and `limit`. The path is relative to the working directory, or absolute and \
                  within it.",
    arguments: &[
        Argument::required("path", Shape::Text, "The file to read.").or("file_path"),
        Argument::optional(
            "offset",
            Shape::Whole { least: 0, most: u64::MAX },
            "The first line to read, counted from 1.",
        ),
        Argument::optional(
            "limit",
            Shape::Whole { least: 1, most: u64::MAX },
            "How many lines to read.",
        ),
    ],
    is_read_only: true,
    perform: read,
};

fn read(arguments: &Arguments, site: &Site) -> Result<Answer, Trouble> {
    let place = site.root.place(arguments.required("path"))?;
    let opened = site.root.open_file(&place)?;
    let (offset, limit) = (arguments.whole("offset"), arguments.whole("limit"));
    let size = opened.size;
    if offset.is_none() && limit.is_none() && size > LONGEST_FILE {
        let advice = "read it in parts, with `offset` and `limit` in lines";
        return Err(failed(&place, &format!("is {size} bytes long, more than 5 MiB: {advice}")));
    }
    let mut lines = text_of(opened, &place)?;
    let passed = match (offset, limit) {
        (None, None) => bounded(&mut lines, &place)?,
        (offset, limit) => {
            let part = Part { first: offset.unwrap_or(1).max(1), limit: limit.unwrap_or(u64::MAX) };
            part.of(&mut lines, &place, site)?
        }
    };
    site.passed(Kind::FileRead, &place, &passed);
    Ok(Answer::completed(String::from_utf8_lossy(&passed).into_owned()))
}

/// Returns a file as text to be read, unless it is none.
fn text_of(opened: Opened, place: &Place) -> Result<impl BufRead, Trouble> {
    let Opened { file, size } = opened;
    let mut lines = BufReader::with_capacity(LOOKED_AT, file);
    let start = lines.fill_buf().map_err(|cause| failed(place, &cause.to_string()))?;
    if start.contains(&0) {
        return Err(failed(place, &format!("is a binary file of {size} bytes, and is not shown")));
    }
    Ok(lines)
}

/// Reads to the end of a file that may have grown since its size was looked at.
fn bounded(lines: &mut impl BufRead, place: &Place) -> Result<Vec<u8>, Trouble> {
    let mut text = Vec::new();
    let read = lines.take(LONGEST_FILE + 1).read_to_end(&mut text);
    read.map_err(|cause| failed(place, &cause.to_string()))?;
    match text.len() as u64 > LONGEST_FILE {
        true => Err(failed(place, "is more than 5 MiB long")),
        false => Ok(text),
    }
}

/// Some lines of a file.
struct Part {
    first: u64,
    limit: u64,
}

impl Part {
    fn of(&self, lines: &mut impl BufRead, place: &Place, site: &Site) -> Result<Vec<u8>, Trouble> {
        let mut text = Vec::new();
        let past = self.first.saturating_add(self.limit);
        let mut number = 1;
        while number < past && site.is_wanted() {
            let is_wanted = number >= self.first;
            let line = take_line(lines, is_wanted.then_some(&mut text), || site.is_wanted());
            let line = line.map_err(|cause| failed(place, &cause.to_string()))?;
            match line {
                Line::None if number <= self.first && number > 1 => {
                    let has =
                        format!("has {} lines, so there is no line {}", number - 1, self.first);
                    return Err(failed(place, &has));
                }
                Line::None => break,
                Line::TooLong => {
                    return Err(failed(place, "has more than 5 MiB in these lines: ask for fewer"));
                }
                Line::Taken => number += 1,
            }
        }
        Ok(text)
    }
}

enum Line {
    Taken,
    TooLong,
    None,
}

/// Takes a line, piece by piece: one that is not wanted is never in memory as a whole.
///
/// A line may have no end to speak of, so `go_on` is asked within it too.
fn take_line(
    lines: &mut impl BufRead,
    mut text: Option<&mut Vec<u8>>,
    go_on: impl Fn() -> bool,
) -> std::io::Result<Line> {
    let mut line = Line::None;
    loop {
        let piece = lines.fill_buf()?;
        if piece.is_empty() || !go_on() {
            return Ok(line);
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(piece.len(), |end| end + 1);
        if let Some(text) = text.as_mut() {
            if (text.len() + length) as u64 > LONGEST_FILE {
                return Ok(Line::TooLong);
            }
            text.extend_from_slice(&piece[..length]);
        }
        lines.consume(length);
        line = Line::Taken;
        if end.is_some() {
            return Ok(line);
        }
    }
}

fn failed(place: &Place, why: &str) -> Trouble {
    Trouble::Failed(format!("{place}: {why}"))
}
