//! Some events as an answer: as many as there is room for, or one of them piece by piece.

use quipu_event::{Event, RunId, encode_line};
use serde_json::{Value, json};

use super::bounds::{ANSWER, EITHER, EVENT, cut, shorten};
use super::toolset::Said;
use super::wire::Format;
use super::words;

/// An answer in the making.
pub(super) struct Page<'a> {
    run: &'a RunId,
    format: Format,
    /// Where in its text to begin, if one event is to be shown in full.
    alone: Option<usize>,
    text: String,
    events: Vec<Value>,
    shown: usize,
    /// What is shown of an event that is too long for one answer.
    piece: Option<Piece>,
    /// The first event that was shortened.
    shortened: Option<u64>,
    /// The first event that did not fit.
    next: Option<u64>,
}

/// A part of the text of an event, in bytes.
struct Piece {
    seq: u64,
    from: usize,
    to: usize,
    whole: usize,
}

impl<'a> Page<'a> {
    /// Begins an answer of one event, from some byte of its text on.
    pub(super) fn of_one(run: &'a RunId, format: Format, from: usize) -> Self {
        Page { alone: Some(from), ..Page::of_many(run, format) }
    }

    /// Begins an answer of several events, each of which may be shortened.
    pub(super) fn of_many(run: &'a RunId, format: Format) -> Self {
        Page {
            run,
            format,
            alone: None,
            text: String::new(),
            events: Vec::new(),
            shown: 0,
            piece: None,
            shortened: None,
            next: None,
        }
    }

    /// Returns how many events it has.
    pub(super) fn shown(&self) -> usize {
        self.shown
    }

    /// Adds an event, if it still fits.
    pub(super) fn take(&mut self, event: &Event) -> bool {
        let mut text = match self.format {
            Format::Text => words::of(event, self.run),
            Format::Events => recorded(event),
        };
        match self.alone {
            Some(from) if from > 0 || text.len() > self.room() => {
                self.take_piece(event.seq, from, &text);
                return true;
            }
            Some(_) => {}
            None => {
                if self.is_shortened(&mut text) {
                    self.shortened.get_or_insert(event.seq);
                }
            }
        }
        if self.text.len() + text.len() > self.room() {
            return false;
        }
        if self.format == Format::Events {
            let value = serde_json::from_str(&text);
            self.events.push(value.unwrap_or_else(|_| Value::from(text.trim_end())));
        }
        self.text.push_str(&text);
        self.shown += 1;
        true
    }

    /// Says which event is the next one that did not fit.
    pub(super) fn go_on_at(&mut self, seq: u64) {
        self.next = Some(seq);
    }

    /// Ends the answer, with how to go on.
    pub(super) fn finish(self, mut notes: Vec<String>) -> Said {
        if let Some(seq) = self.shortened {
            notes.push(format!(
                "event {seq} and others as long were shortened: from_seq {seq} with limit 1 shows all of it"
            ));
        }
        notes.push(match (&self.piece, self.next) {
            (Some(Piece { seq, from, to, whole }), _) if to < whole => format!(
                "these are bytes {from} to {to} of {whole} of event {seq}: continue with from_seq {seq} and \
                 text_offset {to}"
            ),
            (_, Some(next)) => format!("there is more: continue with from_seq {next}"),
            (_, None) => "this is the end of what is recorded".to_owned(),
        });
        // A piece of an event is no structure.
        let is_structured = self.format == Format::Events && self.piece.is_none();
        let structured = is_structured.then(|| {
            json!({ "run_id": self.run, "events": self.events, "next_from_seq": self.next, "notes": notes })
        });
        let end = if self.text.ends_with('\n') || self.text.is_empty() { "" } else { "\n" };
        let text = format!("run {}\n{}{end}[{}]", self.run, self.text, notes.join("; "));
        Said { text, structured }
    }

    /// Returns how long the text may be: shorter if it is said twice.
    fn room(&self) -> usize {
        match self.format {
            Format::Text => ANSWER,
            Format::Events => EITHER,
        }
    }

    fn take_piece(&mut self, seq: u64, from: usize, text: &str) {
        let whole = text.len();
        let from = text.floor_char_boundary(from);
        let to = text.floor_char_boundary(from.saturating_add(ANSWER));
        self.text.push_str(&text[from..to]);
        self.piece = Some(Piece { seq, from, to, whole });
        self.shown += 1;
    }

    /// Shortens an event among others, and tells whether it had to.
    fn is_shortened(&self, text: &mut String) -> bool {
        if text.len() <= EVENT {
            return false;
        }
        match self.format {
            Format::Text => {
                cut(text, EVENT);
                text.push('\n');
            }
            Format::Events => *text = shortened_line(text),
        }
        true
    }
}

/// Returns an event as it is recorded.
fn recorded(event: &Event) -> String {
    let mut line = String::new();
    encode_line(event, &mut line);
    if !line.ends_with('\n') {
        line.push('\n');
    }
    line
}

/// Returns a line that has the same envelope, which is what an event is found by, and less in it.
fn shortened_line(line: &str) -> String {
    let mut value: Value = serde_json::from_str(line).unwrap_or_else(|_| Value::from(line));
    for part in ["payload", "raw"] {
        if let Some(inner) = value.get_mut(part) {
            shorten(inner, EVENT - EVENT / 4);
        }
    }
    shorten(&mut value, EVENT);
    format!("{value}\n")
}
