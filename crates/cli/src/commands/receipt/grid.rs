//! A table of tokens and costs: for a terminal, or as Markdown. Columns that nobody fills are left out.

use std::io::{self, Write};

use anstyle::Style;
use quipu_view::receipt::{How, Part};

use crate::format::table::{Cell, Column, Table};
use crate::format::visible::{columns, one_line};
use crate::format::{count, style};

/// The columns of every such table, behind those that say what a row is about.
const FIGURES: [&str; 7] =
    ["IN", "OUT", "CACHE READ", "CACHE WRITTEN", "REASONING", "COST", "OBTAINED"];

/// The title of a column, and whether it has numbers.
type Title = (&'static str, bool);

/// The texts of one row; nothing where a cell is not filled.
type Cells = Vec<Option<String>>;

/// Columns that are left out where there is no room for them, first those that are missed least.
const LEAVING: [&str; 10] = [
    "KIND",
    "REASONING",
    "RUNS",
    "TIMES",
    "CACHE WRITTEN",
    "ENGINE",
    "CACHE READ",
    "MODEL",
    "TIME",
    "STATUS",
];

/// How a table is written.
#[derive(Clone, Copy)]
struct Form {
    /// Whether numbers are rounded, and of how they were obtained only the first letters stand.
    is_short: bool,
    /// Columns that are left out.
    without: &'static [&'static str],
}

/// With every column and every digit.
const WHOLE: Form = Form { is_short: false, without: &[] };

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

    /// Writes it for a terminal of that width: in full, else with short numbers, else with fewer
    /// columns, and then says which are not there.
    pub(crate) fn write(&self, out: &mut dyn Write, width: usize) -> io::Result<()> {
        let fits = |form: &Form| {
            let (titles, rows) = self.filled(form);
            natural_width(&titles, &rows) <= width
        };
        let narrower =
            (0..=LEAVING.len()).map(|left| Form { is_short: true, without: &LEAVING[..left] });
        let mut forms = std::iter::once(WHOLE).chain(narrower);
        let form = forms.find(fits).unwrap_or(Form { is_short: true, without: &LEAVING });
        let (titles, rows) = self.filled(&form);
        let left_out: Vec<String> = self
            .filled(&WHOLE)
            .0
            .iter()
            .filter(|title| !titles.contains(title))
            .map(|(title, _)| title.to_lowercase())
            .collect();
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
        table.write(out, width)?;
        if left_out.is_empty() {
            return Ok(());
        }
        let told = format!("no room for {}; --json has all", left_out.join(", "));
        let dim = style::DIM;
        writeln!(out, "{dim}{told}{dim:#}")
    }

    /// Writes it as a table of Markdown.
    pub(crate) fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let (titles, rows) = self.filled(&WHOLE);
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
    fn filled(&self, form: &Form) -> (Vec<Title>, Vec<Cells>) {
        let figures = FIGURES.iter().map(|title| (*title, *title != "OBTAINED"));
        let titles: Vec<_> = self.titles.iter().copied().chain(figures).collect();
        let rows: Vec<Cells> = self.rows.iter().map(|row| row.cells(form)).collect();
        let is_kept = |at: usize| {
            let is_cost = titles[at].0 == "COST";
            let is_filled = is_cost || rows.iter().any(|row| row[at].is_some());
            at == 0 || (is_filled && !form.without.contains(&titles[at].0))
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
    fn cells(&self, form: &Form) -> Cells {
        let (tokens, cost) = (&self.used.tokens, &self.used.cost);
        let shown = if form.is_short { count::short } else { count::full };
        let number = |count: Option<u64>| count.map(shown);
        let how = match form.is_short {
            true => {
                cost.how().into_iter().map(|how| &how.word()[..1]).collect::<Vec<_>>().join("+")
            }
            false => cost.how_words(),
        };
        let mut cells = self.about.clone();
        cells.extend([
            number(tokens.input_tokens),
            number(tokens.output_tokens),
            number(tokens.cache_read_tokens),
            number(tokens.cache_write_tokens),
            number(tokens.reasoning_tokens),
            cost.figure(),
            Some(how).filter(|words| !words.is_empty()),
        ]);
        cells
    }
}

/// Returns how wide a table is whose first column has given way as far as it should.
fn natural_width(titles: &[Title], rows: &[Cells]) -> usize {
    const LABEL: usize = 24;
    let width_of = |at: usize| {
        let cells = rows.iter().filter_map(|row| row[at].as_deref()).map(columns);
        cells.max().unwrap_or(0).max(columns(titles[at].0))
    };
    let label = width_of(0).min(LABEL);
    (1..titles.len()).map(|at| width_of(at) + 2).fold(label, usize::saturating_add)
}

/// Says what the ways mean by which figures were obtained.
pub(crate) fn legend<'a>(ways: &[How], lists: impl Iterator<Item = &'a str>) -> Vec<String> {
    let lists: Vec<String> = lists.map(|name| one_line(name, usize::MAX)).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(width: usize) -> String {
        let mut grid = Grid::new(&[("STEP", false), ("KIND", false)]);
        let mut used = Part::default();
        used.tokens.input_tokens = Some(1_234_567);
        used.tokens.reasoning_tokens = Some(89_000);
        used.cost.unknown = 1;
        grid.add(style::PLAIN, vec![Some("a".into()), Some("agent".into())], used);
        let mut out = Vec::new();
        grid.write(&mut out, width).unwrap();
        String::from_utf8(anstream::adapter::strip_bytes(&out).into_vec()).unwrap()
    }

    #[test]
    fn on_a_narrow_terminal_cost_and_how_it_was_obtained_are_what_stays() {
        let titles = ["STEP", "ENGINE", "MODEL", "STATUS", "TIME"].map(|title| (title, false));
        let mut grid = Grid::new(&titles);
        let mut used = Part::default();
        used.tokens.cache_read_tokens = Some(12_000);
        used.cost.unknown = 1;
        let about = ["a", "claude", "claude-opus-4-5", "succeeded", "1.0s"];
        grid.add(style::PLAIN, about.map(|text| Some(text.to_owned())).to_vec(), used);
        for (width, title, told) in [
            (90, "CACHE READ", None),
            (60, "MODEL", Some("no room for engine, cache read; --json has all")),
            (45, "STATUS", Some("no room for engine, model, cache read; --json has all")),
            (
                30,
                "OBTAINED",
                Some("no room for engine, model, status, time, cache read; --json has all"),
            ),
        ] {
            let mut out = Vec::new();
            grid.write(&mut out, width).unwrap();
            let drawn = String::from_utf8(anstream::adapter::strip_bytes(&out).into_vec()).unwrap();
            assert!(drawn.lines().take(2).all(|line| columns(line) <= width), "{drawn}");
            assert!(drawn.contains(title) && drawn.contains("unknown  u"), "{drawn}");
            assert_eq!(drawn.lines().nth(2), told, "{drawn}");
        }
    }

    #[test]
    fn a_table_that_is_too_wide_rounds_and_then_leaves_out() {
        let full = "STEP  KIND          IN  REASONING     COST  OBTAINED\n\
                    a     agent  1,234,567     89,000  unknown  unknown\n";
        assert_eq!(drawn(80), full);
        assert_eq!(
            drawn(50),
            "STEP  KIND      IN  REASONING     COST  OBTAINED\n\
             a     agent  1.23M        89k  unknown  u\n"
        );
        assert_eq!(
            drawn(44),
            "STEP     IN  REASONING     COST  OBTAINED\na     1.23M        89k  unknown  u\nno room for kind; --json has all\n"
        );
        let least = "STEP     IN     COST  OBTAINED\na     1.23M  unknown  u\nno room for kind, reasoning; --json has all\n";
        assert_eq!(drawn(32), least);
        assert_eq!(drawn(0), least, "narrower than that it is not made");
    }
}
