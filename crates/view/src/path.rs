//! A step path, taken apart: which steps and which iterations it goes through.
//!
//! Two spellings are understood. Ours is `each_file[3].check`; the other is `loop:3/check`, in
//! which loops have no name. Nothing here knows which steps a run really has.

/// One level of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level<'a> {
    /// A step, by name.
    Step(&'a str),
    /// An iteration of what stands before it, by index.
    Iteration(u64),
}

/// A level and the prefix of the path that ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    /// The path of this level.
    pub(crate) prefix: &'a str,
    /// What the level is.
    pub(crate) level: Level<'a>,
}

/// How many levels a path may have before its rest is taken as a single name.
///
/// A tree is walked and dropped recursively, and a hostile path must not exhaust the stack.
pub(crate) const MAX_LEVELS: usize = 64;

/// Takes a path of our own spelling apart, from the outside in.
pub(crate) fn pieces(path: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    for segment in path.split('.') {
        let end = begin + segment.len();
        let (name, indices) = split_indices(segment);
        if pieces.len() + 1 + indices.len() >= MAX_LEVELS {
            pieces.push(Piece { prefix: path, level: Level::Step(&path[begin..]) });
            break;
        }
        let mut at = begin + name.len();
        if !name.is_empty() {
            pieces.push(Piece { prefix: &path[..at], level: Level::Step(name) });
        }
        for (text, index) in indices {
            at += text.len();
            pieces.push(Piece { prefix: &path[..at], level: Level::Iteration(index) });
        }
        begin = end + 1;
    }
    pieces
}

/// Splits `loop:1/loop:2/name` into its loop indices and the name, which may be empty.
///
/// Answers nothing for any other spelling. A path of this kind begins with its loops, of which
/// its writer allows 8; what follows after 16 is taken as a name.
pub(crate) fn split_foreign(path: &str) -> Option<(Vec<u64>, &str)> {
    let mut indices = Vec::new();
    let mut rest = path;
    while !rest.is_empty() && indices.len() < 16 {
        let (first, after) = rest.split_once('/').unwrap_or((rest, ""));
        match first.strip_prefix("loop:").and_then(|index| index.parse().ok()) {
            Some(index) => indices.push(index),
            None => break,
        }
        rest = after;
    }
    (!indices.is_empty()).then_some((indices, rest))
}

/// Splits `name[1][2]` into the name and its bracketed indices, each with its text.
fn split_indices(segment: &str) -> (&str, Vec<(&str, u64)>) {
    let mut name = segment;
    let mut indices = Vec::new();
    while let Some((stem, digits)) =
        name.strip_suffix(']').and_then(|open_ended| open_ended.rsplit_once('['))
    {
        let Ok(index) = digits.parse() else { break };
        indices.push((&name[stem.len()..], index));
        name = stem;
    }
    indices.reverse();
    (name, indices)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(path: &str) -> Vec<Level<'_>> {
        pieces(path).into_iter().map(|piece| piece.level).collect()
    }

    #[test]
    fn a_path_is_taken_apart_from_the_outside_in() {
        use Level::{Iteration, Step};
        let cases: &[(&str, &[Level])] = &[
            ("", &[]),
            ("build", &[Step("build")]),
            ("fan_out.lint", &[Step("fan_out"), Step("lint")]),
            ("each[3].check", &[Step("each"), Iteration(3), Step("check")]),
            ("[3].check", &[Iteration(3), Step("check")]),
            ("grid[1][2]", &[Step("grid"), Iteration(1), Iteration(2)]),
            ("odd[x].b]", &[Step("odd[x]"), Step("b]")]),
            ("a..b", &[Step("a"), Step("b")]),
        ];
        for (path, expected) in cases {
            assert_eq!(levels(path), *expected, "{path}");
        }
    }

    #[test]
    fn each_prefix_ends_with_its_level() {
        let prefixes: Vec<_> = pieces("each[3].check").into_iter().map(|p| p.prefix).collect();
        assert_eq!(prefixes, ["each", "each[3]", "each[3].check"]);
    }

    #[test]
    fn the_rest_of_a_path_with_too_many_levels_is_one_name() {
        for path in ["a.".repeat(1000), format!("a{}", "[1]".repeat(1000))] {
            let pieces = pieces(&path);
            assert!(pieces.len() <= MAX_LEVELS);
            assert_eq!(pieces.last().map(|piece| piece.prefix), Some(path.as_str()));
        }
    }

    #[test]
    fn only_paths_that_begin_with_numbered_loops_are_foreign() {
        assert_eq!(split_foreign("loop:1/loop:2/log"), Some((vec![1, 2], "log")));
        assert_eq!(split_foreign("loop:1"), Some((vec![1], "")));
        for path in ["", "loop", "loop:x/log", "build", "src/loop:1"] {
            assert_eq!(split_foreign(path), None, "{path}");
        }
    }
}
