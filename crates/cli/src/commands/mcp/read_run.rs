//! The tool `read_run`.

use quipu_event::Event;
use quipu_journal::{Layout, Reader};

use super::find;
use super::page::Page;
use super::toolset::{GivenUp, Said};
use super::wire::ReadRun;
use crate::commands::show::filter::{is_inside, is_of_type};
use crate::format::damage::DamageCount;

/// How many events are shown unless asked otherwise, and at most.
const USUAL: usize = 50;
const MOST: usize = 1000;

pub(super) fn said(layout: &Layout, asked: &ReadRun, given_up: &GivenUp) -> anyhow::Result<Said> {
    let run = find::run(layout, &asked.run)?;
    let usual = if asked.text_offset.is_some() { 1 } else { USUAL };
    let limit = asked.limit.unwrap_or(usual).clamp(1, MOST);
    let mut page = match limit {
        1 => Page::of_one(&run, asked.format, asked.text_offset.unwrap_or(0)),
        _ => Page::of_many(&run, asked.format),
    };
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
        if is_wanted(&event, asked) && (page.shown() >= limit || !page.take(&event)) {
            page.go_on_at(event.seq);
            break;
        }
    }
    let mut notes = Vec::new();
    if page.shown() == 0 {
        notes.push(nothing(asked, last_seq));
    }
    if damage.lines() > 0 {
        notes.push(format!("{} damaged lines were passed over", damage.lines()));
    }
    Ok(page.finish(notes))
}

fn is_wanted(event: &Event, asked: &ReadRun) -> bool {
    let types = asked.types.as_deref().unwrap_or_default();
    let kind = event.kind.as_str();
    (types.is_empty() || types.iter().any(|wanted| is_of_type(kind, wanted)))
        && asked.path.as_deref().is_none_or(|path| is_inside(event.path.as_str(), path))
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
