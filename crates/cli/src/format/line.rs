//! The one line that stands for an event: when, which, what, where, and its head.

use std::io::{self, Write};

use anstyle::Style;
use quipu_event::{Event, RunId};

use super::entry::{Entry, Tone, short_id};
use super::visible::{columns, cut_at, one_line};
use super::{span, style};

/// How wide the type is set; longer types push the rest to the right.
const KIND_WIDTH: usize = 17;
/// Types from the future are cut here.
const WIDEST_KIND: usize = 40;

/// Returns the colour of a tone.
pub(crate) fn style_of(tone: Tone) -> Style {
    match tone {
        Tone::Neutral => style::PLAIN,
        Tone::Good => style::GOOD,
        Tone::Bad => style::BAD,
        Tone::Faint => style::DIM,
        Tone::Action => style::BUSY,
    }
}

/// Writes when, which and what: everything that is of the same width on most lines.
///
/// Returns the gap before what follows, to be written only if something does.
pub(crate) fn write_margin(out: &mut dyn Write, event: &Event) -> io::Result<String> {
    let (dim, label) = (style::DIM, style::of_kind(event.kind.as_str()));
    let time = span::time_of_day(event.timestamp);
    let kind = one_line(event.kind.as_str(), WIDEST_KIND);
    write!(out, "{dim}{time}  {:>5}{dim:#}  {label}{kind}{label:#}", event.seq)?;
    Ok(" ".repeat(KIND_WIDTH.saturating_sub(columns(&kind)) + 2))
}

/// Returns how many columns the margin of `event` takes, without the gap behind it.
pub(crate) fn margin_of(event: &Event) -> usize {
    let number = event.seq.checked_ilog10().unwrap_or(0) as usize + 1;
    let kind = columns(&one_line(event.kind.as_str(), WIDEST_KIND));
    "10:14:42.123".len() + 2 + number.max(5) + 2 + kind
}

/// Returns where it happened: the path, who did it, and the run if it is not the file's own.
pub(crate) fn place(event: &Event, own: Option<&RunId>) -> String {
    let mut place = event.path.as_str().to_owned();
    let mut add = |text: &str| {
        if !place.is_empty() {
            place.push(' ');
        }
        place.push_str(text);
    };
    if let Some(source) = &event.source {
        add(&format!("‹{source}›"));
    }
    if own.is_some_and(|own| *own != event.run_id) {
        add(&format!("‹run {}›", short_id(&event.run_id)));
    }
    one_line(&place, 200)
}

/// Writes `event` as one line of at most `width` columns.
pub(crate) fn write_line(
    out: &mut dyn Write,
    event: &Event,
    own: Option<&RunId>,
    width: usize,
) -> io::Result<()> {
    let entry = Entry::of(event);
    let mut gap = write_margin(out, event)?;
    let margin = margin_of(event) + gap.len() - 2;
    let mut room = width.saturating_sub(margin).max(20);
    let mut write = |text: &str, style: Style| {
        if text.is_empty() || room < 4 {
            return Ok(());
        }
        let text = one_line(text, room - 2);
        room = room.saturating_sub(2 + columns(&text));
        write!(out, "{}{style}{text}{style:#}", std::mem::replace(&mut gap, "  ".to_owned()))
    };
    write(&place(event, own), style::PLACE)?;
    write(&entry.head, style_of(entry.tone))?;
    for part in &entry.parts {
        // No more is looked at than could be shown, since a part may be very long.
        let text = &part.text[..cut_at(&part.text, 4 * width)];
        let text = match &part.label {
            Some(label) => format!("{label}: {text}"),
            None => text.to_owned(),
        };
        write(&text, style_of(part.tone))?;
    }
    writeln!(out)
}
