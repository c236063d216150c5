//! The ids of a run's calls. Models use theirs again: `call_0` in every reply.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// The ids that are taken.
#[derive(Debug, Default)]
pub(super) struct CallIds(Mutex<HashSet<String>>);

impl CallIds {
    /// Returns `wanted`, with a number behind it if somebody has it, and takes what it returns.
    pub(super) fn unique(&self, wanted: &str) -> String {
        let wanted = if wanted.is_empty() { "call" } else { wanted };
        // A set of names is whole at any point at which somebody may have panicked.
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let numbered = (2_u64..).map(|number| format!("{wanted}-{number}"));
        let mut candidates = std::iter::once(wanted.to_owned()).chain(numbered);
        let free = candidates.find(|id| !taken.contains(id));
        let free = free.expect("there are more numbers than calls");
        taken.insert(free.clone());
        free
    }

    /// Takes ids that are not free any more.
    pub(super) fn take(&self, ids: impl IntoIterator<Item = String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(ids);
    }
}

#[cfg(test)]
mod tests {
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
}
