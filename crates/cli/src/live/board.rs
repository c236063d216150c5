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
            DisplayEvent::ToolUse { at, name, argument, .. } => {
                let doing = told::tool(name, argument.as_deref());
                self.update(at, |step| step.doing = Some(doing));
            }
            DisplayEvent::ToolResult { at, .. } => self.update(at, |step| step.doing = None),
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
        let shown = match self.running.len() {
            all if all <= most => all,
            _ => most.saturating_sub(1),
        };
        let mut rows: Vec<String> =
            self.running[..shown].iter().map(|step| self.row(step, spinner, now)).collect();
        if shown < self.running.len() {
            let dim = style::DIM;
            rows.push(format!("{dim}… {} more run{dim:#}", self.running.len() - shown));
        }
        rows
    }

    fn row(&self, step: &Running, spinner: &str, now: Instant) -> String {
        let (busy, bold, dim) = (style::BUSY, style::BOLD, style::DIM);
        let indent = "  ".repeat(step.at.path.segments().count().saturating_sub(1));
        let name = told::plain(own_name(&step.at.path));
        let millis = now.saturating_duration_since(step.since).as_millis();
        let took = duration(u64::try_from(millis).unwrap_or(u64::MAX));
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

    fn update(&mut self, at: &Occurrence, change: impl FnOnce(&mut Running)) {
        if let Some(step) = self.running.iter_mut().rev().find(|step| step.at == *at) {
            change(step);
        }
    }

    /// Returns where a step goes: behind all that runs inside the same step.
    fn place_for(&self, path: &StepPath) -> usize {
        let Some(parent) = parent(path) else { return self.running.len() };
        let inside = |step: &Running| is_within(step.at.path.as_str(), parent);
        self.running.iter().rposition(inside).map_or(self.running.len(), |last| last + 1)
    }
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
mod tests {
    use super::*;
    use anstream::adapter::strip_str;
    use quipu_event::payload::Status;
    use std::time::Duration;

    fn at(path: &str) -> Occurrence {
        Occurrence { path: path.into(), iteration: 0, attempt: 1 }
    }

    fn started(path: &str, kind: &str, detail: Option<&str>) -> DisplayEvent {
        DisplayEvent::StepStarted {
            at: at(path),
            name: own_name(&path.into()).to_owned(),
            kind: kind.to_owned(),
            detail: detail.map(str::to_owned),
        }
    }

    fn completed(path: &str, status: Status, error: Option<&str>) -> DisplayEvent {
        DisplayEvent::StepCompleted {
            at: at(path),
            name: own_name(&path.into()).to_owned(),
            kind: "command".to_owned(),
            status,
            error: error.map(str::to_owned),
            duration_ms: 1234,
        }
    }

    fn text(path: &str, text: &str, delta: bool) -> DisplayEvent {
        DisplayEvent::Text { at: at(path), text: text.to_owned(), delta }
    }

    /// Shows events and returns the lines that stay and the rows that move, without colour.
    fn shown(events: &[DisplayEvent], most: usize) -> (Vec<String>, Vec<String>) {
        let mut board = Board::default();
        let start = Instant::now();
        for event in events {
            board.take(event, start);
        }
        let plain = |lines: Vec<String>| -> Vec<String> {
            lines.iter().map(|line| strip_str(line).to_string().trim_end().to_owned()).collect()
        };
        let rows = board.rows("*", start + Duration::from_millis(1500), most);
        (plain(board.take_lines()), plain(rows))
    }

    #[test]
    fn running_steps_are_nested_under_the_steps_they_are_in() {
        let events = [
            started("fan", "parallel", None),
            started("fan.lint", "command", Some("cargo clippy")),
            started("fan.each", "for_each", None),
            DisplayEvent::Iteration { at: at("fan.each"), index: 2, total: Some(10) },
            started("fan.fmt", "command", None),
            started("fan.each[2].check", "agent", Some("claude")),
        ];
        let (lines, rows) = shown(&events, 9);
        assert!(lines.is_empty());
        assert_eq!(
            rows,
            [
                "* fan 1.5s parallel",
                "  * lint 1.5s command: cargo clippy",
                "  * each 3/10 1.5s for_each",
                "    * check 1.5s agent: claude",
                "  * fmt 1.5s command",
            ]
        );
        let (_, rows) = shown(&events, 3);
        assert_eq!(rows[2], "… 3 more run");
    }

    #[test]
    fn finished_steps_stay_as_lines_and_leave_the_rows() {
        let events = [
            started("build", "command", None),
            completed("build", Status::Succeeded, None),
            started("test", "command", None),
            completed("test", Status::Failed, Some("exit code 1")),
            started("wait", "command", None),
            completed("wait", Status::Canceled, None),
        ];
        let (lines, rows) = shown(&events, 9);
        assert_eq!(lines, ["✓ build 1.2s", "✗ test 1.2s: exit code 1", "✗ wait 1.2s: canceled"]);
        assert!(rows.is_empty());
    }

    #[test]
    fn an_agents_words_appear_as_they_come_and_stay_line_by_line() {
        let tool = DisplayEvent::ToolUse {
            at: at("ask"),
            id: "1".into(),
            name: "Read".into(),
            argument: Some("src/main.rs".into()),
        };
        let start = started("ask", "agent", Some("claude"));
        let saying = [start, text("ask", "I look", true), text("ask", " at it", true)];
        let (lines, rows) = shown(&saying, 9);
        assert!(lines.is_empty());
        assert_eq!(rows, ["* ask 1.5s I look at it"]);
        let more = [text("ask", ".\nThen", true), tool, text("ask", "All of it", false)];
        let (lines, rows) = shown(&[&saying[..], &more[..]].concat(), 9);
        assert_eq!(
            lines,
            ["ask │ I look at it.", "ask │ Then", "ask │ ⚙ Read(src/main.rs)", "ask │ All of it"]
        );
        assert_eq!(rows, ["* ask 1.5s ⚙ Read(src/main.rs)"]);
    }

    #[test]
    fn foreign_text_cannot_steer_the_terminal() {
        let output = DisplayEvent::Output {
            at: at("build"),
            stream: "stdout",
            text: "\u{1b}[31mred\u{1b}[0m\u{7}\n10%\r20%\r\n\u{1b}]0;title\u{7}x\u{9b}2J\n".into(),
        };
        let mut board = Board::default();
        board.take(
            &started("build", "comm\u{1b}[2Jand", Some("echo \u{1b}[H\u{8}")),
            Instant::now(),
        );
        board.take(&output, Instant::now());
        let lines = board.take_lines();
        let rows = board.rows("*", Instant::now(), 9);
        for line in lines.iter().chain(&rows) {
            let ours = strip_str(line).to_string();
            assert!(!ours.chars().any(char::is_control), "{ours:?}");
            assert!(!line.contains("\u{1b}[2J") && !line.contains("\u{1b}[H"), "{line:?}");
        }
        assert!(strip_str(&lines[1]).to_string().ends_with("│ 20%"), "{lines:?}");
    }
}
