//! Which events are shown.

use std::ops::RangeInclusive;

use quipu_event::Event;

use super::needle::Needle;
use crate::format::entry::Entry;

/// What an event must be like to be shown.
pub(super) struct Filter<'a> {
    /// Types, or their first words; none means all.
    pub(super) types: &'a [String],
    /// A path that it must be at or inside.
    pub(super) path: Option<&'a str>,
    /// The numbers it may have. A reader that starts at the first of them may still meet lower ones:
    /// other writers number out of order.
    pub(super) numbers: RangeInclusive<u64>,
    /// What it must say.
    pub(super) needle: Option<&'a Needle>,
}

impl Filter<'_> {
    pub(super) fn takes(&self, event: &Event) -> bool {
        let kind = event.kind.as_str();
        self.numbers.contains(&event.seq)
            && (self.types.is_empty() || self.types.iter().any(|wanted| is_of_type(kind, wanted)))
            && self.path.is_none_or(|wanted| is_inside(event.path.as_str(), wanted))
            && self.needle.is_none_or(|needle| says(event, needle))
    }
}

/// Tells whether `kind` is `wanted` or a kind of it: `tool`, `tool.*` and `to*` take `tool.call`.
pub(crate) fn is_of_type(kind: &str, wanted: &str) -> bool {
    if let Some(beginning) = wanted.strip_suffix('*') {
        return kind.starts_with(beginning);
    }
    let rest = kind.strip_prefix(wanted.trim_end_matches('.'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Tells whether `path` is `wanted` or lies inside it.
pub(crate) fn is_inside(path: &str, wanted: &str) -> bool {
    path.strip_prefix(wanted)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', '/']))
}

/// Tells whether what would be shown of the event says it.
fn says(event: &Event, needle: &Needle) -> bool {
    let entry = Entry::of(event);
    let in_part = |label: Option<&str>, text: &str| {
        label.is_some_and(|label| needle.is_in(label)) || needle.is_in(text)
    };
    needle.is_in(event.path.as_str())
        || needle.is_in(event.kind.as_str())
        || event.source.as_deref().is_some_and(|source| needle.is_in(source))
        || needle.is_in(&entry.head)
        || entry.parts.iter().any(|part| in_part(part.label.as_deref(), &part.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_named_whole_or_by_its_beginning() {
        let cases = [
            ("tool.call", "tool.call", true),
            ("tool.call", "tool", true),
            ("tool.call", "tool.", true),
            ("tool.call", "tool.*", true),
            ("tool.call", "to*", true),
            ("tool.call", "*", true),
            ("tool.call", "to", false),
            ("tool.call", "tool.result", false),
            ("step.call_workflow.started", "step.call_workflow", true),
            ("run.started", "tool", false),
        ];
        for (kind, wanted, expected) in cases {
            assert_eq!(is_of_type(kind, wanted), expected, "{kind} {wanted}");
        }
    }

    #[test]
    fn a_path_takes_what_lies_inside_it() {
        let cases = [
            ("build", "build", true),
            ("build.link", "build", true),
            ("each[3].check", "each", true),
            ("each[3].check", "each[3]", true),
            ("loop:1/log", "loop:1", true),
            ("builder", "build", false),
            ("build", "build.link", false),
            ("", "build", false),
        ];
        for (path, wanted, expected) in cases {
            assert_eq!(is_inside(path, wanted), expected, "{path} {wanted}");
        }
    }
}
