//! What is told twice: by an event of the agent, and by the item that went to or came from the
//! model.
//!
//! Mostly both say the same, but the event may leave out what the item says to the agent alone.
//! Which of the two comes first depends on the version; either may be missing.

use std::hash::{DefaultHasher, Hash, Hasher};

use quipu_event::{BlockContent, ContentBlock};

/// A text that is part of another one is taken for the same if it is not shorter than this.
const TELLING: usize = 16;

/// What sort of thing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Sort {
    Text,
    Thinking,
}

/// What an event told and no item has said yet.
pub(super) struct Told {
    /// How many blocks the reply had when it was told.
    pub(super) at: usize,
    pub(super) block: ContentBlock,
}

impl Told {
    /// Tells whether it says nothing.
    pub(super) fn is_silent(&self) -> bool {
        said_by(&self.block.content).is_none_or(|(_, text)| text.is_empty())
    }
}

/// Returns what a block says, if it says anything.
pub(super) fn said_by(content: &BlockContent) -> Option<(Sort, &str)> {
    match content {
        BlockContent::Text { text } => Some((Sort::Text, text)),
        BlockContent::Thinking { thinking, .. } => Some((Sort::Thinking, thinking)),
        _ => None,
    }
}

/// Removes what an item says from what was told; returns whether it was.
pub(super) fn settle(told: &mut Vec<Told>, sort: Sort, text: &str) -> bool {
    let before = told.len();
    let is_other = |told: &Told, is_same: fn(&str, &str) -> bool| {
        said_by(&told.block.content)
            .is_none_or(|(other, told)| other != sort || !is_same(told, text))
    };
    told.retain(|told| is_other(told, |told, said| told == said));
    if told.len() == before {
        told.retain(|told| is_other(told, is_alike));
    }
    told.len() < before
}

/// Tells whether one of `blocks` says `text` in other words.
pub(super) fn is_said_in(blocks: &[ContentBlock], sort: Sort, text: &str) -> bool {
    let said = blocks.iter().filter_map(|block| said_by(&block.content));
    let mut said = said.filter(|(other, said)| *other == sort && *said != text);
    said.any(|(_, said)| is_alike(text, said))
}

/// Puts what was told among `blocks`, where it was told, and notes it in `given`.
pub(super) fn fold(
    blocks: &mut Vec<ContentBlock>,
    told: Vec<Told>,
    given: &mut Vec<(Sort, Remembered)>,
) {
    let is_silent = blocks.is_empty();
    // From behind, so that places stay what they were.
    for Told { at, block } in told.into_iter().rev() {
        let Some((sort, text)) = said_by(&block.content) else { continue };
        if is_silent || !text.is_empty() {
            given.push((sort, Remembered::of(text)));
            blocks.insert(at.min(blocks.len()), block);
        }
    }
}

/// Returns from where on an item's `text` has not been given, if any of it was.
///
/// That is its end if it says nothing more.
pub(super) fn take_given(
    given: &mut Vec<(Sort, Remembered)>,
    sort: Sort,
    text: &str,
) -> Option<usize> {
    let find = |is_it: fn(&Remembered, &str) -> bool| {
        given.iter().position(|(other, given)| *other == sort && is_it(given, text))
    };
    let place = find(Remembered::is_equal).or_else(|| find(Remembered::is_alike))?;
    match given.swap_remove(place).1 {
        Remembered::All(given) if text.starts_with(&given) => Some(given.len()),
        _ => Some(text.len()),
    }
}

/// Returns what makes a text equal to another.
pub(super) fn fingerprint(sort: Sort, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (sort, text).hash(&mut hasher);
    hasher.finish()
}

/// Tells whether an event and an item say the same in more or fewer words.
pub(super) fn is_alike(told: &str, said: &str) -> bool {
    let (told, said) = (told.trim(), said.trim());
    let has = |whole: &str, part: &str| part.len() >= TELLING && whole.contains(part);
    told == said || has(said, told) || has(told, said)
}

/// Tells whether two texts, of which neither is nothing, say the same.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    !one.is_empty() && is_alike(one, other)
}

/// What is remembered of a text.
pub(super) enum Remembered {
    All(String),
    /// Of a long one only what tells whether another one is equal, white space around it aside.
    Print(u64),
}

impl Remembered {
    /// Texts up to this length are remembered whole.
    const LONG: usize = 64 * 1024;

    pub(super) fn of(text: &str) -> Self {
        match text.len() {
            ..=Self::LONG => Remembered::All(text.to_owned()),
            _ => Remembered::Print(fingerprint(Sort::Text, text.trim())),
        }
    }

    fn is_equal(&self, text: &str) -> bool {
        match self {
            Remembered::All(said) => said == text,
            Remembered::Print(_) => self.is_alike(text),
        }
    }

    pub(super) fn is_alike(&self, text: &str) -> bool {
        match self {
            Remembered::All(said) => is_same(said, text),
            Remembered::Print(print) => *print == fingerprint(Sort::Text, text.trim()),
        }
    }
}
