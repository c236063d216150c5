//! An event as text for a model: what `show` shows, without colours and columns.

use quipu_event::{Event, RunId};

use super::bounds::cut;
use crate::format::entry::Entry;
use crate::format::line::place;

/// Puts an event into words, no more than so many bytes of them, and tells whether that is all.
pub(super) fn of(event: &Event, own: &RunId, longest: usize) -> (String, bool) {
    let entry = Entry::of(event);
    let mut time = String::new();
    event.timestamp.write_to(&mut time);
    let mut text = format!("#{} {time} {}", event.seq, event.kind.as_str());
    for more in [place(event, Some(own)), entry.head] {
        if !more.is_empty() {
            text.push_str("  ");
            text.push_str(&more.replace('\n', " "));
        }
    }
    for part in entry.parts {
        text.push('\n');
        if let Some(label) = part.label {
            text.push_str(&format!("  {label}:\n"));
        }
        for line in part.text.trim_end().split('\n') {
            text.push_str("    ");
            text.push_str(line);
            text.push('\n');
        }
        if text.ends_with('\n') {
            text.pop();
        }
    }
    let is_cut = cut(&mut text, longest);
    text.push('\n');
    (text, !is_cut)
}

/// Returns everything that is said of an event and can be searched.
pub(super) fn texts(event: &Event) -> Vec<String> {
    let entry = Entry::of(event);
    let mut texts = vec![entry.head];
    for part in entry.parts {
        texts.push(part.text);
        texts.extend(part.label);
    }
    texts.push(event.path.as_str().to_owned());
    texts.push(event.kind.as_str().to_owned());
    texts.extend(event.source.as_deref().map(str::to_owned));
    texts
}
