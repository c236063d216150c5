//! How far an export has come: a bar for a person, nothing for anybody else.

use indicatif::ProgressBar;

use super::choice::Choice;
use crate::Context;
use crate::format::bar::bar;

/// What the bar shows: bytes, rate and time left.
const SHAPE: &str = "{bar:28} {bytes}/{total_bytes}  {binary_bytes_per_sec}  {eta} left";

/// How far an export has come.
pub(super) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub(super) fn new(context: &Context, choice: &Choice) -> Self {
        Progress { bar: bar(context.screen, choice.bytes, SHAPE) }
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
