//! Where two runs part: aligned by step and by what was said and done in it.
//!
//! Of each run an [`Outline`] is kept: a number for each thing said or done, and a few words of it to
//! show. What always differs is no difference: ids, times, durations, and numbers of events. What
//! the recorder or the agent notes about itself (`system`, `unknown`) is not compared. Where the few
//! words of both sides are alike, a caller reads the events again ([`Difference::is_hidden`]).

mod align;
mod compare;
mod item;
mod outline;
mod parting;
mod print;
mod search;
mod wire;
mod words;

pub use compare::{Change, Comparison, Difference, StepPair, compare, compare_all};
pub use item::{Item, What};
pub use outline::{GroupKey, Outline, OutlineBuilder};
pub use parting::{excerpt, first_difference, parted};
pub use wire::Report;
pub use words::{Part, Words, words_at};
