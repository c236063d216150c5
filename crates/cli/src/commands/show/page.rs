//! Events on a page: a line for each, and its texts below.

use std::io;

use anstyle::Style;
use quipu_event::{Event, RunId};
use quipu_journal::Damage;

use super::excerpt::{Excerpt, Shortening, excerpt};
use super::needle::Needle;
use super::paper::Paper;
use crate::format::entry::{Entry, Part};
use crate::format::line::{margin_of, place, style_of, write_margin};
use crate::format::visible::{one_line, visible};
use crate::format::{span, style};

/// How far texts stand in.
const INDENT: usize = 6;
/// How much further texts stand in that have a label above them.
const FURTHER: usize = 2;
/// How wide a head may be before its rest is left out.
const WIDEST_HEAD: usize = 300;

/// A page that events are written on.
pub(super) struct Page<'a> {
    paper: Paper<'a>,
    shortening: Shortening,
    needle: Option<&'a Needle>,
    /// The run of the first event, which need not be named again.
    own: Option<RunId>,
    /// The day of the event before.
    day: Option<String>,
    /// Whether it has been said how to see what is hidden.
    has_hinted: bool,
}

impl<'a> Page<'a> {
    pub(super) fn new(
        paper: Paper<'a>,
        shortening: Shortening,
        needle: Option<&'a Needle>,
    ) -> Self {
        Page { paper, shortening, needle, own: None, day: None, has_hinted: false }
    }

    /// Writes an event.
    pub(super) fn show(&mut self, event: &Event) -> io::Result<()> {
        self.pass(event);
        self.turn_day(event)?;
        let entry = Entry::of(event);
        let mut gap = write_margin(self.paper.margin(margin_of(event)), event)?;
        let place = place(event, self.own.as_ref());
        let widest = if self.shortening == Shortening::None { usize::MAX } else { WIDEST_HEAD };
        for (text, style) in [(place, style::PLACE), (entry.head, style_of(entry.tone))] {
            if !text.is_empty() {
                self.paper.write(&std::mem::replace(&mut gap, "  ".to_owned()), style::PLAIN)?;
                self.paper.flow(&one_line(&text, widest), style, INDENT + FURTHER)?;
            }
        }
        self.paper.end_line()?;
        entry.parts.iter().try_for_each(|part| self.show_part(part))
    }

    /// Notes an event that is not shown.
    pub(super) fn pass(&mut self, event: &Event) {
        self.own.get_or_insert_with(|| event.run_id.clone());
    }

    /// Writes what stands in place of a line that is no event.
    pub(super) fn show_damage(&mut self, damage: &Damage) -> io::Result<()> {
        let what = format!("✗ damaged: {}", visible(&damage.to_string()));
        self.paper.flow(&what, style::BAD, INDENT)?;
        self.paper.end_line()
    }

    /// Ends the page.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.paper.flush()
    }

    fn turn_day(&mut self, event: &Event) -> io::Result<()> {
        let day = span::day(event.timestamp);
        if self.day.as_ref() != Some(&day) {
            self.paper.write(&format!("── {day} UTC ──"), style::DIM)?;
            self.paper.end_line()?;
            self.day = Some(day);
        }
        Ok(())
    }

    fn show_part(&mut self, part: &Part) -> io::Result<()> {
        let text = visible(&part.text);
        let lines = excerpt(&text, part.voice, self.shortening, self.needle);
        let mut indent = INDENT;
        if let Some(label) = &part.label {
            self.indent(indent)?;
            self.paper.write(&format!("{}:", one_line(label, WIDEST_HEAD)), style::DIM)?;
            indent += FURTHER;
            if let [line] = lines.as_slice() {
                self.paper.write(" ", style::PLAIN)?;
                return self.show_line(line, style_of(part.tone), indent);
            }
            self.paper.end_line()?;
        }
        for line in &lines {
            self.indent(indent)?;
            self.show_line(line, style_of(part.tone), indent)?;
        }
        Ok(())
    }

    fn indent(&mut self, columns: usize) -> io::Result<()> {
        self.paper.write(&" ".repeat(columns), style::PLAIN)
    }

    fn show_line(&mut self, line: &Excerpt<'_>, style: Style, indent: usize) -> io::Result<()> {
        let (text, left_out) = match line {
            Excerpt::Line(line) => (*line, None),
            Excerpt::Cut(line, rest) => (*line, Some(rest)),
            Excerpt::Hidden(what) => ("", Some(what)),
        };
        self.paper.flow(text, style, indent)?;
        if let Some(left_out) = left_out {
            self.paper.flow(left_out, style::DIM, indent)?;
            if !std::mem::replace(&mut self.has_hinted, true) {
                self.paper.flow("; --full shows all", style::DIM, indent)?;
            }
        }
        self.paper.end_line()
    }
}
