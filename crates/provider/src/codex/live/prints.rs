//! What has been said before, in short: enough to know it again, and no copy of it.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A piece of an item that was given before the item was completed.
pub(super) struct GivenPiece {
    len: usize,
    print: u64,
}

impl GivenPiece {
    pub(super) fn of(text: &str) -> Self {
        GivenPiece { len: text.len(), print: print(text) }
    }
}

/// Returns what `text` says beyond the pieces that were given, if it begins with them.
pub(super) fn beyond<'t>(text: &'t str, given: &[GivenPiece]) -> Option<&'t str> {
    given.iter().try_fold(text, |rest, piece| {
        let (begun, rest) = rest.split_at_checked(piece.len)?;
        (print(begun) == piece.print).then_some(rest)
    })
}

/// Returns a number that two things share only if they are the same.
pub(super) fn print(said: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    said.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_is_not_said_again() {
        let given = ["Let ", "mé "].map(GivenPiece::of);
        for (text, expected) in [
            ("Let mé look.", Some("look.")),
            ("Let mé ", Some("")),
            ("Let me look.", None),
            ("Let m", None),
            ("", None),
        ] {
            assert_eq!(beyond(text, &given), expected, "{text}");
        }
    }
}
