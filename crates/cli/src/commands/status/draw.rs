//! Where a run is, as a person reads it.

use quipu_event::Timestamp;
use quipu_journal::RunState;

use super::Look;
use super::course::OpenStep;
use crate::format::count;
use crate::format::span::duration;
use crate::format::style;
use crate::format::visible::{one_line, visible};

/// How much of a command or an error is shown.
const WIDEST: usize = 160;

/// Returns the lines that say where a run is.
pub(super) fn lines(look: &Look, now: Timestamp) -> Vec<String> {
    let mut lines = vec![headline(look, now)];
    let dim = style::DIM;
    lines.push(format!("  {dim}{}{dim:#}", look.path.display()));
    if let Some(facts) = facts(look) {
        lines.push(format!("  {facts}"));
    }
    if look.is_open() {
        let until = if look.is_live() { now } else { look.course.latest.unwrap_or(now) };
        lines.extend(look.course.open.iter().map(|step| row(step, look, until)));
    } else if let Some(failure) = failure(look) {
        lines.push(format!("  {failure}"));
    }
    lines.extend(hint(look).map(|hint| format!("  {dim}{hint}{dim:#}")));
    lines
}

fn headline(look: &Look, now: Timestamp) -> String {
    let standing = look.standing();
    let (colour, bold) = (standing.style(), style::BOLD);
    let name = look.course.name.as_deref().unwrap_or("run");
    let word = look.word();
    let joint = if look.is_live() { "for" } else { "after" };
    let took = look.duration_ms(now).map(|took| format!(" {joint} {}", duration(took)));
    let took = took.unwrap_or_default();
    format!(
        "{colour}{}{colour:#} {bold}{}{bold:#} {}  {colour}{word}{colour:#}{took}",
        standing.sign(),
        visible(name),
        look.short_id(),
    )
}

fn facts(look: &Look) -> Option<String> {
    let mut facts: Vec<String> = look
        .course
        .ended
        .iter()
        .map(|(status, number)| format!("{} {status}", count::of(*number, "step")))
        .collect();
    if look.course.usage.total().is_some_and(|total| total > 0) {
        facts.push(count::tokens(&look.course.usage));
    }
    (!facts.is_empty()).then(|| facts.join(", "))
}

fn row(step: &OpenStep, look: &Look, now: Timestamp) -> String {
    let (bold, dim) = (style::BOLD, style::DIM);
    let (busy, sign) = (look.standing().style(), look.standing().sign());
    let indent = "  ".repeat(step.depth() + 1);
    let name = one_line(&step.path, WIDEST);
    let mut row = format!("{indent}{busy}{sign}{busy:#} {bold}{name}{bold:#}");
    match step.iteration {
        Some((index, Some(total))) => row += &format!(" {}/{total}", index + 1),
        Some((index, None)) => row += &format!(" iteration {}", index + 1),
        None => {}
    }
    if step.attempt > 1 {
        row += &format!(" (attempt {})", step.attempt);
    }
    let took = duration(now.millis_since(step.started));
    row += &format!(" {dim}{took} {}{dim:#}", visible(&step.kind));
    if let Some(detail) = &step.detail {
        row += &format!("{dim}: {}{dim:#}", one_line(detail, WIDEST));
    }
    row
}

fn failure(look: &Look) -> Option<String> {
    let bad = style::BAD;
    let end = look.course.end.as_ref();
    if end.is_some_and(|end| !end.status.is_failure()) {
        return None;
    }
    let error = end.and_then(|end| end.error.as_deref());
    if let Some(error) = error {
        return Some(format!("{bad}{}{bad:#}", one_line(error, WIDEST)));
    }
    let failure = look.course.failure.as_ref()?;
    let why = failure.error.as_deref().unwrap_or("failed");
    Some(format!("{}: {bad}{}{bad:#}", visible(&failure.path), one_line(why, WIDEST)))
}

/// Says what a person can do from here.
fn hint(look: &Look) -> Option<String> {
    let (id, storage) = (look.short_id(), &look.storage_flag);
    match look.listing.state {
        RunState::Live(_) => Some(format!("quipu tail -f {id}{storage}")),
        RunState::Interrupted if look.listing.bytes == 0 => {
            Some("it ended before its first line: `quipu run` starts it again".to_owned())
        }
        RunState::Interrupted if look.course.has_definition => {
            Some(format!("nobody writes it any more; `quipu resume {id}{storage}` goes on with it"))
        }
        RunState::Interrupted => Some(format!(
            "nobody writes it any more; `quipu repair {id}{storage}` gives it its end"
        )),
        RunState::Ended if look.has_failed() && look.course.has_definition => {
            Some(format!("quipu tree {id}{storage}; quipu resume {id}{storage}"))
        }
        RunState::Ended => Some(format!("quipu tree {id}{storage}")),
    }
}
