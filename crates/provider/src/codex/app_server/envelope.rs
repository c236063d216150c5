//! One message of the connection, out of whatever a log has wrapped around it.
//!
//! A log of both directions puts direction and time beside the message:
//! `{"dir": "in", "ms": 12, "msg": {"method": …}}`. A message needs no wrapping to be read.

use std::borrow::Cow;

use quipu_event::Timestamp;

use super::super::live::{millis, seconds};
use crate::record::Record;
use crate::value::{Fields, Value};

/// A message, and what its log says of it.
pub(super) struct Envelope<'r, 'a> {
    pub(super) message: Cow<'r, Fields<'a>>,
    /// Who sent it, if the log says.
    pub(super) sender: Option<Sender>,
    pub(super) time: Option<Timestamp>,
}

/// One end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    Client,
    Server,
}

/// What a message is.
pub(super) enum Shape<'a> {
    Request(Cow<'a, str>, String),
    Notification(Cow<'a, str>),
    Response(String),
}

impl<'r, 'a> Envelope<'r, 'a> {
    /// Finds the message in a record; nothing if there is none.
    pub(super) fn open(record: &'r Record<'a>) -> Option<Self> {
        let fields = &record.fields;
        let (message, sender, logged) = if is_message(fields) {
            (Cow::Borrowed(fields), None, None)
        } else {
            let inner = fields.iter().filter_map(|(_, value)| value.fields()).find(is_message)?;
            (Cow::Owned(inner), sender(fields), logged_time(fields))
        };
        let emitted = millis(message.count("emittedAtMs"));
        Some(Envelope { message, sender, time: emitted.or(logged) })
    }

    /// Tells what the message is.
    pub(super) fn shape(&self) -> Shape<'a> {
        let id = self.message.get("id").map(|id| id.source().to_owned());
        match (self.message.text("method"), id) {
            (Some(method), Some(id)) => Shape::Request(method, id),
            (Some(method), None) => Shape::Notification(method),
            (None, id) => Shape::Response(id.unwrap_or_default()),
        }
    }

    /// Returns the parameters; none if there are none.
    pub(super) fn params(&self) -> Fields<'a> {
        self.message.fields("params").unwrap_or_default()
    }
}

fn is_message(fields: &Fields<'_>) -> bool {
    let is_call = || fields.get("method").and_then(Value::text).is_some();
    // What has a type of its own is somebody else's.
    let is_bare = || fields.has("id") && !fields.has("type");
    let is_refusal = || fields.fields("error").and_then(|error| error.integer("code")).is_some();
    is_call() || (is_bare() && (fields.has("result") || is_refusal()))
}

fn sender(fields: &Fields<'_>) -> Option<Sender> {
    let keys = ["dir", "direction", "from", "sender"];
    let word = keys.into_iter().find_map(|key| fields.text(key))?;
    match &*word.to_ascii_lowercase() {
        "in" | "recv" | "received" | "incoming" | "server" | "stdout" => Some(Sender::Server),
        "out" | "send" | "sent" | "outgoing" | "client" | "stdin" => Some(Sender::Client),
        _ => None,
    }
}

/// A log has its time as text, or in milliseconds or seconds since 1970.
fn logged_time(fields: &Fields<'_>) -> Option<Timestamp> {
    const YEAR_2001_IN_MILLIS: u64 = 1_000_000_000_000;
    const YEAR_2001: u64 = 1_000_000_000;
    let keys = ["time", "timestamp", "ts", "at"];
    keys.into_iter().find_map(|key| {
        fields.time(key).or_else(|| match fields.count(key)? {
            number if number >= YEAR_2001_IN_MILLIS => millis(Some(number)),
            number if number >= YEAR_2001 => seconds(Some(number)),
            _ => None,
        })
    })
}
