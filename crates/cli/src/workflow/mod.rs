//! What `run` and `resume` share: the surroundings of a run, who watches it, how it is stopped.
//!
//! The workflow crate decides and does; this only gives it what it asks for and prints what it says.

mod ending;
mod given;
mod hidden;
mod overrides;
mod perform;
mod person;
mod question;
mod signals;
mod sources;
mod views;
mod watch;
mod world;

pub(crate) use ending::{Ended, told as told_end};
pub(crate) use given::{Given, InputArgs};
pub(crate) use overrides::Overrides;
pub(crate) use perform::{Flight, find, fly, load};
pub(crate) use views::ViewWish;
pub(crate) use watch::Watch;
