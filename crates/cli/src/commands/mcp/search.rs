//! The tool `search`.

use anyhow::{Context as _, ensure};
use quipu_event::{Event, RunId};
use quipu_journal::{Layout, ReadProblem, Reader};
use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

use super::bounds::EITHER;
use super::toolset::{GivenUp, Said};
use super::wire::Search;
use super::{find, words};
use crate::commands::ls::{newest_first, now};
use crate::commands::show::filter::is_of_type;
use crate::format::visible::one_line;

/// How many matches are told unless asked otherwise, and at most.
const USUAL: usize = 20;
const MOST: usize = 100;
/// How many bytes of transcripts are looked at before the rest is left to a narrower search.
const FARTHEST: u64 = 1024 * 1024 * 1024;
/// How much is shown before and behind a match.
const AROUND: usize = 120;

pub(super) fn said(layout: &Layout, asked: &Search, given_up: &GivenUp) -> anyhow::Result<Said> {
    let pattern = pattern(asked)?;
    let runs = match &asked.run {
        Some(name) => vec![find::run(layout, name)?],
        None => newest_first(layout, now()?)?.runs.into_iter().map(|run| run.run_id).collect(),
    };
    if runs.is_empty() {
        return Ok(Said { text: find::none(layout), structured: Some(json!({ "matches": [] })) });
    }
    let mut found = Found { skip: asked.offset.unwrap_or(0), ..Found::default() };
    found.limit = asked.limit.unwrap_or(USUAL).clamp(1, MOST);
    for run in &runs {
        if found.end.is_some() || given_up.is_so() {
            break;
        }
        look_through(layout, run, asked, &pattern, &mut found, given_up)?;
        found.runs += 1;
    }
    Ok(found.finish(asked, runs.len()))
}

fn pattern(asked: &Search) -> anyhow::Result<Regex> {
    ensure!(!asked.query.is_empty(), "query is empty");
    let text = match asked.regex.unwrap_or(false) {
        true => asked.query.clone(),
        false => regex::escape(&asked.query),
    };
    let mut builder = RegexBuilder::new(&text);
    builder.case_insensitive(asked.case_insensitive.unwrap_or(true)).multi_line(true);
    builder.size_limit(1024 * 1024).build().context("query is no regular expression")
}

fn look_through(
    layout: &Layout,
    run: &RunId,
    asked: &Search,
    pattern: &Regex,
    found: &mut Found,
    given_up: &GivenUp,
) -> anyhow::Result<()> {
    let types = asked.types.as_deref().unwrap_or_default();
    // A run that vanished since it was listed has nothing to say.
    let Ok(mut reader) = Reader::open(layout.transcript(run)) else { return Ok(()) };
    let mut before = 0;
    while let Some(item) = reader.next() {
        let offset = reader.offset();
        found.bytes += offset.saturating_sub(before);
        before = offset;
        let event = match item {
            Ok(event) => event,
            Err(ReadProblem::Io(_)) => return Ok(()),
            Err(ReadProblem::Damaged { .. }) => continue,
        };
        let kind = event.kind.as_str();
        if types.is_empty() || types.iter().any(|wanted| is_of_type(kind, wanted)) {
            found.look_at(run, &event, pattern);
        }
        if found.bytes > FARTHEST {
            found.end.get_or_insert(End::TooFar);
        }
        if found.end.is_some() || given_up.is_so() {
            return Ok(());
        }
    }
    Ok(())
}

/// What was found so far.
#[derive(Default)]
struct Found {
    limit: usize,
    skip: usize,
    skipped: usize,
    text: String,
    matches: Vec<Value>,
    /// How long the matches are as a structure.
    length: usize,
    runs: usize,
    bytes: u64,
    end: Option<End>,
}

/// Why it was not looked any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Full,
    TooFar,
}

impl Found {
    fn look_at(&mut self, run: &RunId, event: &Event, pattern: &Regex) {
        let Some(excerpt) = words::find(event, |text| excerpt(text, pattern)) else { return };
        if self.skipped < self.skip {
            self.skipped += 1;
            return;
        }
        let (kind, path) = (event.kind.as_str(), event.path.as_str());
        let row = format!("{run} #{} {kind} {path}  {excerpt}\n", event.seq);
        let structured = json!({
            "run_id": run,
            "seq": event.seq,
            "type": kind,
            "path": path,
            "timestamp": event.timestamp,
            "excerpt": excerpt,
        });
        let length = self.length + structured.to_string().len();
        let is_too_long = self.text.len() + row.len() > EITHER || length > EITHER;
        if self.matches.len() >= self.limit || (is_too_long && !self.matches.is_empty()) {
            self.end = Some(End::Full);
            return;
        }
        self.length = length;
        self.text.push_str(&row);
        self.matches.push(structured);
    }

    fn finish(self, asked: &Search, of_runs: usize) -> Said {
        let next = self.skipped + self.matches.len();
        let note = match (self.end, self.matches.is_empty()) {
            (Some(End::Full), _) => format!("there are more: continue with offset {next}"),
            (Some(End::TooFar), _) => format!(
                "only the newest {} of {of_runs} runs were looked through: narrow it by run",
                self.runs
            ),
            (None, true) if self.skip == 0 => {
                format!("nothing matches {:?} in {of_runs} runs", asked.query)
            }
            (None, _) => "these are all the matches".to_owned(),
        };
        let next = (self.end == Some(End::Full)).then_some(next);
        let structured = json!({ "matches": self.matches, "next_offset": next, "note": note });
        Said { text: format!("{}[{note}]", self.text), structured: Some(structured) }
    }
}

/// Returns a line of what surrounds the first match.
fn excerpt(text: &str, pattern: &Regex) -> Option<String> {
    let found = pattern.find(text)?;
    let start = text.floor_char_boundary(found.start().saturating_sub(AROUND));
    let end =
        text.ceil_char_boundary((found.end().min(found.start() + AROUND) + AROUND).min(text.len()));
    let (before, after) =
        (if start > 0 { "…" } else { "" }, if end < text.len() { "…" } else { "" });
    Some(format!("{before}{}{after}", one_line(&text[start..end], 4 * AROUND)))
}
