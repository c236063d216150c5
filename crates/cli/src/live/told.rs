//! What each display event says, as lines that stay. Foreign text never reaches a terminal as it is.

use anstream::adapter::strip_str;
use quipu_event::StepPath;
use quipu_event::payload::Status;
use quipu_workflow::display::DisplayEvent;
use quipu_workflow::engine::Occurrence;

use super::said::Said;
use crate::format::count;
use crate::format::span::duration;
use crate::format::status::Standing;
use crate::format::style;
use crate::format::visible::{one_line, visible};

/// How much of an error or a thought is told on one line.
const WIDEST: usize = 300;

/// How many lines of a prompt are told: people paste whole files.
const PROMPT_LINES: usize = 12;

/// Returns the lines that an event leaves behind. The start of a step is none of them.
pub(super) fn lines(event: &DisplayEvent, said: &mut Said) -> Vec<String> {
    match event {
        DisplayEvent::Output { at, stream, text } => output(at, stream, text),
        DisplayEvent::Text { at, text, delta } => spoken(at, text, *delta, said),
        _ => {
            let mut lines: Vec<String> =
                place(event).and_then(|at| rest(at, said)).into_iter().collect();
            match event {
                DisplayEvent::Prompt { at, text } => lines.extend(asked(at, text)),
                _ => lines.extend(fact(event)),
            }
            lines
        }
    }
}

/// Returns the line that says that a step begins.
pub(super) fn begin(at: &Occurrence, kind: &str, detail: Option<&str>) -> String {
    let dim = style::DIM;
    let about = about(kind, detail);
    format!("{dim}→{dim:#} {} {dim}{about}{dim:#}", label(at))
}

/// Returns what a step is about: `command: cargo test`.
pub(super) fn about(kind: &str, detail: Option<&str>) -> String {
    match detail {
        Some(detail) => format!("{}: {}", visible(kind), one_line(&plain(detail), WIDEST)),
        None => visible(kind).into_owned(),
    }
}

/// Returns foreign text as it can be shown: without escapes, and only the last of what was written
/// over itself.
pub(super) fn plain(text: &str) -> String {
    let text = strip_str(text).to_string();
    let last = text.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default();
    visible(last).into_owned()
}

/// Returns where an event belongs, for those that end what is being said there.
fn place(event: &DisplayEvent) -> Option<&Occurrence> {
    match event {
        DisplayEvent::ToolUse { at, .. }
        | DisplayEvent::Thinking { at, .. }
        | DisplayEvent::Prompt { at, .. }
        | DisplayEvent::Retry { at, .. }
        | DisplayEvent::StepCompleted { at, .. } => Some(at),
        _ => None,
    }
}

fn fact(event: &DisplayEvent) -> Option<String> {
    let dim = style::DIM;
    match event {
        DisplayEvent::Thinking { at, text } => {
            let text = one_line(&strip_str(text).to_string(), WIDEST);
            Some(within(&at.path, &format!("{dim}∴ {text}{dim:#}")))
        }
        DisplayEvent::ToolUse { at, name, argument, .. } => {
            Some(within(&at.path, &tool(name, argument.as_deref())))
        }
        DisplayEvent::ToolResult { at, name, status, .. } if *status != Status::Succeeded => {
            let odd = style::ODD;
            let told = format!("{odd}⚙ {} {}{odd:#}", tool_name(name), status.as_str());
            Some(within(&at.path, &told))
        }
        DisplayEvent::Retry { at, delay_ms, error } => {
            let odd = style::ODD;
            let wait = duration(*delay_ms);
            let why = error.as_deref().map(|why| format!(": {}", one_line(why, WIDEST)));
            let why = why.unwrap_or_default();
            Some(format!("{odd}↻{odd:#} {} {dim}again in {wait}{why}{dim:#}", label(at)))
        }
        DisplayEvent::Log { at, level, text } => Some(log(at.as_ref(), level, text)),
        DisplayEvent::StepCompleted { at, status, error, duration_ms, .. } => {
            Some(end(at, status, error.as_deref(), *duration_ms))
        }
        _ => None,
    }
}

/// Returns a tool and its argument as `⚙ Read(src/main.rs)`.
pub(super) fn tool(name: &str, argument: Option<&str>) -> String {
    let purple = style::of_kind("tool.call");
    let argument = argument.map(|argument| one_line(&plain(argument), WIDEST)).unwrap_or_default();
    format!("{purple}⚙ {}{purple:#}({argument})", tool_name(name))
}

/// Returns a tool's name in one line: who draws over what was drawn counts on that.
fn tool_name(name: &str) -> String {
    one_line(&plain(name), WIDEST)
}

fn end(at: &Occurrence, status: &Status, error: Option<&str>, duration_ms: u64) -> String {
    let standing = Standing::Ended(status.clone());
    let (colour, dim) = (standing.style(), style::DIM);
    let took = duration(duration_ms);
    let mut line =
        format!("{colour}{}{colour:#} {} {dim}{took}{dim:#}", standing.sign(), label(at));
    match (error, status) {
        (Some(error), _) => {
            line += &format!(": {colour}{}{colour:#}", one_line(error, WIDEST));
        }
        (None, Status::Succeeded) => {}
        (None, status) => line += &format!(": {colour}{}{colour:#}", status.as_str()),
    }
    line
}

fn log(at: Option<&Occurrence>, level: &str, text: &str) -> String {
    let colour = if level == "warn" { style::ODD } else { style::BUSY };
    let sign = if level == "warn" { "!" } else { "·" };
    let place = at.map(|at| format!("{}: ", label(at))).unwrap_or_default();
    let text = visible(text.trim_end()).into_owned();
    format!("{colour}{sign}{colour:#} {place}{text}")
}

fn output(at: &Occurrence, stream: &str, text: &str) -> Vec<String> {
    let colour = if stream == "stderr" { style::ODD.dimmed() } else { style::DIM };
    let line = |line: &str| within(&at.path, &format!("{colour}{}{colour:#}", plain(line)));
    text.lines().map(line).collect()
}

fn asked(at: &Occurrence, text: &str) -> Vec<String> {
    let (bold, dim) = (style::BOLD, style::DIM);
    let all: Vec<&str> = text.trim().lines().collect();
    let line = |(n, line): (usize, &&str)| {
        let sign = if n == 0 { "›" } else { " " };
        within(&at.path, &format!("{bold}{sign} {}{bold:#}", plain(line)))
    };
    let mut lines: Vec<String> = all.iter().take(PROMPT_LINES).enumerate().map(line).collect();
    if let hidden @ 1.. = all.len().saturating_sub(PROMPT_LINES) {
        let hidden = count::of(hidden as u64, "more line");
        lines.push(within(&at.path, &format!("{dim}  … {hidden}{dim:#}")));
    }
    lines
}

fn spoken(at: &Occurrence, text: &str, delta: bool, said: &mut Said) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    if !delta {
        lines.extend(rest(at, said));
    }
    lines.extend(said.take(&at.path, text).iter().map(|line| within(&at.path, &plain(line))));
    if !delta {
        lines.extend(rest(at, said));
    }
    lines
}

fn rest(at: &Occurrence, said: &mut Said) -> Option<String> {
    said.end(&at.path).map(|rest| within(&at.path, &plain(&rest)))
}

/// Puts the step in front of something that it says.
fn within(path: &StepPath, text: &str) -> String {
    let place = style::PLACE.dimmed();
    if path.is_root() {
        return text.to_owned();
    }
    format!("{place}{} │{place:#} {text}", visible(path.as_str()))
}

fn label(at: &Occurrence) -> String {
    let bold = style::BOLD;
    let path = visible(at.path.as_str());
    match at.attempt {
        0 | 1 => format!("{bold}{path}{bold:#}"),
        attempt => format!("{bold}{path}{bold:#} (attempt {attempt})"),
    }
}
