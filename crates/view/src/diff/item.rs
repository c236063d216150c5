//! One thing that was said or done: what sort of thing, and the numbers that stand for it.

use super::print::Print;
use super::words::Part;

/// The name of an item that tells which model speaks from here on.
pub(super) const MODEL: &str = "model";

/// The name of an item that tells why an agent stopped.
pub(super) const STOP_REASON: &str = "stop_reason";

/// What sort of thing was said or done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// A run or a step begins.
    Start,
    /// A user's block.
    User,
    /// An agent's block.
    Assistant,
    /// A tool was called.
    Tool,
    /// Something went wrong.
    Error,
    /// A file, a deliverable, a skill, a memory or another fact.
    Fact,
    /// A run or a step ends.
    End,
}

impl What {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            What::Start => "start",
            What::User => "user",
            What::Assistant => "assistant",
            What::Tool => "tool",
            What::Error => "error",
            What::Fact => "fact",
            What::End => "end",
        }
    }
}

/// One thing that was said or done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// How many events of the run came before.
    pub ordinal: u64,
    /// The number of the event.
    pub seq: u64,
    /// Which block of it, if it is a message.
    pub block: Option<usize>,
    /// What sort of thing.
    pub what: What,
    /// The tool, the type of the block or of the event, or `model` and `stop_reason` of a message.
    pub name: Box<str>,
    /// What it says, or the input of a tool, as numbers.
    pub(super) said: Print,
    /// What came of it, as numbers.
    pub(super) outcome: Option<Print>,
    /// The first words of what it says, or those that show where it differs.
    pub excerpt: Box<str>,
    /// The first words of what came of it, or those that show where it differs.
    pub outcome_excerpt: Option<Box<str>>,
    /// The number of the event that tells what came of it.
    pub outcome_seq: Option<u64>,
    /// The call that a block speaks of, as a number.
    pub(super) call: Option<u64>,
}

impl Item {
    /// Returns the number of the event that tells a part of it.
    pub fn seq_of(&self, part: Part) -> Option<u64> {
        match part {
            Part::Said => Some(self.seq),
            Part::Outcome => self.outcome_seq,
        }
    }

    /// Returns what two items share only if they say and do the same.
    pub(super) fn print(&self) -> (What, &str, Print, Option<Print>) {
        (self.what, &self.name, self.said, self.outcome)
    }

    /// Returns the words and the numbers of a part.
    pub(super) fn shown(&self, part: Part) -> Option<(&str, Print)> {
        match part {
            Part::Said => Some((&self.excerpt, self.said)),
            Part::Outcome => Some((self.outcome_excerpt.as_deref()?, self.outcome?)),
        }
    }

    pub(super) fn show(&mut self, part: Part, words: String) {
        match part {
            Part::Said => self.excerpt = words.into(),
            Part::Outcome => self.outcome_excerpt = Some(words.into()),
        }
    }

    /// Tells whether `other` is the same sort of thing, so that the two may be one thing changed.
    pub(super) fn is_akin(&self, other: &Item) -> bool {
        self.what == other.what && self.name == other.name
    }
}
