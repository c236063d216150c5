//! What the two live surfaces share: items, the older event messages, replies, running totals.
//!
//! Nothing here knows how a record is wrapped; that is the surfaces' own business.

mod agents;
mod event_msg;
mod event_tools;
mod item;
mod item_tools;
mod meter;
mod prints;
mod thread;
mod trouble;
mod voice;

pub(super) use agents::Agents;
pub(super) use event_msg::{Session, Telling, take_event};
pub(super) use item::{Item, ItemKind};
pub(super) use item_tools::{Stage, take_tool};
pub(super) use meter::Totals;
pub(super) use thread::{Thread, TurnEnd};
pub(super) use trouble::{Trouble, retry_facts};
pub(super) use voice::Growth;

use quipu_event::Timestamp;

use crate::value::{Fields, Value};

/// Returns the value under the older or the newer spelling of a key.
fn either<'a>(fields: &Fields<'a>, snake: &str, camel: &str) -> Option<Value<'a>> {
    fields.get(snake).or_else(|| fields.get(camel))
}

/// Makes a time of seconds since 1970.
pub(super) fn seconds(value: Option<u64>) -> Option<Timestamp> {
    millis(value?.checked_mul(1000))
}

/// Makes a time of milliseconds since 1970.
pub(super) fn millis(value: Option<u64>) -> Option<Timestamp> {
    let micros = i64::try_from(value?).ok()?.checked_mul(1000)?;
    Some(Timestamp::from_micros(micros))
}
