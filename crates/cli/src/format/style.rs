//! The colours, by what they mean. The screen drops them where they are not wanted.

use anstyle::{AnsiColor, Effects, Style};

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const DIM: Style = Style::new().effects(Effects::DIMMED);
pub(crate) const BOLD: Style = Style::new().effects(Effects::BOLD);
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
pub(crate) const ODD: Style = AnsiColor::Yellow.on_default();
pub(crate) const BUSY: Style = AnsiColor::Cyan.on_default();
pub(crate) const PLACE: Style = AnsiColor::Blue.on_default();
pub(crate) const FOUND: Style = Style::new().effects(Effects::INVERT);

/// Returns the colour of an event's type.
pub(crate) fn of_kind(kind: &str) -> Style {
    match kind.split('.').next().unwrap_or(kind) {
        "run" => BOLD,
        "step" => BUSY,
        "message" if kind == "message.user" => GOOD,
        "message" => AnsiColor::BrightGreen.on_default().effects(Effects::BOLD),
        "tool" => AnsiColor::Magenta.on_default(),
        "error" => BAD.effects(Effects::BOLD),
        "unknown" => ODD,
        _ => DIM,
    }
}
