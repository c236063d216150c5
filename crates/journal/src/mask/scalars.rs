//! Secrets in JSON: what stands under the name of a secret, and what the texts in it hold.

use quipu_event::{Place, Scalar};

use super::harmless::{is_nothing, is_placeholder};
use super::secrets::SecretMask;
use super::text::SHORTEST_VALUE;
use super::{mark, names};

/// A walk through the strings and numbers of one JSON value.
pub(super) struct Walk<'m> {
    mask: &'m SecretMask,
    /// The key that the whole value stands under.
    outer: Option<&'m str>,
    /// So many levels of JSON within texts are still looked into.
    levels: usize,
    /// The argument before was a flag that a secret follows, such as `--password`.
    is_announced: bool,
    pub(super) hidden: u64,
}

impl<'m> Walk<'m> {
    pub(super) fn new(mask: &'m SecretMask, outer: Option<&'m str>, levels: usize) -> Self {
        Walk { mask, outer, levels, is_announced: false, hidden: 0 }
    }

    /// Returns what is to stand in place of a scalar; nothing if it may stay.
    pub(super) fn replace(&mut self, place: Place<'_>, scalar: Scalar<'_>) -> Option<String> {
        let was_announced = std::mem::take(&mut self.is_announced);
        match scalar {
            Scalar::Number(number) => {
                (number.len() >= SHORTEST_VALUE && self.is_named(place)).then(|| self.hide())
            }
            Scalar::String(text) => {
                let is_value = place != Place::Key;
                self.is_announced = is_value && names::is_flag(text);
                let follows = is_value && was_announced && !text.starts_with('-');
                if (follows || self.is_named(place)) && is_secret_value(text) {
                    return Some(self.hide());
                }
                self.mask.mask_nested(text, self.levels, &mut self.hidden)
            }
        }
    }

    fn is_named(&self, place: Place<'_>) -> bool {
        match (place, self.outer) {
            (Place::Key, _) => false,
            (Place::Below([]), Some(outer)) => names::hold_secret(&[outer]),
            (Place::Below([key]), Some(outer)) => names::hold_secret(&[outer, key]),
            (Place::Below(keys), _) => names::hold_secret(keys),
        }
    }

    fn hide(&mut self) -> String {
        self.hidden += 1;
        mark("password")
    }
}

fn is_secret_value(text: &str) -> bool {
    !text.is_empty() && !is_placeholder(text) && !is_nothing(text)
}
