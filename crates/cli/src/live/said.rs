//! Texts in the making: pieces go in, whole lines come out, and what is left waits for more.

use std::collections::HashMap;

use quipu_event::StepPath;

/// Longer lines are handed out in parts, so that a text without line ends is seen as well.
const LONGEST: usize = 4 * 1024;

/// What was said and has no line end yet, by where it was said.
#[derive(Default)]
pub(super) struct Said {
    open: HashMap<StepPath, String>,
}

impl Said {
    /// Takes a piece and returns the lines that it ends.
    pub(super) fn take(&mut self, at: &StepPath, piece: &str) -> Vec<String> {
        let open = self.open.entry(at.clone()).or_default();
        open.push_str(piece);
        let mut lines = Vec::new();
        while let Some(end) = line_end(open) {
            let rest = open.split_off(end);
            let line = std::mem::replace(open, rest);
            lines.push(line.trim_end_matches(['\n', '\r']).to_owned());
        }
        lines
    }

    /// Ends what was being said somewhere and returns it.
    pub(super) fn end(&mut self, at: &StepPath) -> Option<String> {
        self.open.remove(at).filter(|rest| !rest.trim().is_empty())
    }

    /// Returns what is being said somewhere.
    pub(super) fn open(&self, at: &StepPath) -> Option<&str> {
        self.open.get(at).map(String::as_str).filter(|open| !open.trim().is_empty())
    }
}

fn line_end(text: &str) -> Option<usize> {
    match text.find('\n') {
        Some(feed) if feed < LONGEST => Some(feed + 1),
        _ if text.len() > LONGEST => Some(text.floor_char_boundary(LONGEST)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_whole_lines_wherever_they_are_cut() {
        let text = "one\ntwo ü three\r\n\nfour";
        for size in 1..text.len() {
            let (mut said, at) = (Said::default(), StepPath::from("ask"));
            let mut lines = Vec::new();
            let mut rest = text;
            while !rest.is_empty() {
                let cut = rest.floor_char_boundary(size.min(rest.len())).max(1);
                let cut = if rest.is_char_boundary(cut) { cut } else { cut + 1 };
                lines.extend(said.take(&at, &rest[..cut]));
                rest = &rest[cut..];
            }
            assert_eq!(said.open(&at), Some("four"));
            lines.extend(said.end(&at));
            assert_eq!(lines, ["one", "two ü three", "", "four"], "pieces of {size}");
        }
    }

    #[test]
    fn a_line_without_end_is_handed_out_in_parts() {
        let mut said = Said::default();
        let parts = said.take(&"ask".into(), &"ü".repeat(LONGEST + 1));
        assert_eq!(parts.len(), 2);
        assert!(parts.iter().all(|part| part.len() <= LONGEST));
    }
}
