//! The tool `run_stats`.

use quipu_journal::Layout;
use serde_json::Value;

use super::bounds::{EITHER, shorten};
use super::find;
use super::toolset::Said;
use super::wire::RunStats;
use crate::commands::stats::numbers_of;

/// How many rows of a table are told when there are very many.
const ROWS: usize = 50;

pub(super) fn said(layout: &Layout, asked: &RunStats) -> anyhow::Result<Said> {
    let run = find::run(layout, &asked.run)?;
    let mut numbers = numbers_of(layout, &run)?;
    if numbers.to_string().len() > EITHER / 2 {
        shorten_tables(&mut numbers);
        shorten(&mut numbers, EITHER / 2);
    }
    let text = serde_json::to_string_pretty(&numbers)?;
    Ok(Said { text, structured: Some(numbers).filter(Value::is_object) })
}

/// Keeps the first rows of each table, and says so.
fn shorten_tables(numbers: &mut Value) {
    let Value::Object(fields) = numbers else { return };
    let mut left_out = Vec::new();
    for (name, table) in fields.iter_mut() {
        if let Value::Object(rows) = table
            && rows.len() > ROWS
        {
            left_out.push(format!("{} of {} {name}", rows.len() - ROWS, rows.len()));
            *rows = std::mem::take(rows).into_iter().take(ROWS).collect();
        }
    }
    fields.insert("left_out".to_owned(), Value::from(left_out));
}
