//! The tool `read_run`.

use quipu_event::{Event, RunId, encode_line};
use quipu_journal::{Layout, Reader};
use serde_json::{Value, json};

use super::bounds::{ANSWER, EVENT, ONLY_EVENT, shorten};
use super::toolset::{GivenUp, Said};
use super::wire::{Format, ReadRun};
use super::{find, words};
use crate::commands::show::filter::{is_inside, is_of_type};
use crate::format::damage::DamageCount;

/// How many events are shown unless asked otherwise, and at most.
const USUAL: usize = 50;
const MOST: usize = 1000;

pub(super) fn said(layout: &Layout, asked: &ReadRun, given_up: &GivenUp) -> anyhow::Result<Said> {
    let run = find::run(layout, &asked.run)?;
    let limit = asked.limit.unwrap_or(USUAL).clamp(1, MOST);
    let longest = if limit == 1 { ONLY_EVENT } else { EVENT };
    let mut page = Page { run: &run, format: asked.format, longest, ..Page::new(&run) };
    let mut damage = DamageCount::default();
    let mut last_seq = None;
    for item in Reader::from_seq(layout.transcript(&run), asked.from_seq.unwrap_or(1))? {
        if given_up.is_so() {
            break;
        }
        let event = match item {
            Ok(event) => event,
            Err(problem) => {
                damage.note(problem)?;
                continue;
            }
        };
        last_seq = Some(event.seq);
        if is_wanted(&event, asked) && (page.shown >= limit || !page.take(&event)) {
            page.next = Some(event.seq);
            break;
        }
    }
    Ok(page.finish(asked, last_seq, damage.lines()))
}

fn is_wanted(event: &Event, asked: &ReadRun) -> bool {
    let types = asked.types.as_deref().unwrap_or_default();
    let kind = event.kind.as_str();
    (types.is_empty() || types.iter().any(|wanted| is_of_type(kind, wanted)))
        && asked.path.as_deref().is_none_or(|path| is_inside(event.path.as_str(), path))
}

/// An answer in the making.
struct Page<'a> {
    run: &'a RunId,
    format: Format,
    longest: usize,
    text: String,
    events: Vec<Value>,
    shown: usize,
    /// The first event that was shortened.
    shortened: Option<u64>,
    /// The first event that did not fit.
    next: Option<u64>,
}

impl<'a> Page<'a> {
    fn new(run: &'a RunId) -> Self {
        Page {
            run,
            format: Format::Text,
            longest: EVENT,
            text: String::new(),
            events: Vec::new(),
            shown: 0,
            shortened: None,
            next: None,
        }
    }

    /// Adds an event, if it still fits.
    fn take(&mut self, event: &Event) -> bool {
        let (text, is_whole, value) = match self.format {
            Format::Text => {
                let (text, is_whole) = words::of(event, self.run, self.longest);
                (text, is_whole, None)
            }
            Format::Events => recorded(event, self.longest),
        };
        if self.text.len() + text.len() > ANSWER {
            return false;
        }
        self.text.push_str(&text);
        self.events.extend(value);
        self.shown += 1;
        if !is_whole {
            self.shortened.get_or_insert(event.seq);
        }
        true
    }

    fn finish(mut self, asked: &ReadRun, last_seq: Option<u64>, damaged: u64) -> Said {
        let mut notes = Vec::new();
        if self.shown == 0 {
            notes.push(nothing(asked, last_seq));
        }
        if let Some(seq) = self.shortened {
            let how = match self.longest {
                ONLY_EVENT => "it cannot be shown in full here".to_owned(),
                _ => format!("from_seq {seq} with limit 1 shows more of it"),
            };
            notes.push(format!("event {seq} and others as long were shortened: {how}"));
        }
        if damaged > 0 {
            notes.push(format!("{damaged} damaged lines were passed over"));
        }
        notes.push(match self.next {
            Some(next) => format!("there is more: continue with from_seq {next}"),
            None => "this is the end of what is recorded".to_owned(),
        });
        let structured = (self.format == Format::Events).then(|| {
            let events = std::mem::take(&mut self.events);
            json!({ "run_id": self.run, "events": events, "next_from_seq": self.next, "notes": notes })
        });
        let text = format!("run {}\n{}[{}]", self.run, self.text, notes.join("; "));
        Said { text, structured }
    }
}

fn nothing(asked: &ReadRun, last_seq: Option<u64>) -> String {
    let is_filtered = asked.types.is_some() || asked.path.is_some();
    match last_seq {
        Some(last) if is_filtered => {
            format!("no event up to {last} is of these types and at this path")
        }
        _ => "there is no event from there on".to_owned(),
    }
}

/// Returns an event as it is recorded, shortened if it must be.
fn recorded(event: &Event, longest: usize) -> (String, bool, Option<Value>) {
    let mut line = String::new();
    encode_line(event, &mut line);
    let mut value: Value = serde_json::from_str(&line).unwrap_or_else(|_| Value::from(line));
    let mut is_whole = true;
    // The envelope is what an event is found by; only what is in it is shortened.
    for part in ["payload", "raw"] {
        if let Some(inner) = value.get_mut(part) {
            is_whole &= !shorten(inner, longest - longest / 4);
        }
    }
    is_whole &= !shorten(&mut value, longest);
    (format!("{value}\n"), is_whole, Some(value))
}
