//! One thing that was said or done: what sort of thing, and the number that stands for it.

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
    /// A file or a deliverable.
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
    /// The tool, the type of the block, or the type of the event.
    pub name: Box<str>,
    /// What it says, or the input of a tool, as a number.
    pub(super) said: u64,
    /// What came of it, as a number; 0 where nothing did.
    pub(super) outcome: u64,
    /// The first words of what it says.
    pub excerpt: Box<str>,
    /// The first words of what came of it.
    pub outcome_excerpt: Option<Box<str>>,
    /// The number of the event that tells what came of it.
    pub outcome_seq: Option<u64>,
    /// The call that a block speaks of, as a number.
    pub(super) call: Option<u64>,
}

impl Item {
    /// Returns the number that two items share only if they say and do the same.
    pub(super) fn print(&self) -> (What, u64, u64) {
        (self.what, self.said, self.outcome)
    }

    /// Tells whether `other` is the same sort of thing, so that the two may be one thing changed.
    pub(super) fn is_akin(&self, other: &Item) -> bool {
        self.what == other.what && self.name == other.name
    }
}
