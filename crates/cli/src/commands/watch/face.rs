//! What is shown, whoever looks at it.

use std::io::Write;

use quipu_event::{RunId, Timestamp};
use quipu_view::Activity;
use quipu_view::activity::State;

use super::picture::{Paper, picture};
use super::wire::RowWire;
use crate::exit::Exit;
use crate::output::Screen;

/// How wide a table may be where no terminal says.
const WIDTH_IN_A_PIPE: usize = 160;

/// All that is shown at one moment.
pub(super) struct Board<'a> {
    /// The runs, in the order in which they are shown.
    pub(super) rows: Vec<Row<'a>>,
    /// The moment.
    pub(super) now: Timestamp,
    /// What a person should know besides.
    pub(super) note: Option<&'a str>,
}

/// One run.
pub(super) struct Row<'a> {
    pub(super) run: &'a RunId,
    pub(super) activity: &'a Activity,
    pub(super) state: State,
    /// Whether its transcript has not been read to its end yet.
    pub(super) is_behind: bool,
}

/// Something that shows boards.
pub(super) trait Face {
    /// Shows what there is now.
    fn show(&mut self, board: &Board<'_>) -> anyhow::Result<()>;

    /// Shows everything anew the next time.
    fn renew(&mut self) {}

    /// Lets go of the terminal until the program is gone on with.
    fn suspend(&mut self) {}
}

/// Prints a board once.
pub(super) fn print_once(screen: Screen, board: &Board<'_>) -> anyhow::Result<Exit> {
    if screen.json {
        let mut rows = board.rows.iter();
        rows.try_for_each(|row| screen.print_json(&RowWire::of(row)))?;
        return Ok(Exit::Ok);
    }
    let width = if screen.is_terminal() { screen.width() } else { WIDTH_IN_A_PIPE };
    let mut out = screen.stdout();
    for line in picture(board, &Paper { width, height: usize::MAX, is_live: false }) {
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}
