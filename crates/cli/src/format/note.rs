//! What a person should know besides the output itself: one line on stderr.

use std::io::Write;

use super::style;
use super::visible::visible;

/// What is said of a run whose file is empty, so that an empty answer is not taken for a mistake.
pub(crate) const NO_EVENT: &str = "the run has no event yet";

/// Tells a person something.
pub(crate) fn note(text: &str) {
    let style = style::ODD;
    // Nothing is left to do when even stderr refuses.
    let _ = writeln!(anstream::stderr(), "{style}note{style:#}: {}", visible(text));
}

/// Tells a person that something is missing from the output.
pub(crate) fn warning(text: &str) {
    let style = style::ODD;
    // As above.
    let _ = writeln!(anstream::stderr(), "{style}warning{style:#}: {}", visible(text));
}

/// Tells a person what to try next.
pub(crate) fn hint(text: &str) {
    let style = style::BUSY;
    // As above.
    let _ = writeln!(anstream::stderr(), "{style}hint{style:#}: {}", visible(text));
}
