//! A bar for a person who waits; nothing for anybody else.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Screen;

/// Makes a bar of `length` that shows what `shape` says, on stderr if a person looks there.
pub(crate) fn bar(screen: Screen, length: u64, shape: &str) -> ProgressBar {
    if screen.json || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length);
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
    if let Ok(style) = ProgressStyle::with_template(shape) {
        bar.set_style(style.progress_chars("█▉ "));
    }
    bar
}
