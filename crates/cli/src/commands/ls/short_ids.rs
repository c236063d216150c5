//! The shortest beginnings of ids that still name one run each.

use std::collections::HashSet;

use quipu_event::RunId;

/// The shortest beginning of an id that is shown.
const SHORTEST: usize = 8;

/// The ids whose first eight characters are not enough, in order, so that those most alike stand
/// beside each other. Of random ids these are few.
pub(super) struct ShortIds<'a> {
    crowded: Vec<&'a str>,
}

impl<'a> ShortIds<'a> {
    pub(super) fn of(ids: impl Iterator<Item = &'a RunId> + Clone) -> Self {
        let mut seen = HashSet::new();
        let shared: HashSet<&str> = ids
            .clone()
            .map(|id| beginning(id.as_str()))
            .filter(|&start| !seen.insert(start))
            .collect();
        let is_crowded = |id: &&str| shared.contains(beginning(id));
        let mut crowded: Vec<&str> = match shared.is_empty() {
            true => Vec::new(),
            false => ids.map(RunId::as_str).filter(is_crowded).collect(),
        };
        crowded.sort_unstable();
        ShortIds { crowded }
    }

    /// Returns the shortest beginning of `id`, of at least eight characters, that no other id has.
    pub(super) fn shorten<'b>(&self, id: &'b RunId) -> &'b str {
        let id = id.as_str();
        let at = self.crowded.partition_point(|other| *other < id);
        let others =
            [at.wrapping_sub(1), at, at + 1].into_iter().filter_map(|at| self.crowded.get(at));
        let shared = others.filter(|other| **other != id).map(|other| shared(id, other)).max();
        let len = shared.map_or(SHORTEST, |shared| SHORTEST.max(shared + 1));
        id.get(..len).unwrap_or(id)
    }
}

/// Returns the first eight characters of an id, or all of a shorter one.
fn beginning(id: &str) -> &str {
    id.get(..SHORTEST).unwrap_or(id)
}

/// Returns how many bytes two ids begin alike with.
fn shared(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_cut_where_no_other_id_begins_alike() {
        let ids = ["aaaaaaaa-1", "aaaaaaaa-22", "aaaaaaaa-23", "bbbbbbbbbbbb", "short"];
        let ids: Vec<RunId> = ids.iter().map(|id| RunId::parse(id).unwrap()).collect();
        let short = ShortIds::of(ids.iter());
        let cut: Vec<&str> = ids.iter().map(|id| short.shorten(id)).collect();
        assert_eq!(cut, ["aaaaaaaa-1", "aaaaaaaa-22", "aaaaaaaa-23", "bbbbbbbb", "short"]);
    }
}
