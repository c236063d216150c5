//! The shortest beginnings of ids that still name one run each.

use quipu_event::RunId;

/// The shortest beginning of an id that is shown.
const SHORTEST: usize = 8;

/// All ids, in order, so that those most alike stand beside each other.
pub(super) struct ShortIds<'a> {
    sorted: Vec<&'a str>,
}

impl<'a> ShortIds<'a> {
    pub(super) fn of(ids: impl Iterator<Item = &'a RunId>) -> Self {
        let mut sorted: Vec<&str> = ids.map(RunId::as_str).collect();
        sorted.sort_unstable();
        ShortIds { sorted }
    }

    /// Returns the shortest beginning of `id`, of at least eight characters, that no other id has.
    pub(super) fn shorten<'b>(&self, id: &'b RunId) -> &'b str {
        let id = id.as_str();
        let at = self.sorted.partition_point(|other| *other < id);
        let others =
            [at.wrapping_sub(1), at, at + 1].into_iter().filter_map(|at| self.sorted.get(at));
        let shared = others.filter(|other| **other != id).map(|other| shared(id, other)).max();
        let len = shared.map_or(SHORTEST, |shared| SHORTEST.max(shared + 1));
        id.get(..len).unwrap_or(id)
    }
}

/// Returns how many bytes two ids begin alike with.
fn shared(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}
