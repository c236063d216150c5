//! The screen: colour, width, paging. The only place that prints to stdout.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

use anstream::adapter::StripBytes;

use crate::format::exact::TerminalJson;
use crate::format::visible::visible;
use crate::settings::ColorChoice;

/// Where a command's output goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    /// Whether JSON was asked for.
    pub(crate) json: bool,
}

/// How wide output is where nobody says.
const DEFAULT_WIDTH: usize = 100;
/// How high a terminal is that does not say.
const DEFAULT_HEIGHT: usize = 24;

impl Screen {
    pub(crate) fn new(color: ColorChoice, json: bool) -> Self {
        let choice = match color {
            ColorChoice::Auto => anstream::ColorChoice::Auto,
            ColorChoice::Always => anstream::ColorChoice::Always,
            ColorChoice::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
        Screen { json }
    }

    /// Tells whether a person looks at stdout.
    pub(crate) fn is_terminal(self) -> bool {
        io::stdout().is_terminal()
    }

    /// Returns how many columns there are.
    pub(crate) fn width(self) -> usize {
        terminal_size::terminal_size().map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0))
    }

    /// Returns how many lines the terminal has.
    pub(crate) fn height(self) -> usize {
        terminal_size::terminal_size().map_or(DEFAULT_HEIGHT, |(_, height)| usize::from(height.0))
    }

    /// Tells whether stdout is to be coloured.
    pub(crate) fn colours(self) -> bool {
        anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
    }

    /// Returns stdout, buffered, with colour where it is wanted.
    pub(crate) fn stdout(self) -> Box<dyn Write> {
        let out = io::BufWriter::with_capacity(64 * 1024, io::stdout());
        match anstream::AutoStream::choice(&io::stdout()) {
            anstream::ColorChoice::Never => Box::new(Stripped { out, strip: StripBytes::new() }),
            _ => Box::new(out),
        }
    }

    /// Returns stdout for JSON, which no colour filter may touch: to the byte for a program, and
    /// without anything that a terminal would obey for a person.
    pub(crate) fn data(self) -> Box<dyn Write> {
        let out = io::BufWriter::with_capacity(64 * 1024, io::stdout());
        if self.is_terminal() { Box::new(TerminalJson::new(out)) } else { Box::new(out) }
    }

    /// Prints one JSON value and a line feed.
    pub(crate) fn print_json(self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        let mut out = self.data();
        serde_json::to_writer(&mut out, value)?;
        writeln!(out)?;
        out.flush()?;
        Ok(())
    }

    /// Tells a person something on stderr, beside the output proper.
    pub(crate) fn note(self, text: impl fmt::Display) {
        // Nothing is left to do when even stderr refuses.
        let _ = writeln!(anstream::stderr(), "{}", visible(&text.to_string()));
    }

    /// Returns stdout through the user's pager when a person looks at it, else plain stdout.
    pub(crate) fn paged(self, paging: Paging) -> Output {
        if paging == Paging::Never || !self.is_terminal() || is_dumb_terminal() {
            return Output::Plain(self.stdout());
        }
        let pager = std::env::var("PAGER");
        let mut words = pager.as_deref().unwrap_or("less").split_whitespace();
        // One that is set to nothing means none.
        let Some(program) = words.next() else { return Output::Plain(self.stdout()) };
        let spawned = Command::new(program)
            .args(words)
            .env("LESS", std::env::var("LESS").unwrap_or_else(|_| "FRX".to_owned()))
            .stdin(Stdio::piped())
            .spawn();
        match spawned {
            Ok(child) => {
                let strip = (!self.colours()).then(StripBytes::new);
                Output::Paged { child, strip }
            }
            // A machine without a pager still has a screen.
            Err(_) => Output::Plain(self.stdout()),
        }
    }
}

/// Tells whether the terminal can do no more than print, which no pager is content with.
fn is_dumb_terminal() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Output without its colours.
///
/// The buffer stands behind the filter: the filter passes on one piece of text after the other,
/// and each would be a system call of its own.
struct Stripped<W> {
    out: W,
    strip: StripBytes,
}

impl<W: Write> Write for Stripped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for plain in self.strip.strip_next(bytes) {
            self.out.write_all(plain)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Whether long output goes through a pager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paging {
    Auto,
    Never,
}

/// Where long output goes.
pub(crate) enum Output {
    /// Straight out.
    Plain(Box<dyn Write>),
    /// To a pager, which is waited for at the end.
    Paged { child: Child, strip: Option<StripBytes> },
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Plain(out) => out.write(bytes),
            Output::Paged { child, strip } => {
                let Some(stdin) = &mut child.stdin else { return Ok(bytes.len()) };
                match strip {
                    Some(strip) => {
                        for plain in strip.strip_next(bytes) {
                            stdin.write_all(plain)?;
                        }
                        Ok(bytes.len())
                    }
                    None => stdin.write(bytes),
                }
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Plain(out) => out.flush(),
            Output::Paged { child, .. } => child.stdin.as_mut().map_or(Ok(()), Write::flush),
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        match self {
            // A reader that went away early has seen what it wanted.
            Output::Plain(out) => drop(out.flush()),
            Output::Paged { child, .. } => {
                drop(child.stdin.take());
                // The pager's own exit code says nothing about us.
                let _ = child.wait();
            }
        }
    }
}
