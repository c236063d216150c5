//! Changes, one a line: for a pipe, a file, or a program that reads JSON.

use std::collections::{HashMap, HashSet};
use std::io::Write;

use quipu_event::RunId;

use super::face::{Board, Face, Row};
use super::wire::{GoneWire, RowWire};
use crate::format::count;
use crate::format::span::time_of_day;
use crate::format::visible::one_line;
use crate::output::Screen;

/// How much of an action is told.
const WIDEST: usize = 200;

/// Tells what has changed since it told last.
pub(super) struct Teller {
    screen: Screen,
    /// What was told of each run: all of it for programs, what matters for people.
    told: HashMap<RunId, Told>,
}

#[derive(PartialEq)]
enum Told {
    Json(Box<RowWire>),
    Line(String),
}

impl Teller {
    pub(super) fn new(screen: Screen) -> Self {
        Teller { screen, told: HashMap::new() }
    }
}

impl Face for Teller {
    fn show(&mut self, board: &Board<'_>) -> anyhow::Result<()> {
        // A run that is still being read back has nothing new to tell.
        for row in board.rows.iter().filter(|row| !row.is_behind) {
            let told = match self.screen.json {
                true => Told::Json(Box::new(RowWire::of(row))),
                false => Told::Line(line(row)),
            };
            if self.told.get(row.run) == Some(&told) {
                continue;
            }
            match &told {
                Told::Json(wire) => self.screen.print_json(wire)?,
                Told::Line(line) => {
                    let mut out = self.screen.stdout();
                    let tokens = row.activity.usage.total().map_or("–".to_owned(), count::short);
                    let cost = row.activity.usage.cost_usd.map_or("–".to_owned(), count::dollars);
                    writeln!(out, "{} {line}  {tokens}  {cost}", time_of_day(board.now))?;
                    out.flush()?;
                }
            }
            self.told.insert(row.run.clone(), told);
        }
        let there: HashSet<&RunId> = board.rows.iter().map(|row| row.run).collect();
        let gone: Vec<RunId> =
            self.told.keys().filter(|run| !there.contains(run)).cloned().collect();
        for run in gone {
            self.told.remove(&run);
            if self.screen.json {
                self.screen.print_json(&GoneWire::of(&run))?;
            }
        }
        Ok(())
    }
}

fn line(row: &Row<'_>) -> String {
    let or_dash = |text: Option<&str>| one_line(text.unwrap_or("–"), WIDEST);
    let (agent, project) =
        (or_dash(row.activity.agent.as_deref()), or_dash(row.activity.project()));
    let action = one_line(&row.activity.action().to_string(), WIDEST);
    format!("{:<8} {agent}  {project}  {action}", row.state.word())
}
