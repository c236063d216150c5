//! How far an export has come: a bar for a person, nothing for anybody else.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::choice::Choice;
use crate::Context;

/// What the bar shows: bytes, rate and time left.
const SHAPE: &str = "{bar:28} {bytes}/{total_bytes}  {binary_bytes_per_sec}  {eta} left";

/// How far an export has come.
pub(super) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub(super) fn new(context: &Context, choice: &Choice) -> Self {
        let is_watched = std::io::stderr().is_terminal() && !context.screen.json;
        let bar = if is_watched { ProgressBar::new(choice.bytes) } else { ProgressBar::hidden() };
        if is_watched {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
        if let Ok(style) = ProgressStyle::with_template(SHAPE) {
            bar.set_style(style.progress_chars("█▉ "));
        }
        Progress { bar }
    }

    pub(super) fn read(&self, bytes: u64) {
        self.bar.inc(bytes);
        // Called runs were not counted beforehand.
        if self.bar.length().is_some_and(|length| self.bar.position() > length) {
            self.bar.set_length(self.bar.position());
        }
    }

    pub(super) fn done(self) {
        self.bar.finish_and_clear();
    }
}
