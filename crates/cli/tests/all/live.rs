//! A run on a real terminal: what stays, what moves, and what is left when it is over.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::run::with_workflow;
use crate::session::{QUIPU, Session};

const SIDE_BY_SIDE: &str = r#"
name: sides
states:
  initial: fan
  fan: {type: parallel, parallel: [left, each], on_success: ask}
  left: {type: step, command: "sleep 0.5; echo from the left"}
  each: {type: for_each, items: [a, b, c], body: [check], on_complete: done}
  check: {type: step, command: 'sleep 0.3; echo "item {{.loop.Item}}"'}
  ask: {type: agent, provider: stub, prompt: hello, on_success: done}
  done: {type: terminal}
"#;

/// Runs `quipu` on a terminal; returns all that it wrote there.
fn on_a_terminal(session: &Session, arguments: &[&str]) -> (Option<i32>, String) {
    on_a_terminal_of(session, arguments, &[("TERM", "xterm-256color")])
}

/// Runs `quipu` on a terminal that these variables tell of; returns all that it wrote there.
pub(crate) fn on_a_terminal_of(
    session: &Session,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> (Option<i32>, String) {
    on(terminal(), session, arguments, variables)
}

/// Runs `quipu` on a terminal that is so wide; returns the lines that it shows in the end.
pub(crate) fn on_a_terminal_as_wide_as(
    width: u16,
    session: &Session,
    arguments: &[&str],
) -> Vec<String> {
    let variables = [("TERM", "xterm-256color")];
    shown(&on(terminal_of(width), session, arguments, &variables).1)
}

fn on(
    (ours, theirs): (OwnedFd, File),
    session: &Session,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> (Option<i32>, String) {
    let mut command = session.command(QUIPU);
    command.args(arguments).envs(variables.iter().copied()).stdin(Stdio::null());
    command.stdout(theirs.try_clone().unwrap()).stderr(theirs);
    let mut child = command.spawn().unwrap();
    // The terminal ends when the last of those who hold its other side lets go.
    drop(command);
    let mut ours = File::from(ours);
    let (mut said, mut part) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = ours.read(&mut part) {
        said.extend_from_slice(&part[..count]);
    }
    let code = child.wait().unwrap().code();
    (code, String::from_utf8(said).unwrap())
}

#[test]
fn a_secret_that_is_asked_for_is_not_shown() {
    let session = with_workflow(
        "name: w\ninputs: [{name: token, required: true}]\nstates:\n  initial: a\n  a: {type: step, command: 'echo \"{{.inputs.token}}\" > said', on_success: done}\n  done: {type: terminal}\n",
    );
    let (ours, theirs) = terminal();
    let mut command = session.command(QUIPU);
    command.args(["run", "w.yaml", "--quiet"]).env("TERM", "xterm-256color");
    command.stdin(theirs.try_clone().unwrap()).stdout(Stdio::null()).stderr(theirs);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut ours = File::from(ours);
    let (mut said, mut part, mut answered) = (String::new(), [0; 4096], false);
    while let Ok(count @ 1..) = ours.read(&mut part) {
        said += std::str::from_utf8(&part[..count]).unwrap();
        if !answered && said.contains("): ") {
            ours.write_all(b"hunter3\x7f2\n").unwrap();
            answered = true;
        }
    }
    assert!(child.wait().unwrap().success(), "{said}");
    assert!(answered && !said.contains("hunter"), "{said}");
    assert_eq!(std::fs::read_to_string(session.dir().join("said")).unwrap(), "hunter2\n");
}

/// Makes a terminal of 60 columns and 20 lines: our side of it, and that of a program.
pub(crate) fn terminal() -> (OwnedFd, File) {
    terminal_of(60)
}

fn terminal_of(width: u16) -> (OwnedFd, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let path = std::ffi::OsStr::from_bytes(name.to_bytes());
    let theirs = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let size = Winsize { ws_row: 20, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&theirs, size).unwrap();
    (ours, theirs)
}

/// Plays what was written on a terminal and returns what it shows in the end, without colours.
fn shown(said: &str) -> Vec<String> {
    let mut lines: Vec<Vec<char>> = vec![Vec::new()];
    let (mut line, mut column) = (0, 0);
    let mut rest = said.chars();
    while let Some(c) = rest.next() {
        match c {
            '\r' => column = 0,
            '\n' => line += 1,
            '\u{1b}' => {
                let mut code = String::new();
                while !code.ends_with(|c: char| c.is_ascii_alphabetic()) {
                    code.push(rest.next().unwrap());
                }
                match code.split_at(code.len() - 1) {
                    (up, "A") => line -= up[1..].parse::<usize>().unwrap(),
                    ("[", "J") => {
                        lines.truncate(line + 1);
                        lines[line].truncate(column);
                    }
                    (_, "m") | ("[?2026", "h" | "l") => {}
                    _ => panic!("a sequence that steers more than it should: {code:?}"),
                }
            }
            c => {
                let length = lines[line].len().max(column + 1);
                lines[line].resize(length, ' ');
                lines[line][column] = c;
                column += 1;
            }
        }
        lines.resize(lines.len().max(line + 1), Vec::new());
    }
    let text = |line: Vec<char>| line.into_iter().collect::<String>().trim_end().to_owned();
    lines.into_iter().map(text).collect()
}

#[test]
fn what_is_over_stays_once_and_what_moved_is_gone() {
    let session = with_workflow(SIDE_BY_SIDE);
    let (code, said) = on_a_terminal(&session, &["run", "w.yaml", "--id", "r"]);
    assert_eq!(code, Some(0), "{said}");
    let lines = shown(&said);
    let expected = [
        "run r sides",
        "transcript storage/transcripts/r.jsonl",
        "fan.each[0].check │ item a",
        "✓ fan.each[0].check ",
        "fan.left │ from the left",
        "✓ fan.left ",
        "fan.each[1].check │ item b",
        "✓ fan.each[1].check ",
        "✓ fan.each ",
        "✓ fan ",
        "ask │ [STUB]",
        "✓ ask ",
        "✓ done ",
        "✓ sides succeeded in ",
        "  quipu tree r",
    ];
    for beginning in expected {
        let count = lines.iter().filter(|line| line.starts_with(beginning)).count();
        assert_eq!(count, 1, "{beginning:?} in {lines:#?}");
    }
    let spinners = '⠀'..='⣿';
    assert!(!lines.iter().any(|line| line.chars().any(|c| spinners.contains(&c))), "{lines:#?}");
}

#[test]
fn while_it_runs_each_step_has_a_row_under_the_step_it_is_in() {
    let session = with_workflow(SIDE_BY_SIDE);
    let (_, said) = on_a_terminal(&session, &["run", "w.yaml", "--color", "never"]);
    let frames: Vec<&str> = said.split("\u{1b}[?2026h").collect();
    let is_nested = |frame: &str| {
        let indents = [(" fan ", 0), (" left ", 2), (" each ", 2), (" check ", 4)];
        let rows: Vec<&str> = frame.lines().filter(|line| !line.contains(['│', '✓'])).collect();
        let places = indents.map(|(name, indent)| {
            rows.iter().position(|row| {
                let row = row.trim_start_matches("\r\u{1b}[J");
                row.contains(name) && row.chars().take_while(|c| *c == ' ').count() == indent
            })
        });
        places.iter().all(Option::is_some) && places.is_sorted()
    };
    assert!(frames.iter().any(|frame| is_nested(frame)), "{said}");
    assert!(said.contains("each 2/3 ") || said.contains("each 2 "), "progress of the loop: {said}");
    assert!(!said.contains("\u{1b}[?25l"), "the cursor is never hidden");
    assert!(!said.contains("\u{1b}[36m"), "no colour where none is wanted");
}
