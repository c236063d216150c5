//! The ids of a run's calls. Models use theirs again: `call_0` in every reply.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The ids that are taken, each with the last number that was put behind it; 1 if none was.
///
/// The number makes an id that comes for the thousandth time as cheap as one that comes twice.
#[derive(Debug, Default)]
pub(super) struct CallIds(Mutex<HashMap<String, u64>>);

impl CallIds {
    /// Returns `wanted`, with a number behind it if somebody has it, and takes what it returns.
    pub(super) fn unique(&self, wanted: &str) -> String {
        let wanted = if wanted.is_empty() { "call" } else { wanted };
        // A number that was counted and not used is only a gap.
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut number) = taken.get(wanted).copied() else {
            taken.insert(wanted.to_owned(), 1);
            return wanted.to_owned();
        };
        // A model may have wanted the very id that a number would make. Each such id is passed once.
        let free = loop {
            number += 1;
            let numbered = format!("{wanted}-{number}");
            if !taken.contains_key(&numbered) {
                break numbered;
            }
        };
        taken.insert(wanted.to_owned(), number);
        taken.insert(free.clone(), 1);
        free
    }

    /// Takes ids that are not free any more. Those that no model makes up are not kept.
    pub(super) fn take(&self, ids: impl IntoIterator<Item = String>) {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for id in ids.into_iter().filter(|id| !is_ours(id)) {
            taken.entry(id).or_insert(1);
        }
    }
}

/// Tells whether a router made the id: `call_` and a random UUID, which never comes again.
fn is_ours(id: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    id.strip_prefix("call_").map(str::as_bytes).is_some_and(|uuid| {
        uuid.len() == 32 && uuid[12] == b'4' && uuid.iter().all(|byte| is_digit(*byte))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_id_stays_as_it_is_until_it_comes_again() {
        let ids = CallIds::default();
        ids.take(["old".to_owned()]);
        let given = ["call_0", "call_0", "call_0-2", "call_0", "", "", "old"];
        let unique: Vec<String> = given.iter().map(|id| ids.unique(id)).collect();
        let expected = ["call_0", "call_0-2", "call_0-2-2", "call_0-3", "call", "call-2", "old-2"];
        assert_eq!(unique, expected);
    }

    #[test]
    fn an_id_may_come_again_very_often() {
        let ids = CallIds::default();
        let last = (0..100_000).map(|_| ids.unique("call_0")).last();
        assert_eq!(last.as_deref(), Some("call_0-100000"));
    }

    #[test]
    fn only_ids_that_a_model_may_use_again_are_kept() {
        let ours = "call_7c9e6679742540de944be07fc1f90ae7";
        let theirs = ["call_0", "call_7c9e6679742510de944be07fc1f90ae7", "toolu_01", &ours[..36]];
        let ids = CallIds::default();
        ids.take(theirs.into_iter().chain([ours]).map(str::to_owned));
        for id in theirs {
            assert_eq!(ids.unique(id), format!("{id}-2"));
        }
        assert!(!ids.0.lock().unwrap().contains_key(ours));
    }

    proptest! {
        #[test]
        fn no_two_calls_get_one_id(wanted in prop::collection::vec("(a|a-2|a-3|a-2-2|b)", 0..60)) {
            let ids = CallIds::default();
            let given: HashSet<String> = wanted.iter().map(|id| ids.unique(id)).collect();
            prop_assert_eq!(given.len(), wanted.len());
        }
    }
}
