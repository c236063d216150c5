//! A plain text table: columns as wide as their widest cell, one that gives way, and some that a narrow
//! screen does without.

use std::io::{self, Write};

use anstyle::Style;

use super::style;
use super::visible::{columns, one_line};

/// How much room a column that gives way always keeps.
const NARROWEST: usize = 8;

/// One column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    title: &'static str,
    align: Align,
    shrinks: bool,
    /// Whether it is left out where there is no room for it.
    is_spare: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Align {
    Left,
    Right,
}

impl Column {
    /// Makes a column of words.
    pub(crate) const fn words(title: &'static str) -> Self {
        Column { title, align: Align::Left, shrinks: false, is_spare: false }
    }

    /// Makes a column of words that are cut when the line is too narrow for them.
    pub(crate) const fn shrinking(title: &'static str) -> Self {
        Column { title, align: Align::Left, shrinks: true, is_spare: false }
    }

    /// Makes a column of numbers.
    pub(crate) const fn numbers(title: &'static str) -> Self {
        Column { title, align: Align::Right, shrinks: false, is_spare: false }
    }

    /// Makes it a column that is left out where there is no room for it, the last one first.
    pub(crate) const fn if_there_is_room(self) -> Self {
        Column { is_spare: true, ..self }
    }
}

/// One cell: text and its colour.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    columns: usize,
    style: Style,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Cell::styled(text, style::PLAIN)
    }

    pub(crate) fn styled(text: impl Into<String>, style: Style) -> Self {
        let text = one_line(&text.into(), usize::MAX);
        Cell { columns: columns(&text), text, style }
    }

    /// Makes a cell of what may not be known.
    pub(crate) fn maybe(text: Option<String>) -> Self {
        text.map_or_else(|| Cell::styled("-", style::DIM), Cell::new)
    }
}

/// Rows of cells under titles.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(columns: &[Column]) -> Self {
        Table { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row, which has one cell for each column.
    pub(crate) fn add(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    /// Writes the table, in lines of at most `width` columns if it can be done.
    pub(crate) fn write(&self, out: &mut dyn Write, width: usize) -> io::Result<()> {
        let fit = self.fit(width);
        let titles: Vec<Cell> =
            self.columns.iter().map(|column| Cell::styled(column.title, style::DIM)).collect();
        self.write_row(out, &titles, &fit)?;
        self.rows.iter().try_for_each(|row| self.write_row(out, row, &fit))
    }

    /// Returns the columns that are shown, and how wide each is.
    fn fit(&self, width: usize) -> Vec<(usize, usize)> {
        let widest = |at: usize| {
            let cells = self.rows.iter().map(|row| row[at].columns).max().unwrap_or(0);
            (at, cells.max(columns(self.columns[at].title)))
        };
        let mut fit: Vec<_> = (0..self.columns.len()).map(widest).collect();
        let shrinks = |(at, _): &(usize, usize)| self.columns[*at].shrinks;
        // What a column can give.
        let slack = |fit: &[(usize, usize)]| {
            let shrinking = fit.iter().find(|column| shrinks(column));
            shrinking.map_or(0, |(_, wide)| wide.saturating_sub(NARROWEST))
        };
        while line_width(&fit) - slack(&fit) > width {
            let spare = fit.iter().rposition(|(at, _)| self.columns[*at].is_spare);
            let Some(spare) = spare else { break };
            fit.remove(spare);
        }
        let given = line_width(&fit).saturating_sub(width).min(slack(&fit));
        if let Some((_, wide)) = fit.iter_mut().find(|column| shrinks(column)) {
            *wide -= given;
        }
        fit
    }

    fn write_row(
        &self,
        out: &mut dyn Write,
        row: &[Cell],
        fit: &[(usize, usize)],
    ) -> io::Result<()> {
        for (nth, &(at, width)) in fit.iter().enumerate() {
            let cell = &row[at];
            let cut = (cell.columns > width)
                .then(|| Cell::styled(one_line(&cell.text, width), cell.style));
            let Cell { text, columns, style } = cut.as_ref().unwrap_or(cell);
            let padding = width.saturating_sub(*columns);
            let gap = if nth > 0 { "  " } else { "" };
            match self.columns[at].align {
                Align::Right => write!(out, "{gap}{:padding$}{style}{text}{style:#}", "")?,
                // Nothing stands behind the last cell, so nothing is padded for it.
                Align::Left if nth + 1 == fit.len() => write!(out, "{gap}{style}{text}{style:#}")?,
                Align::Left => write!(out, "{gap}{style}{text}{style:#}{:padding$}", "")?,
            }
        }
        writeln!(out)
    }
}

/// Returns how wide a line of such columns is, with the gaps between them.
fn line_width(fit: &[(usize, usize)]) -> usize {
    fit.iter().map(|(_, width)| width).sum::<usize>() + 2 * fit.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(width: usize) -> String {
        drawn_with(width, |column| column)
    }

    fn drawn_with(width: usize, change: fn(Column) -> Column) -> String {
        let mut table = Table::new(&[
            Column::words("ID"),
            Column::shrinking("NAME"),
            change(Column::numbers("N")),
            change(Column::words("LAST")),
        ]);
        let cells = |cells: [&str; 4]| cells.map(Cell::new).to_vec();
        table.add(cells(["a", "short", "1", "x"]));
        table.add(cells(["bcd", "a rather long name", "1000", ""]));
        let mut out = Vec::new();
        table.write(&mut out, width).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let expected = "\
            \u{1b}[2mID\u{1b}[0m   \u{1b}[2mNAME\u{1b}[0m                   \u{1b}[2mN\u{1b}[0m  \u{1b}[2mLAST\u{1b}[0m\n\
            a    short                  1  x\n\
            bcd  a rather long name  1000  \n";
        assert_eq!(drawn(80), expected);
    }

    #[test]
    fn one_column_gives_way_but_never_vanishes() {
        assert!(drawn(25).contains("\nbcd  a rathe…  1000  \n"), "{}", drawn(25));
        assert!(drawn(0).contains("\nbcd  a rathe…  1000  \n"), "{}", drawn(0));
    }

    #[test]
    fn a_narrow_screen_does_without_the_last_columns() {
        let row = |width| {
            let drawn = drawn_with(width, Column::if_there_is_room);
            drawn.lines().nth(2).unwrap_or_default().to_owned()
        };
        assert_eq!(row(80), "bcd  a rather long name  1000  ");
        assert_eq!(row(27), "bcd  a rather …  1000  ", "the name gives way first");
        assert_eq!(row(24), "bcd  a rather lon…  1000");
        assert_eq!(row(18), "bcd  a rather lon…");
        assert_eq!(row(3), "bcd  a rathe…");
    }
}
