//! A row of the table: what is measured, and how the result is shown and kept.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark's result is its output"
)]

use std::path::Path;

use serde_json::{Map, json};

use crate::measure::median;

/// Something that is measured.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) goal: &'static str,
    /// Runs it, with files in the given directory.
    pub(crate) run: fn(&Path) -> anyhow::Result<Outcome>,
}

/// What came of it.
pub(crate) struct Outcome {
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    /// The same figure of what it is compared with.
    pub(crate) baseline: f64,
    pub(crate) ratio: f64,
}

impl Outcome {
    /// Takes the middle of several rounds, each with its baseline first.
    pub(crate) fn of_rounds(unit: &'static str, rounds: &[(f64, f64)]) -> Self {
        Outcome {
            value: median(rounds.iter().map(|round| round.1)),
            unit,
            baseline: median(rounds.iter().map(|round| round.0)),
            ratio: median(rounds.iter().map(|round| round.1 / round.0)),
        }
    }
}

pub(crate) fn announce(row: &Row) {
    eprintln!("{} …", row.name);
}

pub(crate) fn print_table(outcomes: &[(&Row, Outcome)]) {
    println!("{:<42} {:>12} {:>12} {:>8}  goal", "row", "value", "baseline", "ratio");
    for (row, outcome) in outcomes {
        let Outcome { value, unit, baseline, ratio } = outcome;
        let (value, baseline) = (figure(*value), figure(*baseline));
        println!("{:<42} {value:>12} {baseline:>12} {ratio:>8.2}  {unit}; {}", row.name, row.goal);
    }
}

/// Prints figures for another process of this program.
pub(crate) fn print_figures(figures: &[f64]) {
    for figure in figures {
        println!("{figure}");
    }
}

pub(crate) fn write_summary(path: &Path, outcomes: &[(&Row, Outcome)]) -> anyhow::Result<()> {
    let mut summary = match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).unwrap_or_default(),
        Err(_) => Map::new(),
    };
    for (row, outcome) in outcomes {
        let Outcome { value, unit, baseline, ratio } = outcome;
        let kept = json!({ "value": value, "unit": unit, "baseline": baseline, "ratio": ratio });
        summary.insert(row.name.to_owned(), kept);
    }
    std::fs::write(path, serde_json::to_string_pretty(&summary)? + "\n")?;
    println!("written to {}", path.display());
    Ok(())
}

fn figure(value: f64) -> String {
    if value >= 1000.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}
