//! The line above an event: what it is, when it was, its number, and who did it.

use quipu_event::Event;

use super::escape::{code, plain};
use crate::figure;

/// Begins the line above an event with a word of ours and a name of theirs.
pub(crate) fn open(out: &mut String, word: &str, name: &str) {
    out.push_str("**");
    out.push_str(word);
    if !word.is_empty() && !name.is_empty() {
        out.push(' ');
    }
    plain(out, name.trim());
    out.push_str("**");
}

/// Adds a fact of ours to the line.
pub(crate) fn add(out: &mut String, fact: &str) {
    out.push_str(" · ");
    out.push_str(fact);
}

/// Adds a fact of theirs to the line, unless it is empty.
pub(crate) fn add_foreign(out: &mut String, fact: &str) {
    if !fact.is_empty() {
        out.push_str(" · ");
        plain(out, fact);
    }
}

/// Adds how long something took.
pub(crate) fn add_duration(out: &mut String, millis: Option<u64>) {
    if let Some(millis) = millis {
        out.push_str(" · ");
        figure::duration(out, millis);
    }
}

/// Ends the line with the facts of the event itself.
pub(crate) fn close(out: &mut String, event: &Event) {
    out.push_str(" · ");
    figure::clock(out, event.timestamp);
    out.push_str(" · #");
    out.push_str(&event.seq.to_string());
    if let Some(source) = &event.source {
        out.push_str(" · ");
        code(out, source);
    }
    out.push_str("\n\n");
}
