//! Where the page is: steps are headings, and a change of place is said.
//!
//! Steps at the same time take turns in a transcript. A heading stands where a step begins; an event
//! of a step that is not the one before says whose it is. Nothing is remembered but the last place.

use quipu_event::StepPath;

use super::escape::{code, plain};
use crate::path::{Level, pieces};

/// The deepest heading that Markdown knows.
const DEEPEST: usize = 6;

/// The place of what was written last.
#[derive(Default)]
pub(crate) struct Place {
    path: StepPath,
}

impl Place {
    /// Appends the heading of a step that begins, and of the iteration it is the first of.
    pub(crate) fn begin(&mut self, out: &mut String, path: &StepPath, title: impl Fn(&mut String)) {
        let levels = pieces(path.as_str());
        for (depth, piece) in levels.iter().enumerate() {
            let Level::Iteration(index) = piece.level else { continue };
            if !is_inside(self.path.as_str(), piece.prefix) {
                heading(out, depth + 2);
                plain(out, name_before(&levels[..depth]));
                out.push_str(", iteration ");
                out.push_str(&index.to_string());
                out.push_str("\n\n");
            }
        }
        heading(out, levels.len() + 1);
        title(out);
        out.push_str("\n\n");
        self.path = path.clone();
    }

    /// Appends where the next event belongs, if that is another place.
    pub(crate) fn turn_to(&mut self, out: &mut String, path: &StepPath) {
        if self.path == *path {
            return;
        }
        if path.is_root() {
            out.push_str("*outside every step:*\n\n");
        } else {
            out.push_str("*in* ");
            code(out, path.as_str());
            out.push_str("*:*\n\n");
        }
        self.path = path.clone();
    }

    /// Goes back to a step that ends. One around this place says so itself.
    pub(crate) fn end(&mut self, out: &mut String, path: &StepPath) {
        if is_inside(self.path.as_str(), path.as_str()) {
            self.path = path.clone();
        } else {
            self.turn_to(out, path);
        }
    }
}

fn heading(out: &mut String, level: usize) {
    (0..level.clamp(2, DEEPEST)).for_each(|_| out.push('#'));
    out.push(' ');
}

fn name_before<'a>(levels: &[crate::path::Piece<'a>]) -> &'a str {
    match levels.last().map(|piece| piece.level) {
        Some(Level::Step(name)) => name,
        _ => "loop",
    }
}

/// Tells whether `path` is `outer` or lies inside it.
fn is_inside(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
