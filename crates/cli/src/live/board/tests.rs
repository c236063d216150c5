//! What is shown of a run at one moment, and what foreign text cannot do to it.

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
fn a_tool_of_a_session_has_a_row_until_it_answers() {
    let used = |id: &str| DisplayEvent::ToolUse {
        at: at(""),
        id: id.into(),
        name: "Bash".into(),
        argument: Some(format!("make {id}")),
    };
    let answered = DisplayEvent::ToolResult {
        at: at(""),
        id: "a".into(),
        name: "Bash".into(),
        status: Status::Succeeded,
    };
    let asked = DisplayEvent::Prompt { at: at(""), text: "Go on,\nplease.\n".into() };
    let begin = [used("a"), used("b"), answered];
    let (lines, rows) = shown(&begin, 9);
    assert_eq!(lines, ["⚙ Bash(make a)", "⚙ Bash(make b)"]);
    assert_eq!(rows, ["* 1.5s ⚙ Bash(make b)"]);
    let (lines, rows) = shown(&[&begin[..], &[asked]].concat(), 9);
    assert_eq!(lines[2..], ["› Go on,", "  please."]);
    assert!(rows.is_empty(), "{rows:?}");
}

#[test]
fn foreign_text_cannot_steer_the_terminal() {
    let output = DisplayEvent::Output {
        at: at("build"),
        stream: "stdout",
        text: "\u{1b}[31mred\u{1b}[0m\u{7}\n10%\r20%\r\n\u{1b}]0;title\u{7}x\u{9b}2J\n".into(),
    };
    let mut board = Board::default();
    board.take(&started("build", "comm\u{1b}[2Jand", Some("echo \u{1b}[H\u{8}")), Instant::now());
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
