//! What an import came to: a table for people, one value for scripts, problems with their places.

use std::io::Write;
use std::path::Path;

use quipu_collect::import::{Done, ImportError, Outcome};
use serde_json::{Value, json};

use crate::exit::{Exit, chain};
use crate::format::count;
use crate::format::style;
use crate::format::table::{Cell, Column, Table};
use crate::output::Screen;

/// So many problems of one run are shown; all of them are in `--json`.
const SHOWN: usize = 10;

/// The outcomes so far.
pub(super) struct Summary {
    dry_run: bool,
    outcomes: Vec<Outcome>,
    failures: Vec<Value>,
    worst: Option<Exit>,
}

impl Summary {
    pub(super) fn new(dry_run: bool) -> Self {
        Summary { dry_run, outcomes: Vec::new(), failures: Vec::new(), worst: None }
    }

    /// Takes in what became of a run.
    pub(super) fn add(&mut self, outcome: Outcome) {
        self.outcomes.push(outcome);
    }

    /// Takes in a run that could not be imported. The others are imported all the same.
    pub(super) fn fail(&mut self, screen: Screen, path: &Path, error: &ImportError, exit: Exit) {
        let text = chain(error);
        screen.note(format_args!("error: {}: {text}", path.display()));
        self.failures.push(json!({ "path": path, "error": text }));
        self.worst = Some(match (self.worst, exit) {
            (Some(Exit::System), _) | (_, Exit::System) => Exit::System,
            (Some(Exit::Damaged), _) | (_, Exit::Damaged) => Exit::Damaged,
            (_, exit) => exit,
        });
    }

    /// Prints everything and returns how the program ends.
    pub(super) fn tell(self, screen: Screen) -> anyhow::Result<Exit> {
        let problems = self.outcomes.iter().map(problems_of).sum::<u64>();
        if screen.json {
            screen.print_json(&json!({
                "dry_run": self.dry_run, "runs": self.outcomes, "failed": self.failures,
                "problems": problems,
            }))?;
        } else {
            self.outcomes.iter().for_each(|outcome| tell_problems(screen, outcome));
            self.print_table(screen)?;
        }
        let damaged = if problems > 0 { Exit::Damaged } else { Exit::Ok };
        Ok(self.worst.unwrap_or(damaged))
    }

    fn print_table(&self, screen: Screen) -> anyhow::Result<()> {
        if self.outcomes.is_empty() {
            return Ok(());
        }
        let mut table = Table::new(&[
            Column::shrinking("WHAT"),
            Column::words("SYSTEM"),
            Column::words("RUN"),
            Column::numbers("EVENTS"),
            Column::numbers("PROBLEMS"),
            Column::words("DONE"),
        ]);
        for outcome in &self.outcomes {
            let problems = problems_of(outcome);
            let odd = if problems > 0 { style::ODD } else { style::PLAIN };
            table.add(vec![
                Cell::new(outcome.path.display().to_string()),
                Cell::new(outcome.system.name()),
                Cell::new(outcome.run_id.as_str()),
                Cell::new(count::full(outcome.events)),
                Cell::styled(count::full(problems), odd),
                Cell::new(self.done(outcome)),
            ]);
        }
        let mut out = screen.stdout();
        table.write(&mut out, screen.width())?;
        out.flush()?;
        Ok(())
    }

    fn done(&self, outcome: &Outcome) -> String {
        let would = if self.dry_run { "would be " } else { "" };
        match outcome.done {
            Done::Imported => format!("{would}imported"),
            Done::Extended => format!("{would}added: {}", count::of(outcome.added, "event")),
            Done::AlreadyThere => "already there".to_owned(),
        }
    }
}

fn problems_of(outcome: &Outcome) -> u64 {
    outcome.problems.len() as u64 + outcome.more_problems
}

fn tell_problems(screen: Screen, outcome: &Outcome) {
    let base = outcome.path.display();
    for problem in outcome.problems.iter().take(SHOWN) {
        // A run that is one file is that file.
        let is_file = outcome.path.file_name().is_some_and(|name| *name == *problem.file);
        let place = if is_file { base.to_string() } else { format!("{base}/{}", problem.file) };
        let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
        screen.note(format_args!("{place}{line}: {}", problem.what));
    }
    let more = problems_of(outcome).saturating_sub(SHOWN as u64);
    if more > 0 {
        screen.note(format_args!("{base}: and {} more", count::of(more, "problem")));
    }
}
