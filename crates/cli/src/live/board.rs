//! What runs now, and the lines that are yet to be printed. A model without a terminal.

use std::time::Instant;

use quipu_event::StepPath;
use quipu_workflow::display::DisplayEvent;
use quipu_workflow::engine::Occurrence;

use super::said::Said;
use super::told;
use crate::format::span::duration;
use crate::format::style;

/// What is shown of a run.
#[derive(Default)]
pub(super) struct Board {
    /// The steps that run, each after the one it is in.
    running: Vec<Running>,
    /// The tools that run outside of every step.
    calls: Vec<Call>,
    said: Said,
    /// Lines that stay, not printed yet.
    lines: Vec<String>,
    /// How many of them are kept, if not all.
    most_lines: Option<usize>,
}

/// A step that runs.
struct Running {
    at: Occurrence,
    about: String,
    since: Instant,
    /// Which iteration, of how many.
    progress: Option<(u64, Option<u64>)>,
    /// What it does at this moment.
    doing: Option<String>,
}

/// A tool that runs in a session, which has no steps.
struct Call {
    at: Occurrence,
    id: String,
    about: String,
    since: Instant,
}

impl Board {
    /// Takes an event that happens `now`.
    pub(super) fn take(&mut self, event: &DisplayEvent, now: Instant) {
        self.lines.extend(told::lines(event, &mut self.said));
        self.forget_lines();
        match event {
            DisplayEvent::StepStarted { at, kind, detail, .. } => {
                let place = self.place_for(&at.path);
                let about = told::about(kind, detail.as_deref());
                let (at, progress, doing) = (at.clone(), None, None);
                self.running.insert(place, Running { at, about, since: now, progress, doing });
            }
            DisplayEvent::StepCompleted { at, .. } => {
                self.running.retain(|step| step.at != *at);
            }
            DisplayEvent::Iteration { at, index, total } => {
                self.update(at, |step| step.progress = Some((*index, *total)));
            }
            DisplayEvent::ToolUse { at, id, name, argument } => {
                let doing = told::tool(name, argument.as_deref());
                if !self.update(at, |step| step.doing = Some(doing.clone())) {
                    let (at, id) = (at.clone(), id.clone());
                    self.calls.push(Call { at, id, about: doing, since: now });
                }
            }
            DisplayEvent::ToolResult { at, id, .. } => {
                self.update(at, |step| step.doing = None);
                self.calls.retain(|call| call.id != *id);
            }
            // Some calls are never answered; whoever asks something new waits for none of them.
            DisplayEvent::Prompt { at, .. } => self.calls.retain(|call| call.at != *at),
            DisplayEvent::RunCompleted { .. } if self.running.is_empty() => self.calls.clear(),
            _ => {}
        }
    }

    /// Takes a line that is no event.
    pub(super) fn take_line(&mut self, line: String) {
        self.lines.push(line);
    }

    /// Keeps only the last `most` lines from now on, or all of them.
    pub(super) fn keep_lines(&mut self, most: Option<usize>) {
        if let Some(most) = self.most_lines.filter(|_| most.is_none()) {
            self.lines.drain(..self.lines.len().saturating_sub(most));
        }
        self.most_lines = most;
    }

    fn forget_lines(&mut self) {
        // Now and then: each time would move all that are kept.
        if let Some(most) = self.most_lines.filter(|most| self.lines.len() > 2 * most + 100) {
            self.lines.drain(..self.lines.len() - most);
        }
    }

    /// Hands out the lines that are to be printed.
    pub(super) fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    /// Returns how many lines wait to be printed.
    pub(super) fn waiting(&self) -> usize {
        self.lines.len()
    }

    /// Returns one row for each step that runs `now`, at most `most`, with `spinner` in front.
    pub(super) fn rows(&self, spinner: &str, now: Instant, most: usize) -> Vec<String> {
        let all = self.running.len() + self.calls.len();
        let shown = if all <= most { all } else { most.saturating_sub(1) };
        let steps = self.running.iter().map(|step| self.row(step, spinner, now));
        let calls = self.calls.iter().map(|call| call.row(spinner, now));
        let mut rows: Vec<String> = steps.chain(calls).take(shown).collect();
        if shown < all {
            let dim = style::DIM;
            rows.push(format!("{dim}… {} more run{dim:#}", all - shown));
        }
        rows
    }

    fn row(&self, step: &Running, spinner: &str, now: Instant) -> String {
        let (busy, bold, dim) = (style::BUSY, style::BOLD, style::DIM);
        let indent = "  ".repeat(step.at.path.segments().count().saturating_sub(1));
        let name = told::plain(own_name(&step.at.path));
        let took = passed(step.since, now);
        let mut row = format!("{indent}{busy}{spinner}{busy:#} {bold}{name}{bold:#}");
        match step.progress {
            Some((index, Some(total))) => row += &format!(" {}/{total}", index + 1),
            Some((index, None)) => row += &format!(" {}", index + 1),
            None => {}
        }
        row += &format!(" {dim}{took}{dim:#} ");
        row += &match (self.said.open(&step.at.path), &step.doing) {
            (Some(open), _) => told::plain(open),
            (None, Some(doing)) => doing.clone(),
            (None, None) => format!("{dim}{}{dim:#}", step.about),
        };
        row
    }

    /// Changes a step that runs; tells whether there is one.
    fn update(&mut self, at: &Occurrence, change: impl FnOnce(&mut Running)) -> bool {
        let step = self.running.iter_mut().rev().find(|step| step.at == *at);
        step.map(change).is_some()
    }

    /// Returns where a step goes: behind all that runs inside the same step.
    fn place_for(&self, path: &StepPath) -> usize {
        let Some(parent) = parent(path) else { return self.running.len() };
        let inside = |step: &Running| is_within(step.at.path.as_str(), parent);
        self.running.iter().rposition(inside).map_or(self.running.len(), |last| last + 1)
    }
}

impl Call {
    fn row(&self, spinner: &str, now: Instant) -> String {
        let (busy, dim, about) = (style::BUSY, style::DIM, &self.about);
        let took = passed(self.since, now);
        format!("{busy}{spinner}{busy:#} {dim}{took}{dim:#} {about}")
    }
}

fn passed(since: Instant, now: Instant) -> String {
    let millis = now.saturating_duration_since(since).as_millis();
    duration(u64::try_from(millis).unwrap_or(u64::MAX))
}

/// Returns the step that a step is in: `each` for `each[3].check`.
fn parent(path: &StepPath) -> Option<&str> {
    let (parent, _) = path.as_str().rsplit_once('.')?;
    let loop_name = parent.strip_suffix(']').and_then(|inner| inner.rsplit_once('['));
    Some(loop_name.map_or(parent, |(name, _)| name))
}

fn is_within(path: &str, parent: &str) -> bool {
    path.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn own_name(path: &StepPath) -> &str {
    path.as_str().rsplit_once('.').map_or(path.as_str(), |(_, name)| name)
}

#[cfg(test)]
mod tests;
