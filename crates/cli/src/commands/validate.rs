//! `quipu validate`: is a workflow file what `run` can run? Tells all that is wrong; runs nothing.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use quipu_workflow::definition::{
    Checked, FileKind, Places, Problem, Severity, check, read_source,
};
use serde_json::{Value, json};

use crate::Context;
use crate::exit::Exit;
use crate::format::count;
use crate::format::style::{BAD, BOLD, BUSY, DIM, GOOD, ODD};
use crate::format::visible::{columns, visible};

/// Check workflow files: everything that is wrong, at once, with its place
///
/// Prints each problem as `FILE:LINE:COLUMN: what is wrong`, with the line, what was expected and
/// what was probably meant. Unknown keys are warnings. Exits with 2 if a workflow is invalid.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu validate review.yaml\n  \
    quipu validate .awf/workflows/*.yaml --strict\n  \
    quipu validate review.yaml --json | jq '.[].problems[]'")]
pub(crate) struct Args {
    /// The workflows to check: a path each, or the name of one in `.quipu/workflows` or
    /// `.awf/workflows`
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Take warnings for errors
    #[arg(long)]
    strict: bool,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let plugins = context.settings.plugins.value.keys().cloned();
    let places = Places::of_process().with_plugins(plugins);
    let mut out = context.screen.stdout();
    let mut told = Vec::new();
    let (mut invalid, mut unread) = (false, false);
    for file in &args.files {
        match open(&places, file) {
            Ok((path, text)) => {
                let checked = match text {
                    Ok(text) => check(&path, &text, &places),
                    Err(problem) => unchecked(problem),
                };
                let valid = is_valid(&checked, args.strict);
                invalid |= !valid;
                if context.screen.json {
                    told.push(checked_json(&path, &checked, valid));
                } else {
                    let width = context.screen.width();
                    Paper { out: &mut out, files: HashMap::new(), width }
                        .print(&path, &checked, valid)?;
                }
            }
            Err(Unread { message, hint }) => {
                unread = true;
                if context.screen.json {
                    told.push(unread_json(file, &message, hint.as_deref()));
                } else {
                    context.screen.note(format_args!("error: {message}"));
                    if let Some(hint) = hint {
                        context.screen.note(format_args!("hint: {hint}"));
                    }
                }
            }
        }
    }
    out.flush()?;
    if context.screen.json {
        context.screen.print_json(&told)?;
    }
    Ok(match (invalid, unread) {
        (true, _) => Exit::RecordedFailed,
        (false, true) => Exit::User,
        (false, false) => Exit::Ok,
    })
}

/// A file that cannot be looked at.
struct Unread {
    message: String,
    hint: Option<String>,
}

fn open(places: &Places, file: &str) -> Result<(PathBuf, Result<String, Problem>), Unread> {
    let path = places.find(file, None).map_err(|missing| {
        // A path that was given in full is not looked for anywhere else.
        let message = match missing.places.as_slice() {
            [_] => format!("there is no file {file}"),
            _ => missing.to_string(),
        };
        Unread { message, hint: missing.hint() }
    })?;
    match read_source(&path) {
        Ok(text) => Ok((path, text)),
        Err(error) => {
            Err(Unread { message: format!("cannot read {}: {error}", path.display()), hint: None })
        }
    }
}

/// What checking a file that is no text came to.
fn unchecked(problem: Problem) -> Checked {
    Checked { workflow: None, kind: FileKind::Workflow, steps: 0, problems: problem.into() }
}

fn is_valid(checked: &Checked, strict: bool) -> bool {
    if strict { checked.problems.is_empty() } else { !checked.problems.has_errors() }
}

fn checked_json(path: &Path, checked: &Checked, valid: bool) -> Value {
    let problems: Vec<Value> = checked.problems.iter().map(problem_json).collect();
    json!({"file": path, "valid": valid, "problems": problems, "steps": checked.steps})
}

fn problem_json(problem: &Problem) -> Value {
    let Problem { severity, file, line, column, message, expected, hint } = problem;
    json!({
        "severity": severity.word(), "file": file, "line": line, "column": column,
        "message": message, "expected": expected, "hint": hint,
    })
}

fn unread_json(file: &str, message: &str, hint: Option<&str>) -> Value {
    let problem = json!({
        "severity": "error", "file": file, "line": null, "column": null,
        "message": message, "expected": null, "hint": hint,
    });
    json!({"file": file, "valid": false, "problems": [problem], "steps": 0})
}

/// Problems as a person reads them.
struct Paper<'o> {
    out: &'o mut dyn Write,
    /// The files that problems are in, by lines; nothing for one that cannot be read again.
    files: HashMap<PathBuf, Option<Vec<String>>>,
    width: usize,
}

impl Paper<'_> {
    fn print(&mut self, path: &Path, checked: &Checked, valid: bool) -> io::Result<()> {
        for problem in &checked.problems {
            self.print_problem(problem)?;
        }
        let errors = checked.problems.errors().count() as u64;
        let warnings = checked.problems.warnings().count() as u64;
        let style = if valid { GOOD } else { BAD };
        let mut facts = vec![if valid {
            format!("{style}ok{style:#}")
        } else {
            format!("{style}invalid{style:#}")
        }];
        if valid && checked.kind == FileKind::Template {
            facts.push("a template of steps".to_owned());
        }
        if valid {
            facts.push(count::of(checked.steps as u64, "step"));
        }
        if errors > 0 {
            facts.push(count::of(errors, "error"));
        }
        if warnings > 0 {
            facts.push(count::of(warnings, "warning"));
        }
        writeln!(self.out, "{}: {}", visible(&path.display().to_string()), facts.join(", "))
    }

    fn print_problem(&mut self, problem: &Problem) -> io::Result<()> {
        let Problem { severity, file, line, column, message, expected, hint } = problem;
        let style = match severity {
            Severity::Error => BAD,
            Severity::Warning => ODD,
        };
        let place = format!("{}:{line}:{column}", file.display());
        writeln!(
            self.out,
            "{BOLD}{}{BOLD:#}: {style}{}{style:#}: {}",
            visible(&place),
            severity.word(),
            visible(message),
        )?;
        let margin = line.to_string().len().max(4);
        if let Some(text) = self.line(file, *line) {
            let (shown, before) = excerpt(&text, *column, self.width.saturating_sub(margin + 4));
            writeln!(self.out, "{DIM}{line:>margin$} |{DIM:#} {shown}")?;
            writeln!(self.out, "{:margin$} {DIM}|{DIM:#} {before}{style}^{style:#}", "")?;
        }
        if let Some(expected) = expected {
            writeln!(self.out, "{:margin$} = expected {}", "", visible(expected))?;
        }
        if let Some(hint) = hint {
            writeln!(self.out, "{:margin$} {BUSY}= {}{BUSY:#}", "", visible(hint))?;
        }
        Ok(())
    }

    fn line(&mut self, file: &Path, number: usize) -> Option<String> {
        let lines = self.files.entry(file.to_owned()).or_insert_with(|| {
            // Also a file that is not all text has lines.
            let bytes = fs::read(file).ok()?;
            let text = String::from_utf8_lossy(&bytes);
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
            Some(text.lines().map(str::to_owned).collect())
        });
        lines.as_ref()?.get(number.checked_sub(1)?).cloned()
    }
}

/// Returns a line as it can be shown, and the blanks that stand before the spot.
fn excerpt(line: &str, column: usize, width: usize) -> (String, String) {
    let width = width.max(40);
    // A line that is too long is shown from where its spot can be seen.
    let skip = if column > width - 10 { column - width / 2 } else { 0 };
    let plain = |c: char| if c == '\t' { ' ' } else { c };
    let shown: String = line.chars().skip(skip).take(width).map(plain).collect();
    let before: String = shown.chars().take(column - 1 - skip).collect();
    let blanks = columns(&visible(&before)).max(before.chars().count());
    let missing = (column - 1 - skip).saturating_sub(before.chars().count());
    (visible(&shown).into_owned(), " ".repeat(blanks + missing))
}
