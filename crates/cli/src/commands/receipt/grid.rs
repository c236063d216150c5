//! A table of tokens and costs: for a terminal, or as Markdown. Columns that nobody fills are left out.

use std::io::{self, Write};

use anstyle::Style;
use quipu_view::receipt::{How, Part};

use crate::format::table::{Cell, Column, Table};
use crate::format::visible::one_line;
use crate::format::{count, style};

/// The columns of every such table, behind those that say what a row is about.
const FIGURES: [&str; 7] =
    ["IN", "OUT", "CACHE READ", "CACHE WRITTEN", "REASONING", "COST", "OBTAINED"];

/// The title of a column, and whether it has numbers.
type Title = (&'static str, bool);

/// The texts of one row; nothing where a cell is not filled.
type Cells = Vec<Option<String>>;

/// One row: what stands before the figures, and the figures.
pub(crate) struct GridRow {
    pub(crate) about: Cells,
    pub(crate) used: Part,
    pub(crate) style: Style,
}

/// A table of tokens and costs.
pub(crate) struct Grid {
    /// The titles before the figures.
    titles: Vec<Title>,
    rows: Vec<GridRow>,
}

impl Grid {
    pub(crate) fn new(titles: &[Title]) -> Self {
        Grid { titles: titles.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn add(&mut self, style: Style, about: Cells, used: Part) {
        self.rows.push(GridRow { about, used, style });
    }

    /// Returns how the figures were obtained, each way once.
    pub(crate) fn ways(&self) -> Vec<How> {
        let mut ways: Vec<How> = self.rows.iter().flat_map(|row| row.used.cost.how()).collect();
        ways.sort_unstable();
        ways.dedup();
        ways
    }

    /// Writes it for a terminal of that width.
    pub(crate) fn write(&self, out: &mut dyn Write, width: usize) -> io::Result<()> {
        let (titles, rows) = self.filled();
        let columns: Vec<Column> = titles
            .iter()
            .enumerate()
            .map(|(at, &(title, is_number))| match (at, is_number) {
                (0, _) => Column::shrinking(title),
                (_, true) => Column::numbers(title),
                (_, false) => Column::words(title),
            })
            .collect();
        let mut table = Table::new(&columns);
        for (row, cells) in self.rows.iter().zip(rows) {
            let cell = |text: Option<String>| match text {
                Some(text) => Cell::styled(text, row.style),
                None => Cell::styled("-", style::DIM),
            };
            table.add(cells.into_iter().map(cell).collect());
        }
        table.write(out, width)
    }

    /// Writes it as a table of Markdown.
    pub(crate) fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let (titles, rows) = self.filled();
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let lower = |title: &str| title.to_lowercase();
        writeln!(out, "{}", line(titles.iter().map(|(title, _)| lower(title)).collect()))?;
        let rules = titles.iter().map(|(_, is_number)| if *is_number { "--:" } else { "---" });
        writeln!(out, "{}", line(rules.map(str::to_owned).collect()))?;
        for cells in rows {
            let cells =
                cells.into_iter().map(|cell| cell.map_or("–".to_owned(), |c| escaped(&c)));
            writeln!(out, "{}", line(cells.collect()))?;
        }
        Ok(())
    }

    /// Returns the titles and cells of all columns that some row fills.
    fn filled(&self) -> (Vec<Title>, Vec<Cells>) {
        let figures = FIGURES.iter().map(|title| (*title, *title != "OBTAINED"));
        let titles: Vec<_> = self.titles.iter().copied().chain(figures).collect();
        let rows: Vec<Cells> = self.rows.iter().map(GridRow::cells).collect();
        let is_kept = |at: usize| {
            let is_cost = titles[at].0 == "COST";
            at == 0 || is_cost || rows.iter().any(|row| row[at].is_some())
        };
        let kept: Vec<usize> = (0..titles.len()).filter(|at| is_kept(*at)).collect();
        let pick = |row: Cells| {
            let mut row: Vec<_> = row.into_iter().map(Some).collect();
            kept.iter().filter_map(|at| row[*at].take()).collect()
        };
        (kept.iter().map(|at| titles[*at]).collect(), rows.into_iter().map(pick).collect())
    }
}

impl GridRow {
    fn cells(&self) -> Cells {
        let (tokens, cost) = (&self.used.tokens, &self.used.cost);
        let number = |count: Option<u64>| count.map(count::full);
        let mut cells = self.about.clone();
        cells.extend([
            number(tokens.input_tokens),
            number(tokens.output_tokens),
            number(tokens.cache_read_tokens),
            number(tokens.cache_write_tokens),
            number(tokens.reasoning_tokens),
            cost.figure(),
            Some(cost.how_words()).filter(|words| !words.is_empty()),
        ]);
        cells
    }
}

/// Says what the ways mean by which figures were obtained.
pub(crate) fn legend<'a>(ways: &[How], lists: impl Iterator<Item = &'a str>) -> Vec<String> {
    let lists: Vec<&str> = lists.collect();
    let meaning = |how: &How| match how {
        How::Reported => "reported: named by the provider".to_owned(),
        How::Priced => {
            format!("priced: tokens times the list prices of {}", lists.join(" and "))
        }
        How::Unknown => {
            "unknown: no price is known, or not all tokens are; such a sum is a least sum"
                .to_owned()
        }
    };
    ways.iter().map(meaning).collect()
}

/// Makes text safe in a cell of Markdown.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in one_line(text, usize::MAX).chars() {
        if matches!(character, '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}
